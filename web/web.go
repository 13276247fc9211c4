// Package web holds the built front end. Its sources are in src; `make web` builds it into dist.
package web

import _ "embed" // the built files

// Style is the style sheet of all pages.
//
//go:embed src/style.css
var Style string

// Report is the script of the report of a run: it draws the run in the element "run" into the element "page".
//
//go:embed dist/report.js
var Report string

// StudioPage is the page of the studio, Studio its script: it draws what the studio serves into the element "page".
//
//go:embed src/studio.html
var StudioPage string

// Studio is the script of StudioPage.
//
//go:embed dist/studio.js
var Studio string
