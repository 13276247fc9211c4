package driver

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
)

// airborne flies the course and calls do once, in the air, and then after each input.
func airborne(t *testing.T, do func(d *Driver, inputs int) error) {
	t.Helper()
	x, inputs := begin(t, north(t), fake.Options{}), 0
	x.Attach(record.Nothing{})
	x.o.Box = nil
	if err := x.fly(func() error {
		if x.T() < 22 {
			return nil
		}
		inputs++
		return do(x.Driver, inputs)
	}); err != nil {
		t.Fatal(err)
	}
}

// wide returns the document of the course with many conditions at its end.
func wide(n int) *diag.Source {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `<Condition name="c%d" on="h ge %d.5 [m]"/>`, i, i)
	}
	text := strings.Replace(course, "</Sequence>", `<Fallback name="f">`+b.String()+"</Fallback></Sequence>", 1)
	return &diag.Source{Name: "wide.xml", Text: cart.Plan(text)}
}

// TestLargeUpload: what the loop of a flight does for the largest plan that is accepted is a small part of its
// compilation, which is done elsewhere; a plan that was compiled for another one is compiled again.
func TestLargeUpload(t *testing.T) {
	mallocs := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	airborne(t, func(d *Driver, inputs int) error {
		if inputs > 1 {
			return nil
		}
		src := wide(control.MostTasks - 5)
		var next *mission.Mission
		compiling := mallocs(func() { next, _ = d.Mission().WithPlan(src) })
		o := operated{d, nil}
		loop := mallocs(func() {
			if err := o.Swap(next, false, ""); err != nil || d.Refusal() != "" {
				t.Error(err, d.Refusal())
			}
		})
		if next.Plan.Tree.Len() != control.MostTasks || loop*4 > compiling || d.Mission().Plan.Source.Name != src.Name {
			t.Errorf("%d allocations to compile %d tasks, %d in the loop", compiling, next.Plan.Tree.Len(), loop)
		}
		return nil
	})
}

// TestCheckDelaysNothing: while the check of an upload goes on, the flight does; the new plan takes over after it.
func TestCheckDelaysNothing(t *testing.T) {
	dir, enough, checking := t.TempDir(), make(chan struct{}), make(chan struct{})
	judge := func(context.Context, *mission.Mission, float64) control.Review {
		close(checking)
		<-enough
		return control.Review{}
	}
	d := begin(t, north(t), fake.Options{})
	d.o.Listen = func() (*control.Server, error) { return control.Listen(dir, judge, 10, control.NewFeed(d.Header())) }
	src := wide(10)
	var last control.Response
	ended := make(chan error, 1)
	inputs, begun := 0, false
	if err := d.fly(func() error {
		switch {
		case d.T() > 1 && !begun:
			begun = true
			go func() {
				ended <- control.Send(control.Folder(dir), control.Demand{Verb: control.Upload, Name: src.Name, Plan: src.Text},
					func(a control.Response) error { last = a; return nil })
			}()
			for more := true; more; {
				select {
				case ask := <-d.server.Asks():
					ask(&operated{d.Driver, nil})
				case <-checking:
					more = false
				}
			}
		case begun && inputs < 500:
			if inputs++; inputs == 500 {
				close(enough)
				for more := true; more; {
					select {
					case ask := <-d.server.Asks():
						ask(&operated{d.Driver, nil})
					case err := <-ended:
						if more = false; err != nil {
							t.Error(err)
						}
					}
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if inputs != 500 || last.Progress != control.Committed || d.Mission().Plan.Source.Name != src.Name {
		t.Errorf("%d inputs, %+v", inputs, last)
	}
}

// TestMemoryOfExchanges: a flight whose plan is exchanged again and again forgets what is over: neither its memory nor
// its checkpoint grows by more than the names that its log has.
func TestMemoryOfExchanges(t *testing.T) {
	exchanges := 3000
	if testing.Short() {
		exchanges = 200
	}
	long := wide(100).Text
	airborne(t, func(d *Driver, inputs int) error {
		if inputs > 1 {
			return nil
		}
		feed := control.NewFeed(d.Header())
		d.Attach(feed)
		o := operated{d, nil}
		var heap, saved [2]int
		for i := range exchanges {
			text := strings.Replace(long, "</Sequence>", fmt.Sprintf(
				`<Action name="last_%d" write="speed := %d" done="true"/></Sequence>`, i, 18+i%5), 1)
			next, list := d.Mission().WithPlan(&diag.Source{Name: "next.xml", Text: text})
			if next == nil {
				t.Fatal(list)
			}
			if err := o.Swap(next, i%2 == 0, ""); err != nil || d.Refusal() != "" {
				t.Fatal(err, d.Refusal())
			}
			if k := (i + 1) / (exchanges / 2); (i+1)%(exchanges/2) == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				heap[k-1], saved[k-1] = int(m.HeapAlloc), len(snapshot.Save(nil, d.Flight))
			}
		}
		if each := (heap[1] - heap[0]) * 2 / exchanges; each > 1500 || (saved[1]-saved[0])*2/exchanges > 30 {
			t.Errorf("the heap has %v bytes, the checkpoint %v", heap, saved)
		}
		t.Log(heap, saved)
		runtime.KeepAlive(feed)
		return nil
	})
}
