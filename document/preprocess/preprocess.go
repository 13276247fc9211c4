// Package preprocess makes one document of a plan file: of format 4 of BehaviorTree.CPP, with the included files in
// their places, and with the surveys and the places on the earth of the libraries written out. It knows nothing of what
// a plan means.
package preprocess

// Elements and attributes of plan documents.
const (
	ElementRoot      = "root"
	ElementTree      = "BehaviorTree"
	ElementInclude   = "include"
	ElementSubTree   = "SubTree"
	ElementControl   = "Control"
	ElementDecorator = "Decorator"

	AttrFormat = "BTCPP_format"
	Autoremap  = "_autoremap" // by it a SubTree passes on all ports that it does not name
)

// The formats of BehaviorTree.CPP.
const (
	Format3 = "3"
	Format4 = "4"
)

// The codes of diagnostics. docs/plans.md explains them to users.
const (
	codeNoFormat     = "missing-format"
	CodeFormat3      = "old-format"
	codeInclude      = "bad-include"
	codeIncludeCycle = "cyclic-include"
	CodeConflictAttr = "conflicting-attributes"
	CodeNoAttr       = "missing-attribute"
	codeSurvey       = "bad-survey"
)

// Wanted is the hint for a file that is not a plan.
const Wanted = `a plan is an XML file: <root BTCPP_format="4"> with a <BehaviorTree> inside`

// Blank are the characters that may precede a document.
const Blank = " \t\r\n\ufeff"
