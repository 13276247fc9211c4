package plan

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"canopy/diag"
)

// typedModels declares the leaf types by which 4.10.0 answered testdata/btcpp/ports.txt.
func typedModels() string {
	var b strings.Builder
	b.WriteString("<TreeNodesModel>\n")
	for _, m := range [][3]string{{"Int", "input", "int"}, {"Unsigned", "input", "unsigned int"}, {"Byte", "input", "uint8_t"},
		{"Big", "input", "uint64_t"}, {"Double", "input", "double"}, {"Bool", "input", "bool"}, {"String", "input", "std::string"},
		{"List", "input", "std::vector&lt;int&gt;"}, {"Status", "input", "BT::NodeStatus"}, {"OutInt", "output", "int"},
		{"OutDouble", "output", "double"}, {"OutString", "output", "std::string"}, {"Anything", "input", "BT::AnyTypeAllowed"},
		{"Pose", "inout", "geometry_msgs::msg::Pose"}, {"OldPose", "input", "geometry_msgs::Pose"}, {"Path", "input", "nav_msgs::Path"}} {
		fmt.Fprintf(&b, "<Action ID=%q><%s_port name=\"x\" type=\"%s\"/></Action>\n", m[0], m[1], m[2])
	}
	b.WriteString(`<Action ID="Wrong"><input_port name="n" type="int" default="many"/></Action></TreeNodesModel>`)
	return b.String()
}

func readTyped(trees string) (*Plan, diag.List) {
	return Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="main">` + trees + "\n" +
		typedModels() + `</root>`}, nil)
}

// TestTypesOfPortsAsBehaviorTreeCpp: literals and entries of ports with types are refused as BehaviorTree.CPP does.
func TestTypesOfPortsAsBehaviorTreeCpp(t *testing.T) {
	others := map[string]bool{ // what is different here: whether it loads
		`y="abc"/>`: false, // there the leaf fails when it runs
		`<SubTree ID="s" y="5"/></BehaviorTree><BehaviorTree ID="s"><Double`: true, // there a whole number is no double
	}
	data, err := os.ReadFile("testdata/btcpp/ports.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(data)) {
		trees, answer, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		loads := answer == "loads"
		for part, other := range others {
			if strings.Contains(trees, part) {
				loads = other
			}
		}
		if p, list := readTyped(trees); (p != nil) != loads {
			t.Errorf("%s\n%s; %v", trees, answer, list)
		}
		count++
	}
	if count < 60 {
		t.Errorf("only %d plans", count)
	}
}

// TestTypesOfPorts: a mistake in the type of a port has both places. Types of a program may have several names.
func TestTypesOfPorts(t *testing.T) {
	for nodes, want := range map[string]string{
		`<Int x="abc"/>`: `error: "abc" is no value of the type int, which the port "x" has on line 3`,
		`<Int x="{v}"/>` + "\n" + `<Double x="{v}"/>`: `error: the entry "v" has the type double here, and int on line 1`,
		`<OutInt x="5"/>`:                                   `warning: the port "x" is an output on line 12: without an entry`,
		`<Pose x="{v}"/><OldPose x="{v}"/>`:                 "",
		`<Pose x="{v}"/><Path x="{v}"/>`:                    `warning: the entry "v" has the type nav_msgs::Path here, and geometry_msgs::msg::Pose on line 1`,
		`<Pose x="{v}"/><Int x="{v}"/>`:                     `warning: the entry "v" has the type int here`,
		`<Pose x="1;2;3"/>`:                                 "",
		`<Wrong/>`:                                          `error: "many" is no value of the type int`,
		`<Wrong n="3"/>`:                                    "",
		`<Int x="h + 1" done="h gt 1"/>`:                    "", // not free: an expression
		`<Sequence><Int x="{v}"/><Int x="{v}"/></Sequence>`: "",
	} {
		p, list := readTyped(`<BehaviorTree ID="main"><Sequence>` + nodes + `</Sequence></BehaviorTree>`)
		if got := fmt.Sprint(list); !strings.Contains(got, want) || want == "" && got != "[]" && len(list) > 0 ||
			(p == nil) != strings.HasPrefix(want, "error") {
			t.Errorf("%s: %s", nodes, got)
		}
	}
}

// TestVaryingParameters: a parameter that is an entry needs a number that a task writes, and a kind that can read it.
func TestVaryingParameters(t *testing.T) {
	for nodes, want := range map[string]string{
		`<Script code="n := 3"/><Repeat num_cycles="{n}"><Action/></Repeat>`:                 "",
		`<Script code="n := 3"/><Delay delay_msec="{n}"><Sleep msec="{n}"/></Delay>`:         "",
		`<Script code="n := 'a'"/><Repeat num_cycles="{n}"><Action/></Repeat>`:               "error: ",
		`<Script code="n := 3"/><Timeout msec="{n}"><Action/></Timeout>`:                     `the entry "n", but parameters do not change`,
		`<Script code="n := 3"/><Repeat num_cycles="{m}"><Action/></Repeat>`:                 `the entry "m", but parameters do not change`,
		`<Script code="n := 3"/><Parallel success_count="{n}"><Action/><Action/></Parallel>`: `the entry "n", but parameters do not change`,
	} {
		p, list := Read(one("<Sequence>"+nodes+"</Sequence>"), nil)
		if got := fmt.Sprint(list); (p == nil) != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", nodes, got)
		}
	}
}
