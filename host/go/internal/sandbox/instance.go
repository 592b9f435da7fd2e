package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// step is the fuel that an instance receives at once. Between two steps, it checks whether its context has ended. A
// step takes about half a millisecond.
const step = 1 << 20

// An Instance has a memory of its own. One goroutine at a time may use it.
type Instance struct {
	engine *Engine
	memory memory
	// apart is true if the instance does not count towards the concurrent calls.
	apart bool

	module    api.Module
	linear    api.Memory
	allocate  api.Function
	call      api.Function
	post      api.Function
	fuel      api.MutableGlobal
	refused   api.MutableGlobal
	parameter [4]uint64
}

// An EndError is the error of a call that ended without an answer.
type EndError struct {
	// Why is the reason.
	Why End
	// Cause is the error of the context for [Ended], and the error of wazero for [Trapped].
	Cause error
}

// An End is the reason why a call ended without an answer.
type End int

// Reasons for the end of a call.
const (
	// Trapped: the module failed.
	Trapped End = iota
	// OutOfFuel: the call used all its fuel.
	OutOfFuel
	// OutOfMemory: the call asked for more memory than an instance may have.
	OutOfMemory
	// StackOverflow: the call used all its stack.
	StackOverflow
	// Ended: the context of the call ended.
	Ended
)

func (e *EndError) Error() string { return fmt.Sprintf("the call ended (%d): %v", e.Why, e.Cause) }

func (e *EndError) Unwrap() error { return e.Cause }

// begin resets the memory to a snapshot. A module that grew its memory, or was stopped, is instantiated again.
func (i *Instance) begin(s *Snapshot) error {
	if err := i.engine.enter(); err != nil {
		return err
	}
	defer i.engine.leave()
	if err := i.memory.reset(s); err != nil {
		i.discard()
		return err
	}
	if i.module != nil && int(i.linear.Size()) == s.size {
		return nil
	}
	i.discard()
	i.memory.begin(s.size)
	// The caller's context must not interrupt the instantiation.
	ctx := experimental.WithMemoryAllocator(context.Background(), allocator{i.memory})
	module, err := i.engine.runtime.InstantiateModule(ctx, i.engine.compiled, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return fmt.Errorf("cannot make an instance: %w", err)
	}
	fuel, isFuel := module.ExportedGlobal("fuel").(api.MutableGlobal)
	refused, isRefused := module.ExportedGlobal("memory_refused").(api.MutableGlobal)
	if !isFuel || !isRefused {
		return errors.New("the module does not count its fuel")
	}
	i.module, i.linear, i.fuel, i.refused = module, module.Memory(), fuel, refused
	i.allocate, i.call = module.ExportedFunction("allocate"), module.ExportedFunction("call")
	i.post = module.ExportedFunction("call_post")
	return nil
}

func (i *Instance) discard() {
	if i.module != nil {
		_ = i.module.Close(context.Background())
		i.module = nil
	}
}

// Reset resets the memory to a snapshot, for the next call.
func (i *Instance) Reset(s *Snapshot) error { return i.begin(s) }

// Release returns the instance to the engine.
func (i *Instance) Release() {
	apart := i.apart
	i.apart = false
	i.engine.putBack(i)
	if !apart {
		<-i.engine.room
	}
}

// Snapshot returns a snapshot of the memory.
func (i *Instance) Snapshot() (*Snapshot, error) {
	if err := i.engine.enter(); err != nil {
		return nil, err
	}
	defer i.engine.leave()
	return i.memory.snapshot()
}

// Memory returns the size of the instance's memory, in bytes. Memory never shrinks, so this is also its peak.
func (i *Instance) Memory() int { return i.memory.size() }

// Call answers a request, which must be UTF-8, within this much fuel and before the deadline. It returns the answer and
// the fuel that was used. After an error, the instance must be reset.
func (i *Instance) Call(ctx context.Context, deadline time.Time, fuel int64, request []byte) ([]byte, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, &EndError{Ended, err}
	}
	if err := i.engine.enter(); err != nil {
		return nil, 0, err
	}
	defer i.engine.leave()
	budget := &budget{ctx: ctx, deadline: deadline, fuel: i.fuel, left: fuel}
	i.refused.Set(0)
	budget.fill(0)
	answer, err := i.ask(context.WithValue(context.Background(), budgetKey{}, budget), request)
	if err != nil {
		i.discard()
		return nil, 0, i.why(budget, err)
	}
	return answer, fuel - budget.left - int64(i.fuel.Get()), nil
}

func (i *Instance) ask(ctx context.Context, request []byte) ([]byte, error) {
	stack := i.parameter[:]
	stack[0], stack[1], stack[2], stack[3] = 0, 0, 1, uint64(len(request))
	if err := i.allocate.CallWithStack(ctx, stack); err != nil {
		return nil, err
	}
	at := uint32(stack[0])
	if !i.linear.Write(at, request) {
		return nil, errOutside
	}
	stack[0], stack[1] = uint64(at), uint64(len(request))
	if err := i.call.CallWithStack(ctx, stack); err != nil {
		return nil, err
	}
	result := uint32(stack[0])
	place, ok := i.linear.Read(result, 8)
	if !ok {
		return nil, errOutside
	}
	text, ok := i.linear.Read(binary.LittleEndian.Uint32(place), binary.LittleEndian.Uint32(place[4:]))
	if !ok {
		return nil, errOutside
	}
	answer := append([]byte(nil), text...)
	stack[0] = uint64(result)
	return answer, i.post.CallWithStack(ctx, stack)
}

var errOutside = errors.New("an address lies outside of the memory")

func (i *Instance) why(budget *budget, err error) error {
	switch {
	case budget.ended != nil:
		return &EndError{Ended, budget.ended}
	case budget.empty:
		return &EndError{OutOfFuel, err}
	case i.refused.Get() != 0:
		return &EndError{OutOfMemory, err}
	case strings.Contains(err.Error(), "stack overflow"):
		return &EndError{StackOverflow, err}
	default:
		return &EndError{Trapped, err}
	}
}

// allocator provides the memory of an instance.
type allocator struct{ memory memory }

// Allocate implements [experimental.MemoryAllocator].
func (a allocator) Allocate(_, _ uint64) experimental.LinearMemory { return a.memory }

// A budget is the fuel that a call may use.
type budget struct {
	ctx      context.Context
	deadline time.Time
	fuel     api.MutableGlobal
	// left is the fuel that the module has not received yet.
	left  int64
	ended error
	empty bool
}

type budgetKey struct{}

// fill gives the module its next step, minus the fuel that it has already used.
func (b *budget) fill(before int64) {
	next := min(b.left, step)
	b.left -= next
	b.fuel.Set(uint64(before + next))
}

// ErrDeadline is the error of a call that its deadline ended, not its context.
var ErrDeadline = fmt.Errorf("the deadline of the call: %w", context.DeadlineExceeded)

var errStopped = errors.New("the call was stopped")

// refuel is the function that a module without fuel calls.
func refuel(ctx context.Context, _ api.Module, _ []uint64) {
	b, ok := ctx.Value(budgetKey{}).(*budget)
	if !ok {
		panic(errStopped)
	}
	for int64(b.fuel.Get()) <= 0 {
		if b.left <= 0 {
			b.empty = true
			panic(errStopped)
		}
		if b.ended = b.ctx.Err(); b.ended == nil && !time.Now().Before(b.deadline) {
			b.ended = ErrDeadline
		}
		if b.ended != nil {
			panic(errStopped)
		}
		b.fill(int64(b.fuel.Get()))
	}
}
