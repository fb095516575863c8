package notifications

// CheckDial is what the dialler asks of the address that a name has turned out to have, as ip:port.
func (a *Addresses) CheckDial(address string) error { return a.control("tcp", address, nil) }
