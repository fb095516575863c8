package stack

import "syscall"

// endWithParent asks the kernel to send sig to the child when the thread that
// starts it ends.
func endWithParent(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }
