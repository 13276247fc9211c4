package driver

import (
	"context"
	"slices"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/run/flight"
)

// interrupted is a far end from which nothing arrives for a time.
type interrupted struct {
	FarEnd
	from, to int64 // wall time [ns]
}

func (s interrupted) Next(ctx context.Context, due int64, asks <-chan Ask) (flight.Input, Ask) {
	for {
		in, ask := s.FarEnd.Next(ctx, due, asks)
		if ask != nil || in.Kind != flight.Frame || in.At.Wall < s.from || s.to <= in.At.Wall {
			return in, ask
		}
	}
}

// A flight in which satellites are lost, or the link is silent, for a time: the position is unknown then. A condition
// over it is false, and one with hold is as before.
func TestUnknown(t *testing.T) {
	const from, to = 60e9, 70e9
	for name, silent := range map[string]bool{"satellites": false, "link": true} {
		m := planeMission(t, `<Parallel name="all"><Condition name="up" on="h gt -50 [m]"/>
			<Condition name="held" on="h gt -50 [m]" unknown="hold"/></Parallel>`, "")
		v := fake.New(fake.Options{})
		c := FarEnd(newWire(v))
		if silent {
			c = interrupted{c, from, to}
		}
		d, p := newDriver(t, m, flight.Options{Until: 60}, c)
		lost, back := false, false
		if err := d.Fly(context.Background(), func(bool) error {
			switch wall := c.Now().Wall; {
			case silent:
			case wall >= from && !lost:
				lost = true
				v.Inject(fake.Event{Kind: fake.GPSLost})
			case wall >= to && !back:
				back = true
				v.Inject(fake.Event{Kind: fake.GPSBack})
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range p.lines {
			_, what, _ := strings.Cut(line, " ")
			if strings.HasSuffix(what, "known: position") || strings.HasPrefix(what, "up ") || strings.HasPrefix(what, "held ") {
				got = append(got, what)
			}
		}
		if want := []string{"unknown: position", "known: position", "up Success", "held Success",
			"unknown: position", "up Failure", "known: position", "up Success"}; !slices.Equal(got, want) {
			t.Errorf("%s: %v\n%s", name, got, strings.Join(p.lines, "\n"))
		}
	}
}
