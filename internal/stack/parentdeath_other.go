//go:build !linux

package stack

import "syscall"

// endWithParent does nothing: only Linux can tie a child to its parent.
func endWithParent(*syscall.SysProcAttr, syscall.Signal) {}
