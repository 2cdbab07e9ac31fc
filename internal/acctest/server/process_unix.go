//go:build unix

package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// account is whom the server runs as: nil for this process's own user.
type account struct{ credential *syscall.Credential }

// unprivileged picks an account for the server, which refuses to run as root.
func unprivileged() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return account{}, errors.New("root may not run it, and there is neither a user postgres nor nobody")
		}
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return account{}, fmt.Errorf("reading the ids of user %s: %w", u.Username, err)
	}
	return account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// own hands a file or folder to the account.
func (a account) own(path string) error {
	if a.credential == nil {
		return nil
	}
	return os.Chown(path, int(a.credential.Uid), int(a.credential.Gid))
}

// apply makes the command run as the account, apart from this process's group:
// a Ctrl-C reaches only us, who then stop it.
func (a account) apply(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential, Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// quit is an immediate shutdown: the data is not to be kept.
func quit(p *os.Process) error { return p.Signal(syscall.SIGQUIT) }

// running says whether there is a process with the number, be it another user's.
func running(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
