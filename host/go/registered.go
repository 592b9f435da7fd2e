package seamgate

import (
	"fmt"
	"slices"
	"sync"

	"seamgate.dev/go/internal/sandbox"
)

// A registered is a contract or a profile, which is registered in an instance before the instance needs it.
type registered struct {
	agent string
	// digest distinguishes it from others of the same agent.
	digest string
	bytes  int
	// request registers it in an instance.
	request []byte
	info    any
	// memory is a snapshot of an instance in which only this one is registered.
	memory *sandbox.Snapshot
	// spent is the fuel that compiling it used.
	spent int64
}

// A register has the contracts or the profiles of a gate.
type register struct {
	what string
	code FaultCode

	mutex   sync.RWMutex
	byAgent map[string]*registered
}

func newRegister(what string, code FaultCode) *register {
	return &register{what: what, code: code, byAgent: map[string]*registered{}}
}

// keep adds one. Adding the same one again has no effect.
func (r *register) keep(one *registered) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if held, ok := r.byAgent[one.agent]; ok {
		if held.digest != one.digest {
			message := fmt.Sprintf("the agent %q already has another %s: %s", one.agent, r.what, held.digest)
			return &Fault{Code: r.code, Message: message}
		}
		return nil
	}
	r.byAgent[one.agent] = one
	return nil
}

// names returns the agents, in ascending order.
func (r *register) names() []string {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	names := make([]string, 0, len(r.byAgent))
	for name := range r.byAgent {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// all returns all of them, sorted by agent.
func (r *register) all() []*registered {
	var all []*registered
	for _, name := range r.names() {
		if one := r.find(name); one != nil {
			all = append(all, one)
		}
	}
	return all
}

func (r *register) find(agent string) *registered {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	return r.byAgent[agent]
}

// of returns the contract or profile of an agent, or the fault [ErrUnknownAgent].
func (r *register) of(agent string) (*registered, error) {
	if one := r.find(agent); one != nil {
		return one, nil
	}
	message := fmt.Sprintf("no %s is registered for the agent %q", r.what, agent)
	return nil, &Fault{Code: ErrUnknownAgent, Message: message, Detail: FaultDetail{Agents: r.names()}}
}
