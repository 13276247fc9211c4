package house

import (
	"go/parser"
	"slices"
	"strings"
	"testing"
)

// reasons gives the reason for each permitted import.
type reasons map[string]string

// room is one package and the imports that it may use in addition to the standard library.
type room struct {
	pure    bool    // the same arguments give the same results: no clock, file, socket, lock or random source
	imports reasons // other rooms
	outside reasons // other modules
	tests   reasons // rooms and modules that only its tests import
}

// rooms is the house. TestEveryPermissionIsUsed rejects a permission that is not used.
var rooms = map[string]room{
	"diag":     {pure: true},
	"snapshot": {pure: true},
	"explore":  {pure: true},
	"expr": {pure: true, imports: reasons{
		"diag": "an unknown name comes with the nearest known one",
	}},
	"expr/interval": {pure: true, imports: reasons{
		"expr": "bounds are those of expressions",
	}},
	"bt": {pure: true, imports: reasons{
		"snapshot": "an engine can be saved",
	}, tests: reasons{
		"diag":            "golden scripts are trace scripts",
		"document/plan":   "golden scripts are trace scripts",
		"document/script": "golden scripts are trace scripts",
		"formalism/tick":  "the second engine passes the golden scripts",
		"internal/trees":  "random trees",
	}},
	"document/qgc": {pure: true, imports: reasons{
		"diag":           "an author's mistakes are reported all at once, each at its place",
		"expr":           "the places of a plan are expressions",
		"syntax/xmltree": "the result is a plan",
		"syntax/yamldoc": "JSON is YAML",
		"vehicle/earth":  "positions become metres from home",
		"vehicle/fence":  "the fence and the rally points become the mission's",
	}, tests: reasons{
		"document/plan": "plans are exported as they are read",
	}},
	"document/script": {pure: true, imports: reasons{
		"bt":            "the engine replays a script",
		"diag":          "a script's mistakes are shown like a plan's",
		"document/plan": "the entries of a plan's blackboard act by themselves",
		"executive":     "leaves that entries define act as they are flown",
		"expr":          "a script sets entries",
	}, tests: reasons{
		"internal/golden": "golden scripts",
		"internal/trees":  "trees from outlines",
	}},
	"formalism/tick": {pure: true, imports: reasons{
		"bt":       "ticks the same trees, with the same inputs and commands",
		"snapshot": "an engine can be saved",
	}, tests: reasons{
		"internal/trees": "random trees",
	}},
	"internal/golden": {outside: reasons{
		"github.com/cockroachdb/datadriven": "the format of the scripts, and the flag that rewrites them",
	}},
	"internal/trees": {imports: reasons{
		"bt": "describes trees, with the kinds of the table",
	}},
	"ode": {pure: true, imports: reasons{
		"snapshot":     "an integrator can be saved",
		"internal/cpu": "loops over all components process four at once where that is possible",
	}, tests: reasons{
		"internal/problems":  "published values are met",
		"gonum.org/v1/gonum": "a dense factorisation checks the sparse one",
	}},
	"sim": {pure: true, imports: reasons{
		"ode":             "between two events a system is integrated",
		"internal/vector": "each step compares all states",
		"snapshot":        "a simulation can be saved",
	}, tests: reasons{
		"expr":              "golden scripts write systems as expressions",
		"internal/problems": "published event times are met",
	}},
	"vehicle/contract": {pure: true, tests: reasons{
		"diag": "numbers on a page are written as in messages",
		"expr": "names, types and units are those of expressions",
	}},
	"vehicle/earth": {pure: true},
	"vehicle/fence": {pure: true, tests: reasons{
		"expr": "the condition of a breach is an expression",
	}},
	"vehicle/model": {pure: true, imports: reasons{
		"diag":         "ranges are written for readers",
		"internal/cpu": "panels are computed four at once where that is possible",
	}, tests: reasons{
		"expr":               "every unit of the metadata is one that expressions support",
		"go.yaml.in/yaml/v3": "the given parameters and reference values are YAML",
	}},
	"executive": {pure: true, imports: reasons{
		"bt":       "a tree decides which actions are active; leaves tell its engine what changed",
		"expr":     "leaves are judged by compiled expressions",
		"snapshot": "an execution can be saved",
	}},
	"syntax/xmltree": {pure: true, imports: reasons{
		"diag": "an author's mistakes are reported all at once, each at its place",
	}},
	"document/plan": {pure: true, imports: reasons{
		"diag":             "an author's mistakes are reported all at once, each at its place",
		"expr":             "leaves are written as expressions over signals",
		"bt":               "a plan is compiled to a tree",
		"executive":        "leaves are compiled for it",
		"syntax/xmltree":   "plans are XML",
		"internal/palette": "pictures have the report's colours",
		"vehicle/contract": "a plan includes the actions of a class of vehicles",
		"vehicle/earth":    "a survey may be of places on the earth",
	}, tests: reasons{
		"internal/trees": "random trees have all kinds",
	}},
	"syntax/yamldoc": {pure: true, imports: reasons{
		"diag": "an author's mistakes are reported all at once, each at its place",
		"expr": "a value may be a literal with a unit or an expression",
	}, outside: reasons{
		"go.yaml.in/yaml/v3": "a YAML parser whose nodes carry line and column",
	}},
	"formalism/stategraph": {pure: true, imports: reasons{
		"bt":               "a graph that is equivalent to a tree uses the names of its leaves",
		"diag":             "an author's mistakes are reported all at once, each at its place",
		"expr":             "a transition's condition is an expression",
		"snapshot":         "an engine can be saved",
		"syntax/yamldoc":   "state graphs are YAML",
		"internal/palette": "pictures have the report's colours",
	}, tests: reasons{
		"document/plan": "the solar day's plan gives conditions and actions",
	}},
	"formalism/translate": {pure: true, imports: reasons{
		"executive":            "leaves tell the engine by the one protocol",
		"explore":              "a graph's steps are the states that a tree can reach",
		"bt":                   "a tree is settled with all inputs to find its states",
		"diag":                 "an author's mistakes are reported all at once, each at its place",
		"expr":                 "inputs have names that are valid in conditions",
		"document/plan":        "is what is translated",
		"formalism/stategraph": "is what plans are translated to",
	}, tests: reasons{
		"snapshot":        "the saved states of a tree are all visited",
		"document/script": "scripts are replayed",
		"internal/trees":  "random trees have all kinds",
	}},
	"analysis/smv": {pure: true, imports: reasons{
		"analysis/flown":   "the states of plans with memory are those that are flown",
		"bt":               "the kinds' rows become equations",
		"diag":             "names and numbers are written for readers",
		"document/declare": "facts and questions are declared",
		"document/plan":    "is what is written",
		"executive":        "a mission's program has its slots",
		"expr":             "conditions become limits of signals",
	}},
	"vehicle/equations": {pure: true, imports: reasons{
		"expr/interval":  "ranges that the equations imply",
		"diag":           "an author's mistakes are reported all at once, each at its place",
		"expr":           "derivatives and outputs are expressions",
		"vehicle/model":  "the result is a vehicle like any other",
		"syntax/yamldoc": "equations are in a YAML file",
	}},
	"autopilot/frame": {pure: true, imports: reasons{
		"snapshot": "a reader can be saved",
	}, outside: reasons{
		"github.com/bluenviron/gomavlib/v3": "the messages of the dialect, and how they are encoded",
	}},
	"autopilot/link": {imports: reasons{
		"autopilot/frame": "what begins like no frame is from no vehicle",
		"diag":            "an unknown kind of address comes with the nearest known one",
	}, outside: reasons{
		"go.bug.st/serial": "serial lines on every operating system, at any rate",
	}, tests: reasons{
		"github.com/bluenviron/gomavlib/v3": "heartbeats are exchanged",
	}},
	"autopilot/service": {pure: true, imports: reasons{
		"autopilot/frame": "the services exchange frames",
		"snapshot":        "a machine can be saved",
	}, outside: reasons{
		"github.com/bluenviron/gomavlib/v3": "the messages of the services",
	}, tests: reasons{"autopilot/fake": "an autopilot that was written independently answers"}},
	"autopilot/fake": {pure: true, imports: reasons{
		"autopilot/frame": "it sends and receives frames",
		"vehicle/earth":   "it flies in metres",
	}, outside: reasons{
		"github.com/bluenviron/gomavlib/v3": "the messages that it answers",
	}},
	"autopilot/fake/faults": {pure: true, imports: reasons{
		"autopilot/fake": "events happen to the vehicle",
		"diag":           "an unknown fault comes with the nearest known one",
	}},
	"autopilot/adapter": {pure: true, imports: reasons{
		"autopilot/frame":   "telemetry comes in frames",
		"autopilot/service": "commands, parameters, rates and clocks",
		"snapshot":          "an adapter is saved",
		"vehicle/contract":  "the signals that it gives and the slots that it obeys",
		"vehicle/earth":     "positions are north and east of home",
		"vehicle/fence":     "the mission's fence, which the vehicle gets",
	}, outside: reasons{
		"github.com/bluenviron/gomavlib/v3": "the messages of telemetry",
	}, tests: reasons{
		"autopilot/fake":     "the adapter flies a fake vehicle",
		"internal/golden":    "golden scripts",
		"internal/messages":  "any messages",
		"pgregory.net/rapid": "random losses",
	}},
	"temporal": {pure: true, imports: reasons{
		"diag": "an unknown name comes with the nearest known one",
		"expr": "conditions are expressions over signals",
	}},
	"document/declare": {pure: true, imports: reasons{
		"temporal":       "an author declares properties of runs",
		"bt":             "effects and resources are of tasks",
		"diag":           "an author's mistakes are reported all at once, each at its place",
		"document/plan":  "declarations are of a plan",
		"executive":      "a mission's plan is compiled",
		"syntax/yamldoc": "declarations are YAML",
		"expr":           "conditions are expressions over signals",
		"expr/interval":  "rates are found of signals in intervals",
	}},
	"analysis/flown": {pure: true, imports: reasons{
		"analysis/zone":    "which clocks may be over follows from their lengths",
		"bt":               "the tree reacts in every step",
		"diag":             "numbers are written for readers",
		"document/declare": "declared facts exclude steps",
		"document/plan":    "a plan without a mission is compiled here",
		"executive":        "the step is the executive's own code",
		"expr":             "programs are interpreted with what is known of signals",
		"snapshot":         "a state is what the executive saves",
	}, tests: reasons{
		"document/mission": "shipped missions take their steps",
		"explore":          "all states are visited",
		"internal/cart":    "small missions are read",
		"internal/oracle":  "random missions fly",
		"run":              "runs are compared with steps",
		"run/record":       "runs are logged",
		"vehicle/model":    "shipped missions have vehicles",
	}},
	"analysis/verify": {pure: true, imports: reasons{
		"analysis/flown":    "properties are followed along runs as they are flown",
		"analysis/zone":     "clocks measure the times of properties",
		"document/script":   "a counterexample begins as scripts do",
		"expr/interval":     "rates depend on the ranges of signals",
		"explore":           "states of plans are searched",
		"bt":                "the engine defines the behaviour of a plan",
		"diag":              "numbers are written for readers",
		"expr":              "conditions are abstracted to limits of signals",
		"document/plan":     "plans are what is proved",
		"document/declare":  "what is declared of a plan is what is proved",
		"temporal":          "properties of runs are declared",
		"analysis/reaction": "the time that the tree takes to settle is one of the questions",
		"snapshot":          "states that were visited are known by their bytes",

		"formalism/stategraph": "a plan is compared with a state graph",
	}, outside: reasons{
		"gonum.org/v1/gonum": "a linear program finds a sum that rises until the goal is reached",
	}, tests: reasons{
		"diag":                         "plans are read from texts",
		"github.com/crillab/gophersat": "an encoding of its own gives the same answers",
		"document/script":              "scripts are replayed",
		"internal/trees":               "random trees have all kinds",
		"executive":                    "a second execution of plans follows the protocol of leaves",
		"formalism/tick":               "each kind is put through all engines",
		"formalism/translate":          "each kind is translated",
	}},
	"analysis/zone": {pure: true, imports: reasons{
		"snapshot": "a zone is part of a state of a search",
	}},
	"vehicle/fleet": {pure: true, imports: reasons{
		"diag":              "the equations are a document",
		"vehicle/contract":  "a vehicle for each contract",
		"vehicle/equations": "these vehicles are given as equations",
		"vehicle/model":     "the result are vehicles like any other",
	}, tests: reasons{
		"vehicle/earth": "positions are those of everyone else",
	}},
	"analysis/rates": {pure: true, imports: reasons{
		"bt":                "rates are those while a task is active",
		"executive":         "a program lists the writers of slots",
		"expr":              "signals are given as expressions",
		"expr/interval":     "rates are bounded over boxes of states",
		"document/declare":  "rates are those of declared effects",
		"document/mission":  "a mission gives the meaning of signals",
		"temporal":          "runs watch sampled rates",
		"vehicle/equations": "derivatives are expressions",
		"vehicle/model":     "derivatives of other vehicles are sampled",
	}, tests: reasons{
		"run":           "random missions fly",
		"run/record":    "the signals of flights are recorded",
		"run/simulated": "random missions fly",
	}},
	"analysis/diff": {pure: true, imports: reasons{
		"bt":                   "tasks are matched by their place in the tree",
		"document/plan":        "compares plans",
		"formalism/stategraph": "compares state graphs",
	}, tests: reasons{
		"diag":           "reads plans and graphs from texts",
		"internal/trees": "random trees have all kinds",
	}},
	"run/record": {pure: true, imports: reasons{
		"bt":       "a status change is the engine's own value",
		"diag":     "names in CSV files are visible",
		"snapshot": "a place in a log can be saved",
	}, tests: reasons{
		"github.com/foxglove/mcap/go/mcap": "the library of the format writes the same bytes",
	}},
	"run/monitor": {pure: true, imports: reasons{
		"temporal":   "properties are judged on the trace that is kept",
		"diag":       "times are written for readers",
		"bt":         "a task counts by its status",
		"expr":       "a property names signals and tasks in conditions",
		"run/record": "takes a run as it is recorded",
	}},
	"run/control": {imports: reasons{
		"bt":               "watchers are told statuses",
		"diag":             "a plan that is uploaded is a document",
		"document/mission": "it is compiled against the mission beside the run",
		"run/record":       "watchers are told what is recorded",
	}, tests: reasons{
		"internal/cart": "runs of a small vehicle are commanded",
		"run":           "a run is commanded",
		"run/simulated": "runs are simulated",
	}},
	"run/folder": {imports: reasons{
		"bt":          "the plan is drawn with its final statuses",
		"diag":        "reads the plan that a log carries",
		"run/monitor": "judges properties in flight",
		"run/record":  "writes the log, and continues it",
		"run/report":  "writes the report",
		"snapshot":    "saves and resumes runs",
		"temporal":    "properties are judged in flight",

		"document/plan":    "draws the plan that a log carries",
		"internal/cputime": "a run's cost is CPU time",
		"internal/files":   "files are replaced as a whole, and together",
	}, outside: reasons{
		"github.com/gofrs/flock": "two runs do not write into one folder",
	}, tests: reasons{
		"expr": "properties name tasks",
	}},
	"run/report": {imports: reasons{
		"bt":         "lanes are coloured by status",
		"diag":       "names and numbers are written for readers",
		"run/record": "a report is drawn from a run log",
	}},
	"document/mission": {pure: true, imports: reasons{
		"bt":               "a mission attends to tasks that its assertions name",
		"diag":             "a mission file's mistakes are reported like a plan's",
		"expr":             "mission signals are expressions; compiled leaves yield event indicators",
		"ode":              "a mission file sets the integrator's tolerances",
		"sim":              "a mission file defines the reaction to chattering",
		"executive":        "a plan is compiled for the mission's signals",
		"vehicle/model":    "a mission names its vehicle",
		"document/plan":    "a mission names its plan",
		"document/declare": "a mission file declares what is to be proved",
		"temporal":         "a run records what its mission assertions about it",

		"syntax/yamldoc":    "mission files are YAML",
		"vehicle/equations": "a mission may name a vehicle in a file of equations",
		"vehicle/earth":     "the plan and the fence may name places on the earth",
		"vehicle/fence":     "where the vehicle may fly",
	}, tests: reasons{
		"vehicle/fleet": "vehicles have fences",
		"internal/cart": "missions of a small vehicle are read",
	}},
	"run": {pure: true, imports: reasons{
		"bt":                   "makes the tree engines that decide",
		"diag":                 "a state graph's mistakes are reported like a mission's",
		"document/mission":     "a run is made from a mission",
		"executive":            "carries out the plan",
		"internal/vector":      "each step compares all states with their ranges",
		"expr":                 "signals have types",
		"formalism/stategraph": "a state graph may decide in place of the tree",
		"formalism/tick":       "the tree may be ticked",
		"run/record":           "a run is written as it happens",
		"sim":                  "the reaction to chattering has its words",
		"snapshot":             "a run can be saved",
		"vehicle/model":        "states have ranges",
	}, tests: reasons{
		"internal/cart":   "documents in memory",
		"internal/oracle": "random missions, and a world for them",
		"internal/trees":  "fewer missions with -short",
		"run/simulated":   "random missions are simulated",
	}},
	"run/live": {imports: reasons{
		"bt":            "a tree engine decides; statuses are published",
		"diag":          "mistakes in a plan and in what is registered are reported all at once",
		"document/plan": "reads the plan",
		"executive":     "carries out the plan",
		"expr":          "signals have types and units; leaves are expressions over them",
	}, tests: reasons{
		"internal/trees": "random trees have all kinds",
	}},
	"run/driver": {imports: reasons{
		"autopilot/fake":    "a vehicle in this program",
		"autopilot/link":    "channels to vehicles",
		"autopilot/service": "stamps what arrives",
		"bt":                "passes status changes to the log",
		"document/mission":  "a new plan is that of a mission",
		"run/box":           "the log has the frames",
		"run/control":       "operators command it",
		"run/flight":        "is what is driven",
		"run/record":        "is logged",
		"snapshot":          "the state of the plan can be saved",
	}, tests: reasons{
		"autopilot/adapter":                 "has the addresses of a link",
		"bt":                                "statuses are compared",
		"diag":                              "plans are documents",
		"document/mission":                  "is what is flown",
		"internal/cart":                     "small missions are read",
		"internal/messages":                 "one frame has any values",
		"vehicle/contract":                  "names signals and slots",
		"vehicle/fleet":                     "missions have the vehicles of the contracts",
		"autopilot/frame":                   "another station speaks on the link",
		"vehicle/earth":                     "items of a mission have places",
		"github.com/bluenviron/gomavlib/v3": "another station speaks on the link",
		"vehicle/model":                     "a vehicle for tests",
	}},
	"run/flight": {pure: true, imports: reasons{
		"autopilot/adapter": "connects the contract with the vehicle",
		"autopilot/frame":   "bytes of the link are frames",
		"autopilot/service": "inputs have clock readings",
		"bt":                "tasks have statuses",
		"diag":              "a plan that takes over has mistakes",
		"document/mission":  "is what is flown",
		"executive":         "the world answers it",
		"expr":              "relations of the time are found in compiled expressions",
		"ode":               "crossings between samples are roots",
		"run":               "the run of the plan",
		"run/record":        "the flight is logged",
		"snapshot":          "the state of the plan can be saved",
		"vehicle/contract":  "names the signals and slots of the vehicle",
		"vehicle/earth":     "the distance from the mission's site",
	}, tests: reasons{
		"autopilot/fake":  "a vehicle flies on while the program stands still",
		"run/simulated":   "a plan sees samples of its simulated flight",
		"vehicle/fleet":   "the vehicles of the contracts are sampled",
		"internal/cart":   "small missions are read",
		"internal/golden": "each policy has a script",
		"vehicle/model":   "a vehicle for tests",
	}},
	"run/box": {imports: reasons{
		"autopilot/frame":   "the log has the frames of a datagram, without signatures",
		"autopilot/service": "records have clock readings",
		"bt":                "the log has status changes",
		"internal/files":    "a file of the box is no pipe",
		"run/flight":        "the inputs of a flight are recorded, and fed to it again",
		"run/record":        "the log of a flight has channels of its own",
		"snapshot":          "a run into a folder can be saved",
	}, outside: reasons{
		"github.com/bluenviron/gomavlib/v3": "where the vehicle is",
	}, tests: reasons{
		"autopilot/adapter":                "a killed flight has a vehicle",
		"autopilot/fake":                   "a killed flight continues with a fake plane",
		"autopilot/fake/faults":            "flights with faults are replayed",
		"diag":                             "plans that take over are documents",
		"vehicle/earth":                    "targets are compared in metres",
		"document/mission":                 "a killed flight has a mission",
		"internal/cart":                    "small missions are read",
		"vehicle/contract":                 "a killed flight has a plane",
		"vehicle/model":                    "a killed flight has a plane",
		"github.com/foxglove/mcap/go/mcap": "the library of the format reads the log",
	}},
	"run/simulated": {pure: true, imports: reasons{
		"document/mission": "names vehicle, parameters and method",
		"executive":        "evaluates the signals that its program describes",
		"expr":             "conditions are judged by sides that are up to date",
		"expr/interval":    "conditions are bounded over parts of steps",
		"ode":              "the integrator's options",
		"run":              "is a world of it",
		"run/record":       "a summary contains the cost of the simulation",
		"sim":              "it advances time between instants",
		"snapshot":         "a simulation can be saved",
		"vehicle/model":    "a vehicle gives derivatives and outputs",
	}, tests: reasons{
		"analysis/verify": "flights confirm the proofs about the solar day",
		"bt":              "statuses are compared",
		"diag":            "plans that take over are documents",
		"internal/cart":   "runs of a small vehicle have closed forms",
		"vehicle/fence":   "crossings are counted",
		"vehicle/fleet":   "missions name vehicles",
	}},
	"formalism/backchain": {pure: true, imports: reasons{
		"executive":     "leaves tell the engine by the one protocol",
		"explore":       "the states of the world that lead to the goal are searched",
		"bt":            "a plan that was built is tested with the engine",
		"diag":          "mistakes in a goal or a world are shown at their place",
		"document/plan": "worlds are models of plans, and the result is a plan",
		"snapshot":      "a repeated state is a cycle",
	}},
	"analysis/reaction": {pure: true, imports: reasons{
		"executive":     "leaves tell the engine by the one protocol",
		"explore":       "all states of a tree are searched",
		"bt":            "the engine is the step function of every search",
		"expr":          "an expression without signals has one value",
		"document/plan": "a plan defines the possible inputs of its leaves",
		"snapshot":      "a saved engine is a visited state",

		"document/script": "a worst case begins as scripts do",
	}, tests: reasons{
		"diag":           "a counterexample is replayed as a script",
		"internal/trees": "random trees have all kinds",
	}},
	"analysis/region": {pure: true, imports: reasons{
		"bt":               "a start's region is the status of the tree's root; parts of a plan are trees",
		"diag":             "an unknown task comes with the nearest known one",
		"document/mission": "every start is a mission",
		"run":              "every start is one run",
		"run/simulated":    "runs are simulated",
		"document/plan":    "parts of a plan become plans",
		"run/record":       "a run's events report where the vehicle's model ends",
	}},
	"cmd/canopy": {imports: reasons{
		"run/driver":            "drives flights",
		"autopilot/service":     "addresses vehicles",
		"autopilot/adapter":     "says who commands a vehicle",
		"autopilot/fake":        "flies vehicles that do not exist",
		"autopilot/fake/faults": "spoils their links",
		"autopilot/frame":       "bytes of their links are frames",
		"autopilot/link":        "opens their links",
		"explore":               "bounds searches by the time that a flag gives",
		"document/script":       "traces plans",
		"diag":                  "prints mistakes",
		"analysis/diff":         "compares plans, and state graphs",
		"syntax/yamldoc":        "distinguishes a state graph from a mission",
		"syntax/xmltree":        "lays out and converts plans",
		"bt":                    "runs trace scripts",
		"vehicle/contract":      "a manifest has the library of a contract",
		"vehicle/earth":         "a fake vehicle is somewhere",
		"vehicle/model":         "shows vehicles",
		"vehicle/fleet":         "missions name vehicles",
		"document/plan":         "draws plans",
		"document/qgc":          "imports plans of QGroundControl",
		"document/mission":      "reads missions",
		"run":                   "runs missions",
		"run/simulated":         "simulates vehicles",
		"run/record":            "reads logs",
		"analysis/verify":       "proves and refutes",
		"analysis/rates":        "finds the rates of signals for proofs",
		"document/declare":      "reads what is declared of a plan",
		"run/report":            "writes simulated times",

		"run/box":              "flights are recorded, and replayed",
		"run/flight":           "flights are made from what a black box describes",
		"run/control":          "commands a running mission",
		"run/folder":           "flies into a folder",
		"run/monitor":          "judges runs",
		"internal/files":       "files that the user names are replaced as a whole",
		"internal/cputime":     "a run's cost is CPU time",
		"vehicle/equations":    "shows a vehicle in a file of equations",
		"expr":                 "values on the command line may have units",
		"analysis/region":      "samples the regions of plans",
		"formalism/stategraph": "draws state graphs",
		"formalism/translate":  "translates plans",
		"formalism/backchain":  "builds plans from a goal",
		"temporal":             "judges runs",
		"analysis/reaction":    "proves the reaction time of a tree",
		"analysis/smv":         "writes models for other tools",
	}, outside: reasons{
		"github.com/spf13/cobra": "commands, flags, help",
		"github.com/spf13/pflag": "the flags that cobra reads: an unknown one comes with the nearest known one",
		"golang.org/x/term":      "whether output is a terminal, how wide it is",
	}, tests: reasons{
		"vehicle/earth":                     "places are compared in metres",
		"autopilot/adapter":                 "a replayed flight has a vehicle",
		"autopilot/frame":                   "a replayed flight has telemetry",
		"autopilot/service":                 "a replayed flight has clocks",
		"github.com/bluenviron/gomavlib/v3": "a replayed flight has telemetry",
	}},
	"internal/cmd/numbers": {},
	"internal/cmd/versus":  {},
	"internal/cmd/workprecision": {imports: reasons{
		"diag":              "an unknown name comes with the nearest known one",
		"internal/cputime":  "precision is set against CPU time",
		"internal/problems": "are what it runs",
		"ode":               "chooses the method",
		"sim":               "finds the events",
	}},
	"examples/01-status-lanes": {imports: reasons{
		"bt":              "uses statuses",
		"internal/flight": "flies and draws",
		"run":             "selects the decider",
	}},
	"examples/02-exit-procedure": {imports: reasons{
		"internal/flight": "flies and draws",
		"run":             "selects the decider",
	}},
	"examples/03-chattering": {imports: reasons{
		"bt":              "counts activations",
		"internal/flight": "flies and draws",
		"run":             "selects the decider",
	}},
	"examples/05-scaling": {imports: reasons{
		"diag":                "reads plans",
		"internal/flight":     "draws",
		"document/plan":       "reads plans",
		"formalism/translate": "makes graphs of plans",
	}},
	"examples/06-teleo-reactive": {imports: reasons{
		"executive":           "leaves tell the engine by the one protocol",
		"bt":                  "runs plans",
		"diag":                "reads programs",
		"internal/flight":     "draws",
		"document/plan":       "runs plans",
		"formalism/translate": "makes plans of programs",
	}},
	"examples/13-proof-time": {imports: reasons{
		"diag":             "reads plans",
		"internal/cputime": "measures CPU time",
		"internal/flight":  "draws",
		"document/plan":    "reads plans",
		"analysis/verify":  "is what is measured",
		"document/declare": "reads goals",
	}},
	"internal/cart": {pure: true, imports: reasons{
		"diag":             "a mission's mistakes are returned",
		"document/mission": "reads missions of the vehicle",
		"vehicle/model":    "is a vehicle",
	}},
	"internal/cputime": {},
	"internal/cpu":     {pure: true},
	"internal/vector": {pure: true, imports: reasons{
		"internal/cpu": "numbers are compared four at once where that is possible",
	}},
	"internal/messages": {},
	"internal/oracle": {imports: reasons{
		"bt":               "plans are trees",
		"diag":             "a mission's mistakes are returned",
		"document/mission": "random missions are read",
		"executive":        "signals of a world without a simulator",
		"formalism/tick":   "the tree of the second execution",
		"internal/cart":    "documents in memory",
		"internal/trees":   "random kinds and parameters",
		"run":              "runs in a world without a simulator",
		"run/record":       "the cost of such a world",
		"snapshot":         "a saved flight is a visited state",
	}, tests: reasons{
		"analysis/reaction": "its bounds hold in flights",
		"explore":           "bounds its search",
		"analysis/flown":    "reaches the same states",
		"analysis/verify":   "answers are compared with what flights show",
		"document/declare":  "a mission's subject is what is asked about",
		"document/script":   "counterexamples are replayed",
		"expr":              "declared statements are structures",
		"run/monitor":       "properties are judged on the runs that counterexamples become",
		"analysis/smv":      "exported models are answered by an evaluator of the tests",
	}},
	"internal/palette": {pure: true},
	"internal/flight": {imports: reasons{
		"bt":               "statuses are drawn as lanes",
		"document/mission": "reads missions",
		"run":              "runs missions",
		"run/simulated":    "simulates vehicles",
		"vehicle/model":    "missions name vehicles",
		"run/record":       "a run's events have its type",
	}, outside: reasons{
		"gonum.org/v1/plot": "axes, curves, SVG",
	}},
	"internal/files": {outside: reasons{
		"golang.org/x/sys": "the free space of a disk on Windows",
	}},
	"internal/house": {tests: reasons{
		"bt": "only the table names kinds",
	}},
	"internal/problems": {pure: true},
}

