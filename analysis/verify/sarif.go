package verify

import (
	"encoding/json"
	"strings"
)

// The part of SARIF 2.1.0 (OASIS Standard, 2020) that findings need.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name    string      `json:"name"`
				Version string      `json:"version"`
				Rules   []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Kind         string             `json:"kind"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Properties   sarifProperties    `json:"properties"`
		Locations    [1]sarifLocation   `json:"locations"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifProperties struct {
		Verdict string       `json:"verdict"` // as in the JSON of canopy check
		Assumes []Assumption `json:"assumes,omitempty"`
		Sources []string     `json:"sources,omitempty"` // of signals, lost and found at any instant
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine   int `json:"startLine"`
				StartColumn int `json:"startColumn"`
			} `json:"region"`
		} `json:"physicalLocation"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// SARIF returns findings as a SARIF 2.1.0 document, which editors and build servers show at their places: a proved
// statement passes, a refuted one is an error, a question without the declarations that it needs is not applicable, all
// else is open; an accepted one is suppressed with its reason. The sources of signals may be lost at any instant.
func SARIF(found []Finding, sources []string, version string) ([]byte, error) {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	driver, index := &run.Tool.Driver, map[string]int{}
	driver.Name, driver.Version = "canopy check", version
	for i, q := range Questions() {
		index[q.Name] = i
		driver.Rules = append(driver.Rules, sarifRule{q.Name, sarifText{q.Asks}})
	}
	for _, f := range found {
		r := sarifResult{RuleID: f.Question, RuleIndex: index[f.Question], Kind: "pass", Level: "none"}
		r.Message.Text = f.Text
		for i, a := range f.Unwatched() {
			r.Message.Text += []string{", if ", " and "}[min(i, 1)] + a.Text
		}
		r.Properties = sarifProperties{Key(f.Word()), f.Assumes, sources}
		if len(f.Where) > 0 {
			r.Message.Text += ": " + strings.Join(f.Where, "; or ")
		}
		if f.Advice != "" {
			r.Message.Text += ". " + f.Advice
		}
		switch {
		case f.Verdict == Refuted:
			r.Kind, r.Level = "fail", "error"
		case f.Needs != "":
			r.Kind = "notApplicable"
		case f.Word() != Proved.String():
			r.Kind = "open"
		}
		if f.Accepted != "" {
			r.Suppressions = []sarifSuppression{{"inSource", f.Accepted}}
		}
		at := &r.Locations[0].Physical
		at.Artifact.URI = strings.ReplaceAll(f.File(), "\\", "/")
		at.Region.StartLine, at.Region.StartColumn = f.Position()
		run.Results = append(run.Results, r)
	}
	const schema = "https://json.schemastore.org/sarif-2.1.0.json"
	return json.MarshalIndent(sarifLog{schema, "2.1.0", []sarifRun{run}}, "", "  ")
}
