package notifications

import (
	"fmt"
	"time"
)

// Config bounds a dispatcher. Every field is required; DefaultConfig is a set that holds together.
type Config struct {
	PollInterval        time.Duration // how long a dispatcher without work waits before it looks again
	SendTimeout         time.Duration // one try, from dialling to the last byte that is read
	MarkTimeout         time.Duration // storing what a try came to
	Lease               time.Duration // how long a claimed message is left alone; more than SendTimeout + MarkTimeout
	BackoffFirst        time.Duration // before the second try; doubles with each try and is shortened at random by up to half
	BackoffMax          time.Duration // the longest wait between two tries
	MaxAge              time.Duration // a message older than this is parked instead of tried again
	MaxTries            int           // a message tried so often is parked
	MaxSends            int           // tries at a time
	MaxSendsPerEndpoint int           // tries at a time to one endpoint; less than MaxSends, so that one dead receiver delays no other
}

// DefaultConfig gives a receiver three days to come back: 23 to 40 tries, with three to six hours between the last ones.
func DefaultConfig() Config {
	return Config{
		PollInterval: 2 * time.Second, SendTimeout: 10 * time.Second, MarkTimeout: 5 * time.Second, Lease: 30 * time.Second,
		BackoffFirst: 5 * time.Second, BackoffMax: 6 * time.Hour, MaxAge: 72 * time.Hour, MaxTries: 40,
		MaxSends: 64, MaxSendsPerEndpoint: 4,
	}
}

// Validate refuses a field that is not positive and a relation that does not hold.
func (c Config) Validate() error {
	durations := []time.Duration{
		c.PollInterval, c.SendTimeout, c.MarkTimeout, c.Lease, c.BackoffFirst, c.BackoffMax, c.MaxAge,
	}
	for _, duration := range durations {
		if duration <= 0 {
			return fmt.Errorf("notifications: every duration must be positive: %+v", c)
		}
	}
	switch {
	case c.MaxTries < 1 || c.MaxSendsPerEndpoint < 1:
		return fmt.Errorf("notifications: every bound must be positive: %+v", c)
	case c.Lease <= c.SendTimeout+c.MarkTimeout:
		return fmt.Errorf("notifications: lease %s must exceed send time-out %s + mark time-out %s", c.Lease, c.SendTimeout, c.MarkTimeout)
	case c.BackoffMax < c.BackoffFirst:
		return fmt.Errorf("notifications: longest back-off %s is shorter than the first %s", c.BackoffMax, c.BackoffFirst)
	case c.MaxSendsPerEndpoint >= c.MaxSends:
		return fmt.Errorf("notifications: %d sends an endpoint would fill all %d", c.MaxSendsPerEndpoint, c.MaxSends)
	}
	return nil
}
