// Package btcpp builds the programs in C++ with which tests ask BehaviorTree.CPP.
package btcpp

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Program builds one of the programs of this folder, if BehaviorTree.CPP is installed, and returns its file. Else the
// test is skipped. The folder is relative to that of the test.
func Program(t *testing.T, folder, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: a program in C++ is not compiled")
	}
	if _, err := exec.LookPath("cmake"); err != nil {
		t.Skip("no cmake: BehaviorTree.CPP is not asked")
	}
	dir := t.TempDir()
	if out, err := exec.Command("cmake", "-S", folder, "-B", dir).CombinedOutput(); err != nil {
		if strings.Contains(string(out), "behaviortree_cppConfig.cmake") {
			t.Skip("BehaviorTree.CPP is not installed: CMAKE_PREFIX_PATH names the places where cmake looks for it")
		}
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command("cmake", "--build", dir, "--target", name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, name)
}
