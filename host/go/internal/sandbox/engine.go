// Package sandbox runs the metered module of seamgate on wazero: it compiles the module, creates instances, resets
// their memory after each use, and ends calls that exceed their limits.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Config has the settings of an engine.
type Config struct {
	// Module is the module that `cargo xtask go` puts beside this package.
	Module []byte
	// Baked is a component from `seamgate bake`; empty for the module without contracts.
	Baked []byte
	// CacheDir is the folder in which wazero caches machine code; empty for no cache.
	CacheDir string
	// Interpreter runs the module without compiling it.
	Interpreter bool
	// Instances is the number of calls that can run concurrently.
	Instances int
}

// An Engine has the compiled module and the instances that are not in use. It is safe for concurrent use.
type Engine struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	cache    wazero.CompilationCache
	images   images
	fresh    *Snapshot
	// room has a token for each call that may begin.
	room chan struct{}

	// running is locked for reading while the machine code or the image is in use.
	running sync.RWMutex
	closed  bool

	mutex sync.Mutex
	idle  []*Instance
}

// New compiles the module, or reads its machine code from the cache.
func New(ctx context.Context, config Config) (*Engine, error) {
	module, err := split(config.Module)
	if err != nil {
		return nil, err
	}
	if len(config.Baked) > 0 {
		if module, err = module.baked(config.Baked); err != nil {
			return nil, err
		}
	}
	e := &Engine{fresh: &Snapshot{size: len(module.image)}, room: make(chan struct{}, config.Instances)}
	settings := wazero.NewRuntimeConfig()
	if config.Interpreter {
		settings = wazero.NewRuntimeConfigInterpreter()
	}
	if config.CacheDir != "" {
		if e.cache, err = wazero.NewCompilationCacheWithDir(config.CacheDir); err != nil {
			return nil, fmt.Errorf("cannot use the cache %s: %w", config.CacheDir, err)
		}
		settings = settings.WithCompilationCache(e.cache)
	}
	e.runtime = wazero.NewRuntimeWithConfig(ctx, settings)
	if err := e.compile(ctx, module); err != nil {
		e.Close()
		return nil, err
	}
	e.images = newImages(module.image)
	return e, nil
}

func (e *Engine) compile(ctx context.Context, module *module) error {
	host := e.runtime.NewHostModuleBuilder("seamgate").NewFunctionBuilder()
	host = host.WithGoModuleFunction(api.GoModuleFunc(refuel), nil, nil)
	if _, err := host.Export("refuel").Instantiate(ctx); err != nil {
		return err
	}
	var err error
	workers := experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	e.compiled, err = e.runtime.CompileModule(workers, module.code)
	return err
}

// Close waits for running calls, and frees everything. Later calls fail with [ErrClosed].
func (e *Engine) Close() {
	e.running.Lock()
	defer e.running.Unlock()
	if e.closed {
		return
	}
	e.closed = true
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for _, instance := range e.idle {
		instance.memory.release()
	}
	e.idle = nil
	ctx := context.Background()
	_ = e.runtime.Close(ctx)
	if e.cache != nil {
		_ = e.cache.Close(ctx)
	}
	if e.images != nil {
		e.images.release()
	}
}

// ErrClosed is the error of a call on an engine that was closed.
var ErrClosed = errors.New("seamgate: the gate was closed")

// enter begins a use of the machine code or the image. Call leave at the end.
func (e *Engine) enter() error {
	e.running.RLock()
	if e.closed {
		e.running.RUnlock()
		return ErrClosed
	}
	return nil
}

func (e *Engine) leave() { e.running.RUnlock() }

// Fresh is the snapshot of the memory that an instance begins with.
func (e *Engine) Fresh() *Snapshot { return e.fresh }

// ErrBusy is the error of a call that waited in vain for an instance.
var ErrBusy = errors.New("no instance was free in time")

// Take waits for an instance with this memory, until the context ends or patience has passed. Return it with
// [Instance.Release].
func (e *Engine) Take(ctx context.Context, memory *Snapshot, patience time.Duration) (*Instance, error) {
	select {
	case e.room <- struct{}{}:
	default:
		patient := time.NewTimer(patience)
		defer patient.Stop()
		select {
		case e.room <- struct{}{}:
		case <-patient.C:
			return nil, ErrBusy
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
		}
	}
	instance, err := e.instance(memory)
	if err != nil {
		<-e.room
	}
	return instance, err
}

// Open returns a separate instance, which does not count towards the concurrent calls.
func (e *Engine) Open(memory *Snapshot) (*Instance, error) {
	instance, err := e.instance(memory)
	if err == nil {
		instance.apart = true
	}
	return instance, err
}

func (e *Engine) instance(memory *Snapshot) (*Instance, error) {
	instance, err := e.idleInstance()
	if err != nil {
		return nil, err
	}
	if err := instance.begin(memory); err != nil {
		e.putBack(instance)
		return nil, err
	}
	return instance, nil
}

func (e *Engine) idleInstance() (*Instance, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if last := len(e.idle) - 1; last >= 0 {
		instance := e.idle[last]
		e.idle = e.idle[:last]
		return instance, nil
	}
	memory, err := e.images.memory()
	if err != nil {
		return nil, err
	}
	return &Instance{engine: e, memory: memory}, nil
}

func (e *Engine) putBack(instance *Instance) {
	if e.enter() != nil {
		instance.memory.release()
		return
	}
	defer e.leave()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.idle = append(e.idle, instance)
}
