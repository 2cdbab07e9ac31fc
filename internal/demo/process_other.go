//go:build !unix

package main

import (
	"os"
	"os/exec"
)

func apart(*exec.Cmd) {}

// interrupt ends the process: there is no signal that asks it to stop.
func interrupt(p *os.Process) error { return p.Kill() }

func kill(p *os.Process) { _ = p.Kill() }
