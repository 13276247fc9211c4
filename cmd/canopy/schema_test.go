package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/syntax/xmltree"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/equations"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// documentsBelow returns the files of the repository with one of some extensions, but no inputs of fuzz tests.
func documentsBelow(t *testing.T, extensions ...string) (names []string) {
	t.Helper()
	must(t, filepath.WalkDir("../..", func(name string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() && slices.Contains([]string{"node_modules", "fuzz", ".git"}, d.Name()) {
			return filepath.SkipDir
		}
		if slices.Contains(extensions, filepath.Ext(name)) {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

// validator returns what the JSON Schema of a kind of document says of a text.
func validator(t *testing.T, kind string) func(text string) error {
	t.Helper()
	printed, _, status := canopy("schema", kind)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(printed))
	if must(t, err); status != exitOK {
		t.Fatal(kind, status)
	}
	c := jsonschema.NewCompiler()
	must(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	must(t, err)
	return func(text string) error {
		var v any
		must(t, yaml.Unmarshal([]byte(text), &v))
		written, err := json.Marshal(v)
		must(t, err)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(written)))
		must(t, err)
		return s.Validate(doc)
	}
}

// yamlKinds are the kinds of YAML documents: a key that tells them from the others, and how they are read.
var yamlKinds = map[string]struct {
	key  string
	read func(name, text string) diag.List
}{
	"mission": {"plan", func(name, text string) diag.List {
		_, list := mission.Read(name, func(file string) ([]byte, error) {
			if file == name {
				return []byte(text), nil
			}
			return os.ReadFile(file)
		}, equations.Offers(), nil)
		return list
	}},
	"vehicle": {"states", func(name, text string) diag.List {
		_, list := equations.Read(&diag.Source{Name: name, Text: text})
		return list
	}},
	"graph": {"steps", func(name, text string) diag.List {
		_, list := stategraph.Read(&diag.Source{Name: name, Text: text}, nil)
		return list
	}},
}

// The schema of a kind accepts each document that its reader accepts. With a key renamed, it refuses those in which the
// reader does not know the key, and the reader refuses those that it refuses.
func TestSchemasOfYAML(t *testing.T) {
	random := rand.New(rand.NewPCG(28, 8))
	for kind, k := range yamlKinds {
		validate := validator(t, kind)
		accepted, refused := 0, 0
		for _, name := range documentsBelow(t, ".yaml", ".yml") {
			text, err := os.ReadFile(name)
			must(t, err)
			r := yamldoc.NewReader(&diag.Source{Name: name, Text: string(text)})
			root := r.Parse("")
			if root.Entry(k.key) == nil || k.read(name, string(text)).HasErrors() {
				continue
			}
			if accepted++; validate(string(text)) != nil {
				t.Errorf("%s: %v", name, validate(string(text)))
			}
			keys := keysOf(root, nil)
			for range 3 {
				key := keys[random.IntN(len(keys))]
				end := key.Offset + key.Length
				renamed := string(text[:end]) + "x" + string(text[end:])
				list, wrong := k.read(name, renamed), validate(renamed)
				unknown := slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == "unknown-key" })
				if unknown {
					refused++
				}
				if unknown && wrong == nil || wrong != nil && !list.HasErrors() {
					t.Errorf("%s with %sx: the reader says\n%v\nthe schema\n%v", name, key.Value, list, wrong)
				}
			}
		}
		if t.Logf("%s: %d documents accepted, %d keys refused", kind, accepted, refused); accepted < 2 || refused < 5 {
			t.Errorf("%s: only %d documents and %d renamed keys", kind, accepted, refused)
		}
	}
}

// keysOf appends the keys of a document to a list.
func keysOf(n *yamldoc.Node, list []*yamldoc.Node) []*yamldoc.Node {
	list = append(list, n.Keys...)
	for _, item := range n.Items {
		list = keysOf(item, list)
	}
	return list
}

// The schema of plans accepts each plan of format 4 that the reader accepts. With an attribute renamed, it refuses
// those, and only those, in which the reader does not know the attribute of an element that has no ports.
func TestSchemaOfPlans(t *testing.T) {
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		t.Skip("no xmllint:", err)
	}
	random, dir := rand.New(rand.NewPCG(28, 8)), t.TempDir()
	printed, _, _ := canopy("schema", "plan")
	must(t, os.WriteFile(filepath.Join(dir, "plan.xsd"), []byte(printed), 0o600))
	closed := map[string]bool{}
	for _, e := range plan.Elements() {
		closed[e.Name] = !e.Open
	}
	arguments, refused := []string{"--noout", "--schema", filepath.Join(dir, "plan.xsd")}, map[string]bool{}
	for i, name := range documentsBelow(t, ".xml") {
		text, err := os.ReadFile(name)
		must(t, err)
		src := &diag.Source{Name: name, Text: string(text)}
		if _, list := plan.ReadFiles(src, nil, os.ReadFile); list.HasErrors() ||
			slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == "old-format" }) {
			continue
		}
		add := func(variant, text string, unknown bool) {
			file := filepath.Join(dir, fmt.Sprint(i, variant, ".xml"))
			must(t, os.WriteFile(file, []byte(text), 0o600))
			arguments, refused[file] = append(arguments, file), unknown
		}
		add("", src.Text, false)
		doc, _ := xmltree.Parse(src)
		var all []*xmltree.Attribute
		var visit func(e *xmltree.Element)
		visit = func(e *xmltree.Element) {
			if closed[e.Name] {
				all = append(all, e.Attributes...)
			}
			for inside := range e.Elements() {
				if e.Name != "TreeNodesModel" {
					visit(inside)
				}
			}
		}
		visit(doc.Root)
		for k := range min(3, len(all)) {
			a := all[random.IntN(len(all))]
			end := a.At + len(a.Name)
			renamed := src.Text[:end] + "x" + src.Text[end:]
			_, list := plan.ReadFiles(&diag.Source{Name: name, Text: renamed}, nil, os.ReadFile)
			add(fmt.Sprint("-", k), renamed, slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
				return d.Code == "unknown-attribute" && d.Offset == a.At
			}))
		}
	}
	said, _ := exec.Command(xmllint, arguments...).CombinedOutput()
	count := 0
	for file, unknown := range refused {
		if unknown {
			count++
		}
		if valid := strings.Contains(string(said), file+" validates\n"); valid == unknown {
			text, _ := os.ReadFile(file)
			t.Errorf("the schema accepts: %t\n%s", valid, text)
		}
	}
	if t.Logf("%d plans, %d refused", len(refused), count); len(refused) < 100 || count < 50 {
		t.Errorf("only %d plans, %d of them with unknown attributes", len(refused), count)
	}
}
