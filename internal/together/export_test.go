package together

// Waiting is how many wait for the next round trip.
func (t *Trips[Item, Result]) Waiting() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return len(t.waiting)
}
