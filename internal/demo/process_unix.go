//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// apart gives the command a process group of its own. A Ctrl-C then reaches only
// us, and we tell it once: Terraform takes two for an order to drop everything,
// and leaves its provider running.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }

// kill ends the process and what it started.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
