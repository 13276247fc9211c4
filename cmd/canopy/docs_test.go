package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// clone makes a folder with the missions and examples of the repository the working folder, so that documented commands
// find them and leave no files. It returns the repository's folder.
func clone(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	must(t, err)
	dir := t.TempDir()
	for _, name := range []string{"missions", "examples", "document"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	t.Chdir(dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // for what FMUs need
	return root
}

var shellWord = regexp.MustCompile(`"[^"]*"|[^\s"]+(?:"[^"]*")?`)

// commandLine returns the arguments of a command as it is documented: without what follows it, the files of a pattern
// by their names.
func commandLine(line string) (args []string) {
	line = strings.TrimPrefix(line, "canopy ")
	for _, end := range []string{"   # ", " > ", " | ", " &"} {
		line, _, _ = strings.Cut(line, end)
	}
	for _, word := range shellWord.FindAllString(line, -1) {
		word = strings.ReplaceAll(word, `"`, "")
		if files, _ := filepath.Glob(word); strings.Contains(word, "*") && len(files) > 0 {
			args = append(args, files...)
		} else {
			args = append(args, word)
		}
	}
	return args
}

// announced is the exit status that a document names beside a command that does not end with 0.
var announced = regexp.MustCompile(`   # exit status (\d)\b`)

// documented runs a command as it is documented, except that a long flight is shortened, and returns its output and its
// exit status.
func documented(t *testing.T, line string) (printed string, status int) {
	t.Helper()
	args := commandLine(line)
	switch {
	case args[0] == "compare":
		args = append(args, "--until", "60", "--repeat", "1", "--period", "60")
	case strings.Contains(line, "horizon="):
		args = append(args, "--until", "60")
	}
	stdout, stderr, status := canopy(args...)
	if wrong := strings.HasSuffix(line, "   # exit status 2"); wrong != (status == exitInput) || status == exitFailed {
		t.Errorf("canopy %s: status %d, %s", line, status, stderr)
	}
	return stderr + stdout, status
}

// byHand are the examples that need another program, an answer or much time.
var byHand = regexp.MustCompile(`^canopy (bridge|fake|lsp|studio|watch|upload|stop|resume) |&$|udp:|--speed|-w |--resume|canopy new first$`)

// Each command is in a group of the help, and has examples. They are commands as they can be given, over files that
// exist; those that run by themselves run.
func TestHelp(t *testing.T) {
	clone(t)
	says(t, "the help", rootCommand().Example, "canopy run ", "canopy check ", "canopy fly ")
	for _, c := range rootCommand().Commands() {
		if c.GroupID == "" || c.Long == "" || c.Example == "" || strings.ContainsAny(c.Long, "{}") {
			t.Errorf("%s: group %q, examples %q, text:\n%s", c.Name(), c.GroupID, c.Example, c.Long)
		}
		for line := range strings.Lines(c.Example) {
			line = strings.TrimSpace(line)
			args := commandLine(line)
			what, rest, err := rootCommand().Find(args) // flags keep their values
			if err == nil {
				err = what.ParseFlags(rest)
			}
			if err == nil {
				err = what.ValidateArgs(what.Flags().Args())
			}
			if err != nil || len(args) == 0 || !strings.HasPrefix(line, "canopy ") {
				t.Errorf("%s: %v", line, err)
			}
			for _, name := range args {
				if _, err := os.Stat(name); err != nil && regexp.MustCompile(`^(missions|examples|document)/`).MatchString(name) {
					t.Errorf("%s: %v", line, err)
				}
			}
			if !testing.Short() && !byHand.MatchString(line) {
				documented(t, line)
			}
		}
	}
}

// Each command in a block of a document runs, with the exit status that is announced beside it, and a block of text
// below it is its output.
func TestDocumentedCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the commands have tests of their own")
	}
	root := clone(t)
	var names []string
	for _, pattern := range []string{"README.md", "docs/*.md", "examples/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		must(t, err)
		names = append(names, found...)
	}
	block := regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")
	printed, statuses, commands, texts := map[string]string{}, map[string]int{}, 0, 0
	for _, name := range names {
		if _, err := exec.LookPath("cc"); err != nil && strings.Contains(name, "fmu") {
			t.Logf("%s: there is no C compiler, cc", name)
			continue
		}
		text := fileText(t, name)
		last := ""
		for _, b := range block.FindAllStringSubmatch(text, -1) {
			if b[1] == "text" {
				texts++
				if !strings.Contains(last, b[2]) {
					t.Errorf("%s: this is not printed:\n%s\nbut:\n%s", name, b[2], last)
				}
				continue
			}
			last = ""
			for line := range strings.Lines(strings.ReplaceAll(b[2], "\\\n", "")) {
				line = strings.TrimPrefix(strings.TrimSpace(line), "go run ./cmd/")
				line, ours := strings.CutPrefix(line, "canopy ")
				if !ours || strings.Contains(line, "--resume") || strings.HasPrefix(line, "report ") {
					continue
				}
				if _, again := printed[line]; !again || strings.HasPrefix(line, "trace") {
					printed[line], statuses[line] = documented(t, line)
				}
				want := "0"
				if m := announced.FindStringSubmatch(line); m != nil {
					want = m[1]
				}
				if strconv.Itoa(statuses[line]) != want {
					t.Errorf("%s: canopy %s: status %d, announced is %s", name, line, statuses[line], want)
				}
				commands++
				last += printed[line]
			}
		}
	}
	if commands < 40 || texts < 5 {
		t.Errorf("%d commands and %d texts found", commands, texts)
	}
}

