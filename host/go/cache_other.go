//go:build !unix

package seamgate

// isOwn returns true: elsewhere, the folder for caches is the user's own.
func isOwn(string) bool { return true }
