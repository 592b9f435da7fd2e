// Package ops has what the recipes share: a profile, and a loop that decides by it.
package ops

import (
	"context"
	_ "embed"
	"fmt"
	"sync/atomic"

	seamgate "seamgate.dev/go"
)

//go:embed ops.profile.json
var profile []byte

// A Guard decides about the calls of one run.
type Guard struct {
	*seamgate.Loop
	// Approve asks a person, and returns who decided, and whether to approve. Nil rejects.
	Approve func(ctx context.Context, ask *seamgate.Ask) (principal string, approved bool)

	calls atomic.Int64
}

// New registers the profile, and begins a run.
func New(ctx context.Context, gate *seamgate.Gate) (*Guard, error) {
	info, err := gate.RegisterProfile(ctx, profile)
	if err != nil {
		return nil, err
	}
	return &Guard{Loop: gate.Loop(info.Agent, seamgate.Facts{Run: "run-1", Principal: "user:42"})}, nil
}

// Decide permits a call, or asks a person first. It gives the call a key of its own.
func (g *Guard) Decide(ctx context.Context, call *seamgate.Call) (*seamgate.Decision, error) {
	call.Key = fmt.Sprintf("call-%d", g.calls.Add(1))
	decision, err := g.Permit(ctx, *call)
	if err != nil || decision.Permit != seamgate.PermitApproval || g.Approve == nil {
		return decision, err
	}
	answer := seamgate.ApprovalAnswerRejected
	principal, approved := g.Approve(ctx, decision.Ask)
	if approved {
		answer = seamgate.ApprovalAnswerApproved
	}
	if err := g.Answer(decision, principal, answer); err != nil {
		return nil, err
	}
	return g.Permit(ctx, *call)
}