// Each row of docs/papers.md has commands that run, or tests that exist; and what a command prints has the numbers of its
// row, those of three digits or more, if all its commands are canopy's.
func TestPapers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the commands have tests of their own")
	}
	root := clone(t)
	text := fileText(t, filepath.Join(root, "docs", "papers.md"))
	quoted := regexp.MustCompile("`([^`]+)`")
	number := regexp.MustCompile(`\d[\d,.]*\d`)
	link := regexp.MustCompile(`\]\([^)]*\)`)
	test := regexp.MustCompile(`^go test (?:-run (Test\w+) )?\./([\w/]+)$`)
	rows := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 2 || strings.HasPrefix(line, "| paper ") || strings.HasPrefix(line, "|-") {
			continue
		}
		if rows++; len(cells) != 8 {
			t.Errorf("%d cells: %s", len(cells)-2, line)
			continue
		}
		commands := quoted.FindAllStringSubmatch(cells[4], -1)
		if len(commands) == 0 {
			t.Errorf("no command: %s", line)
		}
		printed, all := "", true
		for _, c := range commands {
			if args, ok := strings.CutPrefix(c[1], "canopy "); ok {
				text, _ := documented(t, args)
				printed += text
				continue
			}
			all = false
			if m := test.FindStringSubmatch(c[1]); m != nil {
				if !hasTest(t, filepath.Join(root, m[2]), m[1]) {
					t.Errorf("%s: there is no such test", c[1])
				}
			} else {
				t.Errorf("not a command: %s", c[1])
			}
		}
		for _, n := range number.FindAllString(link.ReplaceAllString(cells[5], "]"), -1) {
			digits := strings.Map(func(r rune) rune {
				if r < '0' || r > '9' {
					return -1
				}
				return r
			}, n)
			if all && len(digits) >= 3 && !strings.Contains(printed, n) {
				t.Errorf("%s: %s is not printed, but:\n%s", cells[4], n, printed)
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d rows found", rows)
	}
}

// hasTest reports whether a package has a test with a name.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	must(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "func "+name+"(t *testing.T)")
	})
}

// The table of exit statuses is true: each command ends with each status that its row names, with none of the others,
// and only those with a status 4 have the flag --strict.
func TestExitStatuses(t *testing.T) {
	root := clone(t)
	leaf := func(text string) string {
		return `<root BTCPP_format="4"><BehaviorTree ID="m">` + text + `</BehaviorTree></root>`
	}
	for name, text := range map[string]string{
		"a.xml": leaf(`<Action name="a"/>`), "b.xml": leaf(`<Action name="b"/>`),
		"gap.xml":    leaf(`<ReactiveSequence><Condition name="c" on="true"/><Condition name="d" on="x ge 1"/></ReactiveSequence>`),
		"stops.xml":  leaf(`<Script name="s" code="a := a + 1"/>`),
		"needs.yaml": "goal: a\n",
	} {
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	const survey, boat = "examples/25-unknown/survey.yaml", "examples/08-finite-time/boat.yaml"
	results := map[string]map[string]bool{}
	for _, test := range []struct{ line, status string }{
		{"check a.xml --strict", "0"}, {"check gap.xml", "3"}, {"check gap.xml --strict", "3"},
		{"check a.xml --budget 1e-6", "0"}, {"check a.xml --budget 1e-6 --strict", "4"},
		{"check missions/circuit.yaml", "0"},
		{"diff a.xml a.xml --strict", "0"}, {"diff a.xml b.xml", "3"}, {"diff a.xml b.xml --strict", "3"},
		{"diff a.xml b.xml --budget 1e-9", "0"}, {"diff a.xml b.xml --budget 1e-9 --strict", "4"},
		{"reaction a.xml", "0"}, {"reaction a.xml --budget 1e-9", "0"}, {"reaction stops.xml", "3"},
		{"monitor " + survey + ` --property "never both(climb, scan)"`, "0"},
		{"monitor " + survey + ` --property "never climb"`, "3"},
		{"run missions/circuit.yaml --until 10", "0"}, {"run " + survey, "3"},
		{"region " + boat + " --box x=0:5,y=-2:2 --resolution 4", "0"},
		{"compare missions/circuit.yaml --until 60 --repeat 1 --period 60", "0"},
	} {
		args := commandLine("canopy " + test.line)
		stdout, stderr, status := canopy(args...)
		if strconv.Itoa(status) != test.status {
			t.Errorf("canopy %s: status %d, not %s\n%s%s", test.line, status, test.status, stderr, stdout)
		}
		if results[args[0]] == nil {
			results[args[0]] = map[string]bool{}
		}
		results[args[0]][test.status] = true
	}
	_, table, _ := strings.Cut(fileText(t, filepath.Join(root, "docs", "guide.md")), "| command | 0 | 3 | 4")
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (.*) \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(table, -1)
	for _, row := range rows {
		for i, status := range []string{"0", "3", "4"} {
			if named := row[i+2] != "–"; named != results[row[1]][status] {
				t.Errorf("%s: status %s is named: %v", row[1], status, named)
			}
		}
	}
	if len(rows) != len(results) {
		t.Errorf("%d rows, %d commands", len(rows), len(results))
	}
	for _, c := range rootCommand().Commands() {
		if strict := c.Flags().Lookup("strict") != nil; strict != results[c.Name()]["4"] {
			t.Errorf("%s has --strict: %v", c.Name(), strict)
		}
	}
}
