package sim

// Follow lets a new simulator go on at the present time of another one, whose states are the same ones: the simulator
// goes on counting its work and, where same has the number of the same indicator there, -1 for none, keeps the side to
// which that one is committed, also within the accuracy of its value. It panics if the states or options differ.
func (s *Simulator) Follow(o *Simulator, same []int) {
	s.integrator.CopyFrom(o.integrator)
	s.integrator.Restart(s.T, s.Y)
	s.stats = o.stats
	s.stats.Restarts++
	for i, k := range same {
		if k < 0 || o.search.resting[k] {
			continue
		}
		s.take(i, o, k)
		s.ran.before.Above[i] = o.Above[k]
	}
	s.renew()
}

// take gives an indicator the side of one of a simulator at the same time, also within the accuracy of its value.
func (s *Simulator) take(i int, o *Simulator, k int) {
	s.stray(i, o.Above[k])
	if b := o.search.bias[k]; b != 0 {
		s.hold(i, max(b, -b), o.Above[k])
	}
}