// testHelpers are the modules and rooms that every room's tests may use.
var testHelpers = reasons{
	"pgregory.net/rapid":       "random trees, scripts and expressions that shrink to a small counterexample",
	"github.com/google/go-cmp": "readable differences of nested values",
	"internal/golden":          "golden scripts with a flag that rewrites them",
}

// impure are the packages of the standard library, each with those below it, that a pure room must not import.
var impure = reasons{
	"time":      "time is an argument, in seconds of the simulation",
	"os":        "files come as io.Reader, io.Writer or fs.FS",
	"net":       "the world is what the caller hands over",
	"sync":      "a pure value needs no lock, a mutable one has one owner",
	"math/rand": "a seed is an argument",
}

func TestImportsStayWithinTheTable(t *testing.T) {
	for _, s := range readSources(t, parser.ImportsOnly) {
		r, known := rooms[s.room]
		if !known {
			t.Errorf("%s: the room %q is not in the table of internal/house", s.path, s.room)
			continue
		}
		inside, outside := s.imports(t)
		for _, name := range inside {
			external := s.test && name == s.room
			if r.imports[name] == "" && !external && (!s.test || r.tests[name]+testHelpers[name] == "") {
				t.Errorf("%s: %s may not import %s; it may import %v", s.path, s.room, name, sortedKeys(r.imports))
			}
		}
		for _, name := range outside {
			switch {
			case isStandard(name):
				if why := within(name, impure); r.pure && !s.test && why != "" {
					t.Errorf("%s: %s is a pure room and must not import %q: %s", s.path, s.room, name, why)
				}
			case within(name, r.outside) == "" && (!s.test || within(name, r.tests)+within(name, testHelpers) == ""):
				t.Errorf("%s: %s may not import %s", s.path, s.room, name)
			}
		}
	}
}

