//go:build unix && !linux

package server

import "syscall"

// dieWithParent has no means here: a killed process leaves its server running.
func dieWithParent(*syscall.SysProcAttr) {}
