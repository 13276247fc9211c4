package fmu

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// archive packs files, given as name and text by turns.
func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	for i := 0; i < len(files); i += 2 {
		h := &zip.FileHeader{Name: files[i], Method: zip.Deflate}
		if strings.HasPrefix(files[i], "link") {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// described returns a description in FMI 3 with more attributes of model exchange, variables, and structure.
func described(variables, structure string) string {
	return `<fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="t"><ModelExchange modelIdentifier="m"/>` +
		`<UnitDefinitions><Unit name="K"><BaseUnit K="1"/></Unit><Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>` +
		`<Unit name="rpm"><BaseUnit rad="1" s="-1" factor="0.10471975511965977"/></Unit>` +
		`<Unit name="Newton"><BaseUnit kg="1" m="1" s="-2"/></Unit></UnitDefinitions>` +
		`<TypeDefinitions><Float64Type name="T" unit="degC" min="-50" max="50" nominal="20"/></TypeDefinitions>` +
		`<ModelVariables><Float64 name="time" valueReference="0" causality="independent"/>` + variables +
		`</ModelVariables><ModelStructure>` + structure + `</ModelStructure></fmiModelDescription>`
}

func vehicle(t *testing.T, data []byte) *model.Vehicle {
	t.Helper()
	u, err := Read(data, Any, 0)
	if err != nil {
		t.Fatal(err)
	}
	return u.Vehicle(nil)
}

// Units become coherent SI units; ranges, start values and tolerances are converted, and values there and back are the
// same.
func TestUnits(t *testing.T) {
	v := vehicle(t, archive(t, "modelDescription.xml", described(
		`<Float64 name="theta" valueReference="1" declaredType="T" start="20"/>
		<Float64 name="d" valueReference="2" derivative="1"/>
		<Float64 name="n" valueReference="3" causality="input" unit="rpm" start="60"/>
		<Float64 name="f" valueReference="4" causality="output" unit="Newton"/>
		<Float64 name="a" valueReference="5" causality="output" unit="deg"/>
		<Float64 name="x" valueReference="6" causality="output" unit="furlong"/>`, `<ContinuousStateDerivative valueReference="2"/>`)))
	s := v.States[0]
	if low, high := s.Range.Bounds(); s.Unit != "K" || math.Abs(low-223.15) > 1e-9 || high != 323.15 || math.Abs(s.AbsTol-20e-6) > 1e-12 || v.Floating[0] {
		t.Errorf("%+v", s)
	}
	c := v.Commands[0]
	if u, err := expr.ParseUnit(c.Unit); err != nil || math.Abs(c.Default-2*math.Pi) > 1e-12 || !u.Coherent() {
		t.Errorf("%+v %v", c, err)
	}
	for i, want := range []string{"kg m s^-2", "1", "1"} {
		if v.Outputs[i].Unit != want {
			t.Errorf("%s has the unit %s, want %s", v.Outputs[i].Name, v.Outputs[i].Unit, want)
		}
	}
	y := []float64{0}
	i, err := v.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if i.Initial(y); y[0] != 293.15 {
		t.Errorf("it begins at %g K", y[0])
	}
	x := &variable{factor: 0.1, offset: 273.15}
	if got := x.native(x.signal(20)); math.Abs(got-20) > 1e-12 {
		t.Errorf("20 comes back as %g", got)
	}
}

// Names become names of expressions, all of them different; arrays become their elements, row by row.
func TestNames(t *testing.T) {
	v := vehicle(t, archive(t, "modelDescription.xml", described(`
		<UInt64 name="rows" valueReference="9" causality="structuralParameter" variability="fixed" start="2"/>
		<Float64 name="a b" valueReference="1" causality="output"/><Float64 name="a_b" valueReference="2" causality="output"/>
		<Float64 name="der(x)" valueReference="3" causality="output"/><Float64 name="t" valueReference="4" causality="output"/>
		<Float64 name="body.r[3].x" valueReference="5" causality="output"/><Float64 name="and" valueReference="6" causality="output"/>
		<Float64 name="1st" valueReference="7" causality="output"/><Float64 name="x..y." valueReference="8" causality="output"/>
		<Float64 name="m" valueReference="10" causality="output"><Dimension valueReference="9"/><Dimension start="3"/></Float64>
		<Float64 name="p" valueReference="11" causality="parameter" variability="fixed" start="1 2"><Dimension start="2"/></Float64>
		<String name="s" valueReference="12" causality="output"/>`, `<Output valueReference="1" dependencies=""/>`)))
	var names []string
	for _, o := range v.Outputs {
		if names = append(names, o.Name); !expr.IsName(o.Name) {
			t.Errorf("%q is no name", o.Name)
		}
	}
	want := "a_b a_b_ der_x_ t_ body.r.3.x and_ _st x._y m.1.1 m.1.2 m.1.3 m.2.1 m.2.2 m.2.3"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if p := v.Parameters; len(p) != 2 || p[0].Name != "p.1" || p[1].Default != 2 {
		t.Errorf("%+v", p)
	}
	if len(v.States) != 1 || v.States[0].Name != "events" {
		t.Errorf("%+v", v.States)
	}
}

// Values of an enumeration have names of their own; a dimension is no start value.
func TestEnumerations(t *testing.T) {
	text := described(`<Enumeration name="mode" valueReference="1" causality="input" declaredType="E" start="7"/>
		<Float64 name="up" valueReference="2" causality="input"><Dimension start="2"/></Float64>`, "")
	text = strings.Replace(text, "</TypeDefinitions>", `<EnumerationType name="E"><Item name="up" value="3"/><Item name="is up" value="7"/>`+
		`<Item name="is-up" value="9"/></EnumerationType></TypeDefinitions>`, 1)
	text = strings.Replace(text, `name="up" valueReference="2"`, `name="up" valueReference="2" description="x"`, 1)
	text = strings.Replace(text, `<ModelVariables>`, `<ModelVariables><Float64 name="up" valueReference="9" causality="output"/>`, 1)
	v := vehicle(t, archive(t, "modelDescription.xml", text))
	if got := strings.Join(v.Typed["mode"], " "); got != "up_ is_up is_up_" || v.Commands[2].Default != 1 || v.Commands[0].Default != 0 {
		t.Errorf("%s %+v", got, v.Commands)
	}
	x := &variable{items: []float64{3, 7}}
	if x.native(1) != 7 || x.signal(7) != 1 || x.signal(99) != 0 || x.native(5) != 7 {
		t.Error("values of an enumeration do not pass")
	}
}

// What an output depends on at once are the inputs that the structure lists, or all of them.
func TestDependencies(t *testing.T) {
	v := vehicle(t, archive(t, "modelDescription.xml", described(`<Float64 name="u" valueReference="1" causality="input" start="0"/>
		<Float64 name="w" valueReference="2" causality="input" start="0"/><Float64 name="a" valueReference="3" causality="output"/>
		<Float64 name="b" valueReference="4" causality="output"/><Float64 name="c" valueReference="5" causality="output"/>`,
		`<Output valueReference="3" dependencies="2 0"/><Output valueReference="4"/><Output valueReference="5" dependencies=""/>`)))
	for i, want := range [][]string{{"w"}, {"u", "w"}, nil} {
		if !slices.Equal(v.Outputs[i].Direct, want) {
			t.Errorf("%s depends on %v, want %v", v.Outputs[i].Name, v.Outputs[i].Direct, want)
		}
	}
}

// The description may have any of the encodings that tools write.
func TestEncodings(t *testing.T) {
	text := described(`<Float64 name="h" valueReference="1" causality="output" description="Höhe"/>`, "")
	sixteen := func(big bool) string {
		out := []byte{0xFF, 0xFE}
		if big {
			out = []byte{0xFE, 0xFF}
		}
		for _, u := range utf16.Encode([]rune(`<?xml version="1.0" encoding="UTF-16"?>` + text)) {
			pair := []byte{byte(u), byte(u >> 8)}
			if big {
				slices.Reverse(pair)
			}
			out = append(out, pair...)
		}
		return string(out)
	}
	for name, text := range map[string]string{
		"UTF-8": text, "a byte order mark": "\xEF\xBB\xBF" + text,
		"ISO-8859-1": `<?xml version="1.0" encoding="ISO-8859-1"?>` + strings.ReplaceAll(text, "ö", "\xF6"),
		"UTF-16 LE":  sixteen(false), "UTF-16 BE": sixteen(true),
	} {
		if v := vehicle(t, archive(t, "modelDescription.xml", text)); v.Outputs[0].Text != "Höhe" {
			t.Errorf("%s: %q", name, v.Outputs[0].Text)
		}
	}
	if v := vehicle(t, archive(t, "modelDescription.xml", ball(t, "fmi2.xml"))); v.States[0].Text != "height, called Höhe" {
		t.Errorf("%q", v.States[0].Text)
	}
}

func ball(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/ball/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// An archive that is hostile, or that describes no vehicle, is refused with the reason.
func TestRefuses(t *testing.T) {
	ok := described("", "")
	clock := described(`<Clock name="tick" valueReference="1" causality="input"/>`, "")
	for want, data := range map[string][]byte{
		"it is no ZIP archive":             []byte("text"),
		"which leaves it":                  archive(t, "modelDescription.xml", ok, "../../etc/passwd", ""),
		`"C:\\x", which leaves it`:         archive(t, "modelDescription.xml", ok, `C:\x`, ""),
		`"/etc/x", which leaves it`:        archive(t, "modelDescription.xml", ok, "/etc/x", ""),
		"which is no regular file":         archive(t, "modelDescription.xml", ok, "link", "/etc/passwd"),
		"the archive has no modelDescript": archive(t, "x", ""),
		"describes no FMU":                 archive(t, "modelDescription.xml", "<x/>"),
		"FMI version \"1.0\"":              archive(t, "modelDescription.xml", strings.Replace(ok, `"3.0"`, `"1.0"`, 1)),
		"only scheduled execution":         archive(t, "modelDescription.xml", strings.Replace(ok, "ModelExchange", "ScheduledExecution", 1)),
		"needs the tool":                   archive(t, "modelDescription.xml", strings.Replace(ok, `Identifier="m"`, `Identifier="m" needsExecutionTool="true"`, 1)),
		"which is no name":                 archive(t, "modelDescription.xml", strings.Replace(ok, `Identifier="m"`, `Identifier="../m"`, 1)),
		"input clocks are not supported":   archive(t, "modelDescription.xml", clock),
		"the array x has no size":          archive(t, "modelDescription.xml", described(`<Float64 name="x" valueReference="1"><Dimension start="-1"/></Float64>`, "")),
		"more than 100000 elements":        archive(t, "modelDescription.xml", described(`<Float64 name="x" valueReference="1"><Dimension start="90000"/><Dimension start="90000"/></Float64>`, "")),
		"that does not exist":              archive(t, "modelDescription.xml", described("", `<Output valueReference="7"/>`)),
		"which state it is the derivative": archive(t, "modelDescription.xml", described(`<Float64 name="d" valueReference="1"/>`, `<ContinuousStateDerivative valueReference="1"/>`)),
		"a wrong number of event":          archive(t, "modelDescription.xml", strings.Replace(ok, `fmiVersion="3.0"`, `fmiVersion="2.0" numberOfEventIndicators="1e18"`, 1)),
		"indicator refers to no variable":  archive(t, "modelDescription.xml", described("", `<EventIndicator valueReference="7"/>`)),
		"the encoding \"EBCDIC\"":          archive(t, "modelDescription.xml", `<?xml version="1.0" encoding="EBCDIC"?>`+ok),
		"unexpected EOF":                   archive(t, "modelDescription.xml", ok[:len(ok)-9]),
	} {
		if _, err := Read(data, Any, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("not %q: %v", want, err)
		}
	}
	if _, err := Read(archive(t, "modelDescription.xml", ok), CoSimulation, 0); err == nil {
		t.Error("it does not offer co-simulation")
	}
	if _, err := Read(archive(t, "modelDescription.xml", ok), Any, 0.1); err == nil {
		t.Error("model exchange has no step")
	}
}

// Back slashes and ./ of careless tools are tolerated.
func TestTolerates(t *testing.T) {
	u, err := Read(archive(t, "./modelDescription.xml", described("", ""), `resources\x\y.txt`, "text", "resources/", ""), Any, 0)
	if err != nil || len(u.Files) != 2 || u.Files[1].Name != "resources/x/y.txt" {
		t.Fatal(err, u)
	}
	if text, err := u.Files[1].Read(); err != nil || string(text) != "text" {
		t.Errorf("%s %v", text, err)
	}
}

// The step of a co-simulation is the mission's, or that of the FMU; one that allows no other has only multiples.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		attributes, experiment string
		step, want             float64 // want 0: refused
	}{
		{`canHandleVariableCommunicationStepSize="true"`, `stepSize="0.02"`, 0, 0.02},
		{`canHandleVariableCommunicationStepSize="true"`, ``, 0, 0.1},
		{`fixedInternalStepSize="0.5"`, ``, 0, 0.5},
		{`fixedInternalStepSize="0.5"`, ``, 2, 2},
		{`fixedInternalStepSize="0.5"`, ``, 0.75, 0},
		{`fixedInternalStepSize="0.5"`, ``, 0.25, 0},
		{``, `stepSize="-1"`, 0, 0},
	} {
		text := fmt.Sprintf(`<fmiModelDescription fmiVersion="3.0" modelName="m"><CoSimulation modelIdentifier="m" %s/>`+
			`<DefaultExperiment %s/><ModelVariables/></fmiModelDescription>`, c.attributes, c.experiment)
		u, err := Read(archive(t, "modelDescription.xml", text), Any, c.step)
		if (err == nil) != (c.want > 0) || err == nil && (u.Step != c.want || (u.Fixed == 0) != strings.Contains(c.attributes, "Variable")) {
			t.Errorf("%+v: %v %+v", c, err, u)
		}
	}
}

// Values that a parameter cannot have are refused before anything runs.
func TestParameters(t *testing.T) {
	v := vehicle(t, archive(t, "modelDescription.xml", described(`<Int32 name="n" valueReference="1" causality="parameter" start="1" min="0"/>
		<Boolean name="b" valueReference="2" causality="parameter" start="true"/>`, "")))
	if d := v.Defaults(); d[0] != 1 || d[1] != 1 {
		t.Error(d)
	}
	for _, wrong := range [][]float64{{0.5, 1}, {-1, 1}, {1, 2}, {math.NaN(), 0}} {
		if _, err := v.New(wrong); err == nil {
			t.Errorf("%v are accepted", wrong)
		}
	}
}

// process answers with numbers that it was given, and keeps the requests.
type process struct {
	answers  map[Operation][]float64
	requests map[Operation][]byte
}

func (p *process) Library() (library, resources string) { return "l", "r" }

func (p *process) Call(op Operation, request []byte) ([]byte, error) {
	p.requests[op] = bytes.Clone(request)
	return numbers(nil, p.answers[op]), nil
}

// Values pass in the units of the FMU, their rates by the factor alone, and indicators with the other sign.
func TestValuesPass(t *testing.T) {
	data := archive(t, "modelDescription.xml", described(`<Float64 name="n" valueReference="1" unit="rpm" start="60"/>
		<Float64 name="d" valueReference="2" derivative="1"/><Float64 name="T" valueReference="3" causality="input" unit="degC" start="0"/>
		<Float64 name="p" valueReference="4" causality="parameter" unit="degC" start="20"/>`,
		`<ContinuousStateDerivative valueReference="2"/><EventIndicator valueReference="1"/>`))
	u, err := Read(data, Any, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{map[Operation][]float64{Load: {0, math.Inf(1), 60, 5}, Evaluate: {120}}, map[Operation][]byte{}}
	v := u.Vehicle(func(*Unit) (Process, error) { return p, nil })
	i, err := v.New([]float64{300})
	if err != nil {
		t.Fatal(err)
	}
	live, ok := i.(model.Live)
	if !ok {
		t.Fatal("no live instance")
	}
	const rpm = 2 * math.Pi / 60
	y, rate := []float64{0}, []float64{0}
	if live.Initial(y); math.Abs(y[0]-60*rpm) > 1e-12 {
		t.Errorf("it begins at %g", y[0])
	}
	kelvin := 273.15
	if load := p.requests[Load]; !bytes.Contains(load, numbers(nil, []float64{300 - kelvin})) {
		t.Error("the parameter was not set to 26.85 degrees")
	}
	live.Derivatives(1, []float64{30 * rpm}, []float64{293.15}, rate)
	if math.Abs(rate[0]-120*rpm) > 1e-12 {
		t.Errorf("the rate is %g", rate[0])
	}
	a := &answer{p.requests[Evaluate][8:]}
	if at, state, input := a.number(), a.number(), a.number(); at != 1 || math.Abs(state-30) > 1e-12 || math.Abs(input-20) > 1e-12 {
		t.Errorf("the FMU gets t = %g, n = %g, T = %g", at, state, input)
	}
	g := []float64{0, 0}
	live.Hold([]bool{false, false}, live.Memory())
	if live.Zeros(1, y, []float64{293.15}, []int{0, 1}, g); g[0] != -120 || g[1] != -1 {
		t.Errorf("the indicators are %g", g)
	}
	live.Hold([]bool{false, false}, []float64{7, never})
	if live.Derivatives(1, y, []float64{293.15}, rate); rate[0] == rate[0] {
		t.Errorf("the rate after another event is %g", rate[0])
	}
}

// FuzzRead: no archive makes Read panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte(described(`<Float64 name="x" valueReference="1" start="1"><Dimension start="2"/></Float64>`, `<EventIndicator valueReference="1"/>`)))
	for _, name := range []string{"fmi2.xml", "fmi3.xml"} {
		text, err := os.ReadFile("testdata/ball/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, description []byte) {
		u, err := Read(archive(t, "modelDescription.xml", string(description)), Any, 0)
		if err != nil {
			return
		}
		v := u.Vehicle(nil)
		if i, err := v.New(v.Defaults()); err == nil {
			i.Initial(make([]float64, len(v.States)))
		}
	})
}