// layers are the folders of the house, from the lowest to the highest; the core are the rooms without a folder.
var layers = []string{"", "expr", "syntax", "vehicle", "document", "autopilot", "formalism", "run", "analysis", "cmd", "examples"}

// TestNoArrowLeadsUpward: a room imports rooms of its own folder and of lower ones only.
func TestNoArrowLeadsUpward(t *testing.T) {
	for _, name := range sortedKeys(rooms) {
		if layerOf(name) < 0 {
			t.Errorf("%s: its folder is not in the list of layers", name)
		}
		for _, imported := range sortedKeys(rooms[name].imports) {
			if layerOf(imported) > layerOf(name) {
				t.Errorf("%s may import %s, which is in a higher layer: the layers are %q", name, imported, layers)
			}
		}
	}
}

func TestPermissionsFormLayers(t *testing.T) {
	const onTheWay, done = 1, 2
	state := map[string]int{}
	var visit func(name string)
	visit = func(name string) {
		state[name] = onTheWay
		for _, next := range sortedKeys(rooms[name].imports) {
			switch {
			case strings.HasPrefix(next, "cmd/"):
				t.Errorf("%s may import %s: commands are not imported", name, next)
			case rooms[name].pure && !rooms[next].pure:
				t.Errorf("%s is pure, but may import %s, which is not", name, next)
			case state[next] == onTheWay:
				t.Errorf("%s and %s import each other in a cycle", name, next)
			case state[next] != done:
				visit(next)
			}
		}
		state[name] = done
	}
	for _, name := range sortedKeys(rooms) {
		if state[name] != done {
			visit(name)
		}
	}
}

func TestEveryPermissionIsUsed(t *testing.T) {
	code, tests, allTests := map[string][]string{}, map[string][]string{}, []string{}
	for _, s := range readSources(t, parser.ImportsOnly) {
		inside, outside := s.imports(t)
		if names := slices.Concat(inside, outside); s.test {
			tests[s.room] = append(tests[s.room], names...)
			allTests = append(allTests, names...)
		} else {
			code[s.room] = append(code[s.room], names...)
		}
	}
	check := func(user string, imports []string, permitted reasons) {
		for _, name := range sortedKeys(permitted) {
			isIt := func(i string) bool { return within(i, reasons{name: "permitted"}) != "" }
			if !slices.ContainsFunc(imports, isIt) {
				t.Errorf("%s imports %s nowhere: take the permission back", user, name)
			}
		}
	}
	for _, name := range sortedKeys(rooms) {
		check(name, code[name], rooms[name].imports)
		check(name, code[name], rooms[name].outside)
		check("a test of "+name, tests[name], rooms[name].tests)
	}
	check("a test", allTests, testHelpers)
}
