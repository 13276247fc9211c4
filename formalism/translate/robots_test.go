package translate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// point is a place in the plane [m].
type point struct{ x, y float64 }

func (p point) distance(q point) float64 { return math.Hypot(p.x-q.x, p.y-q.y) }

// body is a robot that moves forward and turns on the spot.
type body struct {
	point
	heading float64 // rad, from the x axis
}

func (b *body) move(length float64) {
	b.x += length * math.Cos(b.heading)
	b.y += length * math.Sin(b.heading)
}

// faces reports whether a direction is ahead, within a tolerance.
func (b *body) faces(direction, tolerance float64) bool {
	return math.Abs(math.Remainder(direction-b.heading, 2*math.Pi)) <= tolerance
}

// disc is an obstacle.
type disc struct {
	point
	radius float64 // m
}

// clearOf reports whether the straight way between two points keeps its distance from the disc. A robot that came too
// near, because it does not drive quite straight, has a clear way out.
func (d disc) clearOf(a, b point) bool {
	along := 0.0
	if l := a.distance(b); l > 0 {
		along = min(1, max(0, ((d.x-a.x)*(b.x-a.x)+(d.y-a.y)*(b.y-a.y))/(l*l)))
	}
	nearest := d.distance(point{a.x + along*(b.x-a.x), a.y + along*(b.y-a.y)})
	return nearest > d.radius+side || along == 0
}

const (
	stride = 0.1               // m, of one step
	turn   = 5 * math.Pi / 180 // rad, of one step
	near   = 0.15              // m: equal
	side   = 0.4               // m: the clearance of a path from an obstacle
	room   = 2.0               // m: how far new points may lie outside the area between the robot and its goal
)

// plain is a robot's world with obstacles. A new point is drawn at random in the vicinity of the robot and its goal:
// when the call that takes it as a parameter begins, and again when the robot has stopped away from home, because it
// has reached the point or because all ways are blocked.
type plain struct {
	robot     body
	home      point
	obstacles []disc
	points    map[string]point // new points, by their terms
	random    *rand.Rand
	path      []point
}

var obstacles = []disc{{point{4, 0}, 1}, {point{7, 1.5}, 0.8}, {point{6.5, -2}, 0.8}}

// newPlain returns the world of a case: the robot has a random heading, 10 m from home.
func newPlain(number int, obstacles []disc) *plain {
	w := &plain{home: point{10, 0}, obstacles: obstacles, points: map[string]point{}, random: random(number)}
	w.robot.heading = 2 * math.Pi * w.random.Float64()
	return w
}

func (w *plain) place(term string) point {
	switch term {
	case "pos":
		return w.robot.point
	case "home":
		return w.home
	}
	p, known := w.points[term]
	_, args := split(term)
	between := func(a, b float64) float64 { return min(a, b) - room + (max(a, b)-min(a, b)+2*room)*w.random.Float64() }
	for !known {
		to := w.place(args[1])
		p = point{between(w.robot.x, to.x), between(w.robot.y, to.y)}
		known = !slices.ContainsFunc(w.obstacles, func(d disc) bool { return d.distance(p) <= d.radius+side })
	}
	w.points[term] = p
	return p
}

func (w *plain) clear(a, b point) bool {
	for _, d := range w.obstacles {
		if !d.clearOf(a, b) {
			return false
		}
	}
	return true
}

// ended forgets the point that was the parameter of an amble.
func (w *plain) ended(call string) {
	if name, args := split(call); name == "amble" {
		delete(w.points, args[0])
	}
}

func (w *plain) holds(name string, args []string) bool {
	to := w.place(args[len(args)-1])
	switch name {
	case "equal":
		return w.robot.distance(to) <= near
	case "heading-towards":
		return w.robot.faces(math.Atan2(to.y-w.robot.y, to.x-w.robot.x), turn)
	}
	return w.clear(w.place(args[0]), to) // clear-path
}

func (w *plain) do(name string, _ []string) error {
	w.path = append(w.path, w.robot.point)
	switch name {
	case "go-forwards":
		w.robot.move(stride)
	case "rotate":
		w.robot.heading += turn
	default: // idle, nil
		if w.robot.distance(w.home) <= near {
			return errDone
		}
		clear(w.points)
	}
	return nil
}

// Robots go home from all headings: without obstacles by goto, and around three of them by amble. No robot drives
// through an obstacle.
func TestRobotsGoHome(t *testing.T) {
	for _, c := range []struct {
		program     string
		obstacles   []disc
		least, most int // steps
	}{{"goto", nil, 103, 170}, {"amble", obstacles, 221, 1475}} {
		p := example(t, c.program+".tr")
		least, most := math.MaxInt, 0
		for k := range 50 {
			in := newPlain(k, c.obstacles)
			steps := execute(t, p, in, 20000)
			least, most = min(least, steps), max(most, steps)
			for _, at := range in.path {
				if slices.ContainsFunc(c.obstacles, func(d disc) bool { return d.distance(at) < d.radius }) {
					t.Fatalf("run %d: the robot is inside an obstacle at %v", k, at)
				}
			}
		}
		if least != c.least || most != c.most {
			t.Errorf("%s: %d to %d steps, want %d to %d", c.program, least, most, c.least, c.most)
		}
	}
}

// hall is the world of the robot that grabs a bar: the bar lies on the x axis, its centre at the origin, and its
// midline is the y axis above it.
type hall struct {
	robot    body
	grabbing bool
}

const (
	barTurn  = 4 * math.Pi / 180 // rad, of one step
	barWidth = 0.12              // m: maximum distance to be on the midline
	barReach = 0.2               // m: maximum distance to be at the bar's centre
)

func (w *hall) holds(name string, _ []string) bool {
	switch b := &w.robot; name {
	case "is-grabbing":
		return w.grabbing
	case "at-bar-center":
		return math.Abs(b.x) <= barWidth && b.y <= barReach
	case "facing-bar":
		return b.faces(-math.Pi/2, barTurn/2)
	case "on-bar-midline":
		return math.Abs(b.x) <= barWidth
	}
	ahead := -w.robot.x / math.Cos(w.robot.heading) // facing-midline-zone: the way to the midline, if it lies ahead
	height := w.robot.y + ahead*math.Sin(w.robot.heading)
	return ahead > 0 && 0.5 <= height && height <= 2.5
}

func (w *hall) ended(string) {}

func (w *hall) do(name string, _ []string) error {
	switch name {
	case "move":
		w.robot.move(stride / 2)
	case "rotate":
		w.robot.heading += barTurn
	case "grab-bar":
		w.grabbing = true
	case "nil":
		return errDone
	}
	return nil
}

// A robot grabs the bar from many places.
func TestRobotGrabsBar(t *testing.T) {
	p := example(t, "bar.tr")
	for k := range 200 {
		r := random(k)
		execute(t, p, &hall{robot: body{point{6*r.Float64() - 3, 0.5 + 3*r.Float64()}, 2 * math.Pi * r.Float64()}}, 5000)
	}
}
