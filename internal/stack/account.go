package stack

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that a Postgres process runs as. Postgres refuses to run
// as root, so root starts it as "postgres", or "nobody" where that is missing;
// everyone else starts it as themselves.
type account struct {
	uid, gid uint32
	switched bool // we are root and change to it
}

func postgresAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		known, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(known.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(known.Gid, 10, 32)
		if errUID == nil && errGID == nil && uid != 0 {
			return account{uid: uint32(uid), gid: uint32(gid), switched: true}, nil
		}
	}
	return account{}, fmt.Errorf("running as root, and neither the user postgres nor nobody exists to run Postgres as")
}

// credential is nil when the process stays the user it is.
func (a account) credential() *syscall.Credential {
	if !a.switched {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// own gives a directory to the account.
func (a account) own(dir string) error {
	if !a.switched {
		return nil
	}
	return os.Chown(dir, int(a.uid), int(a.gid))
}

// canTraverse says whether the account can reach dir: every directory above it
// and dir itself must let it pass. dir must exist.
func (a account) canTraverse(dir string) bool {
	if !a.switched {
		return true
	}
	for {
		info, err := os.Stat(dir)
		if err != nil || !a.mayEnter(info) {
			return false
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		return true
	}
}

func (a account) mayEnter(info os.FileInfo) bool {
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	switch mode := info.Mode().Perm(); {
	case status.Uid == a.uid:
		return mode&0o100 != 0
	case status.Gid == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
