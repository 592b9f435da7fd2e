package seamgate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"seamgate.dev/go/internal/sandbox"
)

// A Gate judges outputs and calls, each in an instance whose memory is reset to that of a new one. It is safe for
// concurrent use.
type Gate struct {
	engine    *sandbox.Engine
	limits    Limits
	contracts *register
	profiles  *register
	// isBaked is true if the contracts and profiles are baked into the module.
	isBaked bool
	digest  func() string
}

// New creates a gate. The first gate of a version compiles the module, which takes seconds, and caches the machine
// code; see [WithCacheDir]. The context bounds the compilation.
func New(ctx context.Context, with ...Option) (*Gate, error) {
	var o options
	for _, option := range with {
		option(&o)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	engine, err := sandbox.New(ctx, sandbox.Config{
		Module: module, Baked: o.baked, CacheDir: o.cacheDir, Interpreter: o.interpreter, Instances: o.instances,
	})
	if err != nil {
		return nil, fmt.Errorf("seamgate: %w", err)
	}
	digest := sync.OnceValue(func() string {
		digest := sha256.Sum256(module)
		if o.baked != nil {
			digest = sha256.Sum256(o.baked)
		}
		return "sha256:" + hex.EncodeToString(digest[:])
	})
	return newGate(engine, o.limits, o.baked != nil, digest), nil
}

func newGate(engine *sandbox.Engine, limits Limits, isBaked bool, digest func() string) *Gate {
	return &Gate{
		engine: engine, limits: limits, isBaked: isBaked, digest: digest,
		contracts: newRegister("contract", ErrBadContract), profiles: newRegister("profile", ErrBadProfile),
	}
}

// ErrClosed is the error of a call on a gate that was closed.
var ErrClosed = sandbox.ErrClosed

// Close waits for running calls, and frees the machine code and the memory of the gate and its siblings.
func (g *Gate) Close() error {
	g.engine.Close()
	return nil
}

// Sibling returns another gate with the same machine code, in which nothing is registered. Closing either closes both.
func (g *Gate) Sibling() *Gate { return newGate(g.engine, g.limits, g.isBaked, g.digest) }

// Limits returns the limits of one call.
func (g *Gate) Limits() Limits { return g.limits }

// Module returns `sha256:` and the digest of the module, or of the baked component. Only the fuel of calls of the same
// module can be compared.
func (g *Gate) Module() string { return g.digest() }

// Register checks a contract and registers it: from now on, outputs of its agent are judged by it. Registering the same
// contract again has no effect. A contract is one self-contained document (`schemas/contract.schema.json`), with the
// schema inside.
//
// It returns the fault [ErrBadContract] if the contract is invalid or the agent already has another one.
func (g *Gate) Register(ctx context.Context, contract []byte) (*ContractInfo, error) {
	info := new(ContractInfo)
	one, err := g.compile(ctx, g.contracts, "register", contract, info)
	if err != nil {
		return nil, err
	}
	one.agent, one.digest = info.Agent, info.Contract
	return info, g.contracts.keep(one)
}

// Has returns whether a contract is registered for an agent.
func (g *Gate) Has(agent string) bool {
	for _, name := range g.Names() {
		if name == agent {
			return true
		}
	}
	return false
}

// Names returns the agents that have a contract, in ascending order.
func (g *Gate) Names() []string {
	if !g.isBaked {
		return g.contracts.names()
	}
	var names []string
	if err := g.about(context.Background(), "names", "", &names); err != nil {
		return nil
	}
	return names
}

// Contract returns the contract that is registered for an agent, or the fault [ErrUnknownAgent].
func (g *Gate) Contract(ctx context.Context, agent string) (*ContractInfo, error) {
	if !g.isBaked {
		one, err := g.contracts.of(agent)
		if err != nil {
			return nil, err
		}
		return one.info.(*ContractInfo), nil
	}
	info := new(ContractInfo)
	return info, g.about(ctx, "contract", agent, info)
}

// Describe returns text for an agent's prompt that says what its output must be.
func (g *Gate) Describe(ctx context.Context, agent string) (text string, err error) {
	err = g.about(ctx, "describe", agent, &text)
	return text, err
}

// Lint returns warnings about likely mistakes in a contract. The contract need not be registered.
func (g *Gate) Lint(ctx context.Context, contract []byte) ([]Warning, error) {
	var warnings []Warning
	_, err := g.compile(ctx, g.contracts, "lint", contract, &warnings)
	return warnings, err
}

// Validate judges one output. For a rejected output it returns a report and no error. A [*Fault] means that there is no
// verdict.
func (g *Gate) Validate(ctx context.Context, request Request) (*Verdict, error) {
	return g.once().validate(ctx, &request)
}

// Call answers one request that is JSON text (`schemas/request.schema.json`). The limit on the size of outputs applies
// to it. Faults of the request itself are returned as answers; only an exceeded limit is an error.
func (g *Gate) Call(ctx context.Context, request []byte) (*Answer, error) {
	return g.once().call(ctx, request)
}

// Merge merges the reports of several attempts, in order, and judges the result as a whole. All must belong to one
// agent. The request provides the lists and the evidence; its output is ignored.
func (g *Gate) Merge(ctx context.Context, reports []*Report, request Request) (*Verdict, error) {
	if len(reports) == 0 {
		return nil, &Fault{Code: ErrBadRequest, Message: "reports: there must be one at least to merge"}
	}
	var first struct{ Agent string }
	if err := json.Unmarshal(reports[0].json, &first); err != nil {
		return nil, err
	}
	text := appendText([]byte(`{"op":"merge","agent":`), first.Agent)
	text, _, err := request.extras(text, false)
	if err != nil {
		return nil, err
	}
	text = append(text, `,"reports":[`...)
	for index, report := range reports {
		if index > 0 {
			text = append(text, ',')
		}
		text = append(text, report.json...)
	}
	text = append(text, "]}"...)
	var needed []*registered
	if one := g.contracts.find(first.Agent); one != nil {
		needed = append(needed, one)
	}
	return g.once().verdict(ctx, needed, written{text, len(text)})
}

// compile makes an instance read a contract or profile, and stores its answer in result.
func (g *Gate) compile(ctx context.Context, of *register, op string, text []byte, result any) (*registered, error) {
	if err := document(of.what, text, of.code); err != nil {
		return nil, err
	}
	request := bytes.Join([][]byte{[]byte(`{"op":"` + op + `","` + of.what + `":`), text, []byte("}")}, nil)
	instance, err := g.engine.Take(ctx, g.engine.Fresh(), g.limits.Timeout)
	if err != nil {
		return nil, ended(err, 0, 0, "")
	}
	defer instance.Release()
	budget := g.limits.fuelForContract(len(text))
	answer, spent, err := instance.Call(ctx, time.Now().Add(g.limits.Timeout), budget, request)
	if err != nil {
		return nil, ended(err, budget, g.limits.Timeout, "compiling")
	}
	told, err := answered(answer, "result")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(told, result); err != nil {
		return nil, err
	}
	memory, err := instance.Snapshot()
	if err != nil {
		return nil, err
	}
	return &registered{bytes: len(text), request: request, info: result, memory: memory, spent: spent}, nil
}

// about sends a request about an agent's contract, or about all contracts.
func (g *Gate) about(ctx context.Context, op, agent string, result any) error {
	text := []byte(`{"op":"` + op + `"`)
	var needed []*registered
	if agent != "" {
		text = appendText(append(text, `,"agent":`...), agent)
	}
	text = append(text, '}')
	if !g.isBaked {
		of := g.contracts
		if op == "describe_profile" {
			of = g.profiles
		}
		one, err := of.of(agent)
		if err != nil {
			return err
		}
		needed = append(needed, one)
	}
	told, _, err := g.once().ask(ctx, needed, written{text, 0}, "result")
	if err != nil {
		return err
	}
	return json.Unmarshal(told, result)
}

// A judge answers calls, each in a fresh instance or all in one.
type judge struct {
	gate *Gate
	// again is the instance for all calls; nil for fresh instances.
	again *Instance
}

func (g *Gate) once() *judge { return &judge{gate: g} }

func (j *judge) validate(ctx context.Context, request *Request) (*Verdict, error) {
	written, err := request.validation(&j.gate.limits)
	if err != nil {
		return nil, err
	}
	var needed []*registered
	if request.Contract == nil && !j.gate.isBaked {
		one, err := j.gate.contracts.of(request.Agent)
		if err != nil {
			return nil, err
		}
		needed = []*registered{one}
	}
	return j.verdict(ctx, needed, written)
}

func (j *judge) verdict(ctx context.Context, needed []*registered, request written) (*Verdict, error) {
	report, usage, err := j.ask(ctx, needed, request, "report")
	if err != nil {
		return nil, err
	}
	return &Verdict{Report: newReport(report), Usage: usage}, nil
}

func (j *judge) ask(ctx context.Context, needed []*registered, request written, member string) ([]byte, Usage, error) {
	answer, usage, err := j.within(ctx, needed, request)
	if err != nil {
		return nil, usage, err
	}
	told, err := answered(answer, member)
	return told, usage, err
}

func (j *judge) call(ctx context.Context, request []byte) (*Answer, error) {
	if err := j.gate.limits.smallEnough(len(request)); err != nil {
		return nil, err
	}
	if _, at := replaced(request); at >= 0 {
		return nil, &Fault{Code: ErrBadRequest, Message: fmt.Sprintf("request: it must be UTF-8, and is not at byte %d", at)}
	}
	answer, usage, err := j.within(ctx, j.gate.neededFor(request), written{request, len(request)})
	if err != nil {
		return nil, err
	}
	return &Answer{JSON: answer, Usage: usage}, nil
}

// neededFor returns the contracts and profiles that a request may need. A verdict needs the contract of the agent that
// the request names, and a decision needs the profile. Any other request may need all of them.
func (g *Gate) neededFor(request []byte) []*registered {
	if g.isBaked {
		return nil
	}
	var asked struct {
		Op    *string
		Agent string
	}
	// The module reports what is wrong with an invalid request.
	if json.Unmarshal(request, &asked) != nil {
		return nil
	}
	one := func(of *register) []*registered {
		if one := of.find(asked.Agent); one != nil {
			return []*registered{one}
		}
		return nil
	}
	switch {
	case asked.Op == nil || *asked.Op == "validate":
		return one(g.contracts)
	case isDecision(*asked.Op):
		return one(g.profiles)
	case bytes.Contains([]byte(*asked.Op), []byte("profile")):
		return g.profiles.all()
	default:
		return g.contracts.all()
	}
}

// within calls an instance in which the needed contracts and profiles are registered. Each is compiled within its own
// budget, and the rest of that budget is not available to the call.
func (j *judge) within(ctx context.Context, needed []*registered, request written) ([]byte, Usage, error) {
	start := time.Now()
	instance, ready, err := j.take(ctx, needed)
	if err != nil {
		return nil, Usage{}, ended(err, 0, 0, "")
	}
	defer instance.release()
	limits := &j.gate.limits
	deadline := start.Add(limits.Timeout)
	all, spent := request.bytes, ready
	for _, one := range needed {
		if instance.has(one) {
			if j.again == nil {
				// The fuel is charged as if it were compiled now, so that usage is deterministic.
				all += one.bytes
			}
			continue
		}
		all += one.bytes
		budget := limits.fuelForContract(one.bytes)
		answer, used, err := instance.inner.Call(ctx, deadline, budget, one.request)
		if err == nil {
			_, err = answered(answer, "result")
		} else {
			err = ended(err, budget, limits.Timeout, "compiling")
		}
		if err != nil {
			instance.broke()
			return nil, Usage{}, err
		}
		spent += used
		instance.given = append(instance.given, one)
	}
	budget := limits.fuelFor(all)
	answer, used, err := instance.inner.Call(ctx, deadline, budget, request.text)
	if err != nil {
		instance.broke()
		return nil, Usage{}, ended(err, budget, limits.Timeout, "the verdict")
	}
	return answer, Usage{Fuel: spent + used, Memory: instance.inner.Memory(), Elapsed: time.Since(start)}, nil
}

// take returns an instance, and the fuel that was spent on the contracts and profiles in it.
func (j *judge) take(ctx context.Context, needed []*registered) (*held, int64, error) {
	if j.again != nil {
		return j.again.hold()
	}
	engine, patience := j.gate.engine, j.gate.limits.Timeout
	if len(needed) == 1 {
		instance, err := engine.Take(ctx, needed[0].memory, patience)
		return &held{inner: instance, given: needed}, needed[0].spent, err
	}
	instance, err := engine.Take(ctx, engine.Fresh(), patience)
	return &held{inner: instance}, 0, err
}

// A held instance is in use by one call.
type held struct {
	inner  *sandbox.Instance
	given  []*registered
	again  *Instance
	broken bool
}

func (h *held) has(one *registered) bool {
	for _, given := range h.given {
		if given == one {
			return true
		}
	}
	return false
}

// broke marks the instance as unusable, because it was stopped.
func (h *held) broke() { h.broken = true }

func (h *held) release() {
	switch {
	case h.again != nil:
		h.again.keep(h)
	default:
		h.inner.Release()
	}
}

// An Instance can be used for more than one call. It is for callers who trust all their producers equally, because one
// output can affect the state that the next one finds. The reports are the same bytes, and contracts are compiled only
// once. It is safe for concurrent use: calls take turns.
type Instance struct {
	judge judge

	mutex  sync.Mutex
	inner  *sandbox.Instance
	given  []*registered
	closed bool
}

// Instance returns an instance. Close it after use.
func (g *Gate) Instance() *Instance {
	i := &Instance{judge: judge{gate: g}}
	i.judge.again = i
	return i
}

// Validate judges one output: see [Gate.Validate].
func (i *Instance) Validate(ctx context.Context, request Request) (*Verdict, error) {
	return i.judge.validate(ctx, &request)
}

// Call answers one request that is JSON text: see [Gate.Call].
func (i *Instance) Call(ctx context.Context, request []byte) (*Answer, error) {
	return i.judge.call(ctx, request)
}

// Close frees the instance.
func (i *Instance) Close() error {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.closed = true
	if i.inner != nil {
		i.inner.Release()
		i.inner = nil
	}
	return nil
}

var errInstanceClosed = errors.New("seamgate: the instance was closed")

func (i *Instance) hold() (*held, int64, error) {
	i.mutex.Lock()
	if i.closed {
		i.mutex.Unlock()
		return nil, 0, errInstanceClosed
	}
	if i.inner == nil {
		inner, err := i.judge.gate.engine.Open(i.judge.gate.engine.Fresh())
		if err != nil {
			i.mutex.Unlock()
			return nil, 0, err
		}
		i.inner, i.given = inner, nil
	}
	return &held{inner: i.inner, given: i.given, again: i}, 0, nil
}

func (i *Instance) keep(h *held) {
	i.given = h.given
	if h.broken {
		// The next call starts a fresh instance.
		i.inner.Release()
		i.inner = nil
	}
	i.mutex.Unlock()
}
