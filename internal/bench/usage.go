package main

// usage is the CPU time of processes so far, in seconds, by name.
type usage map[string]float64

// usageOf reads what Postgres, Temporal and the named processes have used. The load is this process, and is not in it.
func (p *place) usageOf(processes ...string) usage {
	used := usage{"postgres": spentByTree(p.cluster.PID())}
	for _, name := range append(processes, procTemporal) {
		used[name] = spent(p.supervisor.PID(name), false)
	}
	return used
}

// since is what was used after an earlier reading.
func (u usage) since(before usage) usage {
	used := usage{}
	for name, seconds := range u {
		used[name] = seconds - before[name]
	}
	return used
}

func (u usage) total() float64 {
	total := 0.0
	for _, seconds := range u {
		total += seconds
	}
	return total
}
