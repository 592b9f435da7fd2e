package seamgate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Loop decides about the calls of one run and keeps its facts, so that each decision takes all previous ones into
// account. It is safe for concurrent use: decisions take turns.
type Loop struct {
	gate  *Gate
	agent string
	now   func() time.Time

	mutex sync.Mutex
	facts Facts
}

// Loop returns a loop that begins with these facts. If there is no nonce, a random one is generated.
func (g *Gate) Loop(agent string, facts Facts) *Loop {
	if facts.Nonce == "" {
		var random [16]byte
		_, _ = rand.Read(random[:])
		facts.Nonce = hex.EncodeToString(random[:])
	}
	return &Loop{gate: g, agent: agent, now: time.Now, facts: facts}
}

// Facts returns the current facts. To resume the loop later, store them and pass them to [Gate.Loop]. The nonce in them
// is a secret.
func (l *Loop) Facts() Facts {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.facts
}

// Surface decides which tools the model may see. From now on, calls of other tools are denied.
func (l *Loop) Surface(ctx context.Context, listed json.RawMessage) (*Surface, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	surface, err := l.gate.Surface(ctx, l.agent, l.current(), listed)
	if err != nil {
		return nil, err
	}
	return surface, l.change(surface.Facts)
}

// Permit decides whether a call may run. If it may, send the decision's arguments, and nothing else.
func (l *Loop) Permit(ctx context.Context, call Call) (*Decision, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	decision, err := l.gate.Permit(ctx, l.agent, l.current(), call)
	if err != nil {
		return nil, err
	}
	return decision, l.change(decision.Facts)
}

// Observe turns the result of a call into an observation. Show the model its message, and nothing else of the result.
func (l *Loop) Observe(ctx context.Context, call Call, result ToolResult) (*Observation, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	observation, err := l.gate.Observe(ctx, l.agent, l.current(), call, result)
	if err != nil {
		return nil, err
	}
	return observation, l.change(observation.Facts)
}

// ErrNothingAsked is the error of [Loop.Answer] for a decision that needs no approval.
var ErrNothingAsked = errors.New("seamgate: the decision asks for nothing: only one that needs approval does")

// Answer records a person's decision about a call that needs approval. Then call [Loop.Permit] for the same call again,
// which checks the approval. principal is the person who decides. The host knows who that is, and never takes it from
// text of the model.
func (l *Loop) Answer(decision *Decision, principal string, answer ApprovalAnswer) error {
	if decision.Ask == nil {
		return ErrNothingAsked
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	at := l.current().At
	decided := Decided{
		Key: decision.Ask.Key, Digest: decision.Ask.Digest, Decision: answer, Principal: principal, At: at,
	}
	l.facts.Approvals = append(slices.Clone(l.facts.Approvals), decided)
	return nil
}

// Spend charges the model's usage to the profile's budget: input and output tokens, and the time, without the time that
// a person took. Calls of tools are charged automatically.
func (l *Loop) Spend(tokens int64, elapsed time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var used Used
	if l.facts.Used != nil {
		used = *l.facts.Used
		used.Calls = maps.Clone(used.Calls)
	}
	used.Tokens += tokens
	used.MS += elapsed.Milliseconds()
	l.facts.Used = &used
}

// Update changes facts, such as the mode, the task or a value of the context.
func (l *Loop) Update(change func(*Facts)) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	change(&l.facts)
}

// current returns the facts with the current time. Time never goes back.
func (l *Loop) current() Facts {
	l.facts.At = max(l.now().UnixMilli(), l.facts.At)
	return l.facts
}

// change replaces members of the facts.
func (l *Loop) change(changed json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(changed, &members); err != nil {
		return err
	}
	facts := l.facts
	// Otherwise decoding would merge into the existing values, and change facts that a caller holds.
	for name := range members {
		switch name {
		case "used":
			facts.Used = nil
		case "surface":
			facts.Surface = nil
		case "labels":
			facts.Labels = nil
		case "asks":
			facts.Asks = nil
		case "approvals":
			facts.Approvals = nil
		}
	}
	if err := json.Unmarshal(changed, &facts); err != nil {
		return err
	}
	l.facts = facts
	return nil
}
