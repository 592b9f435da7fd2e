package seamgate

import (
	"os"
	"path/filepath"
	"runtime"
)

// An Option sets up a gate.
type Option func(*options)

type options struct {
	limits      Limits
	cacheDir    string
	noCache     bool
	interpreter bool
	instances   int
	baked       []byte
}

// WithLimits sets what one call may use.
func WithLimits(limits Limits) Option { return func(o *options) { o.limits = limits } }

// WithCacheDir sets the folder with machine code. Whoever can write to it can run code in this process. Default: a folder of
// the user's cache, if nobody else can write to it.
func WithCacheDir(folder string) Option { return func(o *options) { o.cacheDir = folder } }

// WithoutCache compiles the module for each process. That takes seconds.
func WithoutCache() Option { return func(o *options) { o.noCache = true } }

// WithInterpreter runs the module without compiling it: it starts at once, and each call takes about forty times as long.
func WithInterpreter() Option { return func(o *options) { o.interpreter = true } }

// WithInstances sets how many calls run at once; others wait. Default: as many as there are processors for Go.
func WithInstances(count int) Option { return func(o *options) { o.instances = max(count, 1) } }

// WithBaked runs a component that `seamgate bake` of the same version made: its contracts and profiles are there without
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
