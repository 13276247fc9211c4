package main

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Every document is a regular file, up to a limit: a device that never ends and a pipe that never begins are refused,
// also where a mission or a plan names them.
func TestInputIsBounded(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no /dev/zero")
	}
	clone(t)
	for _, kind := range []string{"xml", "yaml", "tr", "andor", "txt"} {
		must(t, os.Symlink("/dev/zero", "zero."+kind))
	}
	save(t, "endless.yaml", "plan: zero.xml\nvehicle: solar\nhorizon: 1 [h]\n")
	refused := func(lines string) {
		t.Helper()
		for line := range strings.Lines(lines) {
			line = strings.TrimSpace(line)
			out := typed(t, line)
			if !strings.Contains(out, "not a regular file") || !strings.HasSuffix(out, "status 2\n") {
				t.Errorf("%s:\n%s", line, out)
			}
		}
	}
	refused(`show zero.xml
		show zero.yaml
		trace missions/solar-day.xml zero.txt
		trace zero.xml zero.txt
		translate zero.xml
		translate zero.tr
		translate zero.andor
		backchain zero.xml --goal a
		vehicle zero.yaml
		diff zero.xml missions/solar-day.xml
		diff missions/solar-day.xml zero.xml
		check zero.xml
		check zero.yaml
		check missions/solar-day.xml --facts zero.yaml
		monitor zero.yaml
		reaction zero.yaml
		region zero.yaml --box x=0:1
		compare zero.yaml
		run zero.yaml --out out
		run endless.yaml --out out`)
	must(t, errors.Join(os.WriteFile("long.xml", nil, 0o666), os.Truncate("long.xml", maxInput+1)))
	says(t, "show", typed(t, "show long.xml"), "longer than 16 MiB", "status 2")

	must(t, os.Mkdir("flown", 0o777))
	for _, name := range []string{"pipe.xml", "flown/run.box", "flown/run.mcap", "flown/run.lock"} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Skip("there are no named pipes:", err)
		}
	}
	save(t, "including.xml", `<root BTCPP_format="4" main_tree_to_execute="a"><include path="pipe.xml"/>
		<BehaviorTree ID="a"><AlwaysSuccess/></BehaviorTree></root>`)
	const fly = "fly missions/circuit-plane.yaml --link udp:127.0.0.1:0 "
	refused(`show pipe.xml
		show including.xml
		` + fly + `--signing-key pipe.xml
		` + fly + `--serve 127.0.0.1:0 --token-file pipe.xml
		` + fly + `--serve 127.0.0.1:0 --tls-cert /dev/zero --tls-key pipe.xml
		fake plane --signing-key pipe.xml
		replay flown --out again
		why flown hold
		monitor flown`)
	says(t, "report", typed(t, "report flown"), "not a regular file", "status 1")
	says(t, "fly", typed(t, "fly missions/circuit-plane.yaml --link fake:plane --out flown"), "not a regular file", "status 1")
}
