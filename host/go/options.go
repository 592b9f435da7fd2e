package seamgate

import (
	"os"
	"path/filepath"
	"runtime"
)

// An Option is a setting of a gate.
type Option func(*options)

type options struct {
	limits      Limits
	cacheDir    string
	noCache     bool
	interpreter bool
	instances   int
	baked       []byte
}

// WithLimits sets the limits of one call.
func WithLimits(limits Limits) Option { return func(o *options) { o.limits = limits } }

// WithCacheDir sets the folder in which machine code is cached. Anyone who can write to it can run code in this
// process. Default: a folder in the user's cache, if nobody else can write to it.
func WithCacheDir(folder string) Option { return func(o *options) { o.cacheDir = folder } }

// WithoutCache compiles the module in each process, which takes seconds.
func WithoutCache() Option { return func(o *options) { o.noCache = true } }

// WithInterpreter runs the module without compiling it. It starts at once, but each call takes about forty times as
// long.
func WithInterpreter() Option { return func(o *options) { o.interpreter = true } }

// WithInstances sets the number of calls that can run concurrently; others wait. Default: the number of processors that
// Go uses.
func WithInstances(count int) Option { return func(o *options) { o.instances = max(count, 1) } }

// WithBaked runs a component from `seamgate bake` of the same version. Its contracts and profiles need no
// [Gate.Register], and no others can be registered.
func WithBaked(component []byte) Option { return func(o *options) { o.baked = component } }

func (o *options) complete() (err error) {
	o.limits, err = o.limits.complete()
	if o.instances == 0 {
		o.instances = runtime.GOMAXPROCS(0)
	}
	if o.noCache || o.interpreter {
		o.cacheDir = ""
	} else if o.cacheDir == "" {
		o.cacheDir = ownCache()
	}
	return err
}

// ownCache returns a folder that nobody else can write to; empty if there is none.
func ownCache() string {
	caches, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	folder := filepath.Join(caches, "seamgate", "go")
	if os.MkdirAll(folder, 0o700) != nil || !isOwn(folder) {
		return ""
	}
	return folder
}
