package webhooks

import (
	"sync"

	"payonce/payments"
)

// maxVersions bounds what a process remembers of the versions that it has seen; beyond it nothing more is said.
const maxVersions = 100

// versions are the API versions of events, other than the engine's, that were told of already.
type versions struct {
	mutex sync.Mutex
	seen  map[accountVersion]struct{}
}

type accountVersion struct {
	account payments.Account
	version string
}

// first tells whether the account's events come in the version for the first time.
func (v *versions) first(account payments.Account, version string) bool {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	of := accountVersion{account, version}
	if _, seen := v.seen[of]; seen || len(v.seen) >= maxVersions {
		return false
	}
	if v.seen == nil {
		v.seen = map[accountVersion]struct{}{}
	}
	v.seen[of] = struct{}{}
	return true
}
