//go:build unix

package seamgate

import (
	"os"
	"syscall"
)

// isOwn returns whether a folder belongs to this user, and nobody else can write to it.
func isOwn(folder string) bool {
	info, err := os.Lstat(folder)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}
