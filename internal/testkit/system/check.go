package system

func (s *System) check() {}
