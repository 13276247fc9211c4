package record

import "testing"

// TestFaultsOfADamagedSummary: a summary that was read from a file may count refusals that it does not have.
func TestFaultsOfADamagedSummary(t *testing.T) {
	if list := (&Sortie{Vehicle: Landed, MoreRefused: 3}).Faults(); len(list) != 1 || list[0] != "3 refused" {
		t.Errorf("%q", list)
	}
}
