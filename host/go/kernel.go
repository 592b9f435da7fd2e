package seamgate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// ProfileInfo describes a registered profile.
type ProfileInfo struct {
	// Agent is the agent that it is for.
	Agent   string `json:"agent"`
	Version string `json:"version"`
	// Profile is its digest: `sha256:` and 64 hexadecimal digits.
	Profile string `json:"profile"`
	// Tools are the full names of its tools, in its order.
	Tools []string `json:"tools"`
	// Lists are those that its scopes name, in ascending order.
	Lists []string `json:"lists"`
	// Disabled are the tools whose pinned definition is invalid.
	Disabled []DisabledTool `json:"disabled"`
}

// A DisabledTool is a tool whose pinned definition is invalid: what is wrong with it, and where.
type DisabledTool struct {
	Tool    string `json:"tool"`
	Message string `json:"message"`
}

// A Call is what the model asked for (`schemas/call.schema.json`). It is a wish: [Gate.Permit] decides.
type Call struct {
	// Key is the caller's own name for this call, another one for each call. The ids of models may repeat.
	Key string `json:"key"`
	// Server is where the tool runs. It may be empty if one tool has this name.
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool"`
	// Arguments is an object, of which the text without optional white space is sent; or a JSON string, whose text is sent as
	// it is. Default: an empty object.
	Arguments json.RawMessage `json:"arguments"`
}

// ToolResult is what a tool returned (`schemas/result.schema.json`). One of Result, Text and Returned is there, or Head and
// Tail with Length and Digest.
type ToolResult struct {
	// Status is [ResultStatusError] if the tool says that it failed.
	Status ResultStatus `json:"status,omitempty"`
	// Result is a JSON document.
	Result json.RawMessage `json:"result,omitempty"`
	Text   *string         `json:"text,omitempty"`
	// Returned is a whole result of the Model Context Protocol, which says itself whether the tool failed.
	Returned json.RawMessage `json:"returned,omitempty"`
	// Head and Tail stand for a text that is too large to be handed on.
	Head   *string `json:"head,omitempty"`
	Tail   *string `json:"tail,omitempty"`
	Length *int64  `json:"length,omitempty"`
	Digest string  `json:"digest,omitempty"`
}

// ResultText returns a result that is text.
func ResultText(text string) ToolResult { return ToolResult{Text: &text} }

// Facts are what a decision about one call depends on (`schemas/facts.schema.json`). A [Loop] keeps them.
type Facts struct {
	// Run is the run's id.
	Run string `json:"run"`
	// Principal is for whom the agent works.
	Principal string `json:"principal"`
	// At is now, in milliseconds since 1970.
	At int64 `json:"at"`
	// Nonce is a secret of the run, random, of at least 16 characters. The marks around data from outside are made from it.
	Nonce string `json:"nonce,omitempty"`
	// Mode is one of the profile's modes. A profile with modes needs it.
	Mode string `json:"mode,omitempty"`
	// Task is the task, as the profile's schema has it.
	Task json.RawMessage `json:"task,omitempty"`
	// Context has values by the names that the profile's `context` has.
	Context map[string]json.RawMessage `json:"context,omitempty"`
	// Lists are those that `scope` names.
	Lists map[string][]string `json:"lists,omitempty"`
	// Surface has the tools that are there and unchanged, as NAME or SERVER/NAME. Default: all of the profile's.
	Surface []string `json:"surface,omitzero"`
	// Programs says how tools are run: by SERVER/ for all tools of a server, and by SERVER/TOOL for one. A person reads it
	// before approving, and an approval is for this program only.
	Programs map[string]string `json:"programs,omitempty"`
	// Parent has the bounds of a child, as the parent's action `delegate` has them.
	Parent *Bounds `json:"parent,omitempty"`
	// Labels are what is known of the data that the model has read.
	Labels []string `json:"labels,omitzero"`
	// Used is the use of budgets.
	Used *Used `json:"used,omitempty"`
	// Asks are what a person was asked.
	Asks []Asked `json:"asks,omitzero"`
	// Approvals are what persons decided. The host writes them, never the model.
	Approvals []Decided `json:"approvals,omitzero"`
}

// Used is the use of budgets. Calls says how often each call was permitted, by a digest of the call.
type Used struct {
	ToolCalls int64            `json:"tool_calls,omitempty"`
	Tokens    int64            `json:"tokens,omitempty"`
	MS        int64            `json:"ms,omitempty"`
	Calls     map[string]int64 `json:"calls,omitempty"`
}

// Asked is an ask, as the facts have it.
type Asked struct {
	Key     string `json:"key"`
	Digest  string `json:"digest"`
	At      int64  `json:"at"`
	Expires int64  `json:"expires"`
}

// Decided is what a person decided, as the facts have it.
type Decided struct {
	Key       string         `json:"key"`
	Digest    string         `json:"digest"`
	Decision  ApprovalAnswer `json:"decision"`
	Principal string         `json:"principal"`
	At        int64          `json:"at"`
	Spent     bool           `json:"spent,omitempty"`
}

// A Surface has the tools that the model may see now, and those that it may not.
type Surface struct {
	Tools  []SurfaceTool `json:"tools"`
	Hidden []HiddenTool  `json:"hidden"`
	// Facts has the members of the facts that changed. A [Loop] puts them in their place.
	Facts json.RawMessage `json:"facts"`
	// JSON is the surface as JSON text, the same bytes as in every other runtime.
	JSON []byte `json:"-"`
}

// A SurfaceTool is a tool that the model may see.
type SurfaceTool struct {
	// Server is where the tool runs. Empty for the host's own.
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool"`
	Effect Effect `json:"effect"`
	// Permit is [PermitApproval] if a person decides about each call.
	Permit Permit `json:"permit"`
	// Definition is what the model may read of the definition: each text is sanitized.
	Definition json.RawMessage `json:"definition,omitempty"`
}

// A HiddenTool is a tool that the model may not see, and by what code of `schemas/surface.schema.json`.
type HiddenTool struct {
	Server  string `json:"server,omitempty"`
	Tool    string `json:"tool"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}

// A Step is what one event of a run led to (`schemas/step.schema.json`).
type Step struct {
	// Step is how many events the run has had.
	Step int64
	// State is the new state: give it to the next [Gate.Advance], unchanged.
	State json.RawMessage
	// Records are what was decided.
	Records []RunRecord
	// Actions are what the host must do next.
	Actions []Action
	// WakeAt is when something lapses, in milliseconds since 1970: send a [TickEvent] then. Nil if nothing waits for a time.
	WakeAt *int64
	// Need has digests of artifacts without which the step cannot be made. Nothing else is there then: send the same event
	// again, with its artifacts.
	Need []string
	// JSON is the step as JSON text, the same bytes as in every other runtime.
	JSON []byte
}

// An Audience is who is shown a line of a journal.
type Audience string

// The audiences.
const (
	AudienceModel Audience = "model"
	AudienceUI    Audience = "ui"
	AudienceUser  Audience = "user"
	AudienceAudit Audience = "audit"
	AudienceEval  Audience = "eval"
)

// RegisterProfile checks a profile and keeps it: from now on it decides what its agent may do. The same profile again changes
// nothing. It returns the fault [ErrBadProfile] also if the agent has another one already, or if the profile contradicts its
// examples.
func (g *Gate) RegisterProfile(ctx context.Context, profile []byte) (*ProfileInfo, error) {
	info := new(ProfileInfo)
	one, err := g.compile(ctx, g.profiles, "register_profile", profile, info)
	if err != nil {
		return nil, err
	}
	one.agent, one.digest = info.Agent, info.Profile
	return info, g.profiles.keep(one)
}

// Profiles returns the profiles that were registered here, by ascending agent.
func (g *Gate) Profiles() []*ProfileInfo {
	var infos []*ProfileInfo
	for _, one := range g.profiles.all() {
		infos = append(infos, one.info.(*ProfileInfo))
	}
	return infos
}

// DescribeProfile returns text for an agent's prompt: what it may do.
func (g *Gate) DescribeProfile(ctx context.Context, agent string) (text string, err error) {
	err = g.about(ctx, "describe_profile", agent, &text)
	return text, err
}

// LintProfile returns what is likely a mistake in a profile, which need not be registered.
func (g *Gate) LintProfile(ctx context.Context, profile []byte) ([]Warning, error) {
	var warnings []Warning
	_, err := g.compile(ctx, g.profiles, "lint_profile", profile, &warnings)
	return warnings, err
}

// Surface says which tools the model may see. listed is what servers list now, as a lock file has it
// (`schemas/lock.schema.json`): a tool that is not there, or whose definition changed, is hidden. Nil looks at the profile's own
// definitions.
func (g *Gate) Surface(ctx context.Context, agent string, facts Facts, listed json.RawMessage) (*Surface, error) {
	surface := new(Surface)
	documents := []part{{"facts", facts}}
	if listed != nil {
		documents = append(documents, part{"listed", listed})
	}
	var err error
	surface.JSON, err = g.decide(ctx, "surface", agent, documents, surface)
	return surface, err
}

// Permit decides whether a call may run. A denied call is a decision and no error. [Gate.Loop] keeps the facts.
func (g *Gate) Permit(ctx context.Context, agent string, facts Facts, call Call) (*Decision, error) {
	decision := new(Decision)
	var err error
	decision.JSON, err = g.decide(ctx, "permit", agent, []part{{"facts", facts}, {"call", call.complete()}}, decision)
	return decision, err
}

// Observe makes an observation of what a tool returned: what the model may read of it. The facts must have a nonce.
func (g *Gate) Observe(ctx context.Context, agent string, facts Facts, call Call, result ToolResult) (*Observation, error) {
	observation := new(Observation)
	documents := []part{{"facts", facts}, {"call", call.complete()}, {"result", result}}
	var err error
	observation.JSON, err = g.decide(ctx, "observe", agent, documents, observation)
	return observation, err
}

// Advance applies one event to a run. Every decision of the run is made here; the host causes the effects. state is that of the
// step before, unchanged; nil for the first event, which is a [StartedEvent]. After an error, the state is still as it was.
func (g *Gate) Advance(ctx context.Context, agent string, state json.RawMessage, event RunEvent) (*Step, error) {
	documents := []part{{"event", event}}
	if state != nil {
		documents = []part{{"state", state}, {"event", event}}
	}
	var read struct {
		Step    int64             `json:"step"`
		Records []json.RawMessage `json:"records"`
		Actions []json.RawMessage `json:"actions"`
		WakeAt  *int64            `json:"wake_at"`
		Need    []string          `json:"need"`
	}
	text, err := g.decide(ctx, "advance", agent, documents, &read)
	if err != nil {
		return nil, err
	}
	step := &Step{Step: read.Step, State: member(text, "state"), WakeAt: read.WakeAt, Need: read.Need, JSON: text}
	for _, text := range read.Records {
		record, err := ReadRecord(text)
		if err != nil {
			return nil, err
		}
		step.Records = append(step.Records, record)
	}
	for _, text := range read.Actions {
		action, err := ReadAction(text)
		if err != nil {
			return nil, err
		}
		step.Actions = append(step.Actions, action)
	}
	return step, nil
}

// Project returns what one audience sees of a line of a journal, an object with `event`, `record` or `action`. Nil if the
// profile shows nothing.
func (g *Gate) Project(ctx context.Context, agent string, line json.RawMessage, audience Audience) (json.RawMessage, error) {
	var read struct {
		View json.RawMessage `json:"view"`
	}
	_, err := g.decide(ctx, "project", agent, []part{{"line", line}, {"audience", audience}}, &read)
	if bytes.Equal(read.View, []byte("null")) {
		return nil, err
	}
	return read.View, err
}

// A part is a document of a request, by its name.
type part struct {
	name  string
	value any
}

func isDecision(op string) bool {
	return strings.Contains(" surface permit observe advance project ", " "+op+" ")
}

// decide asks the kernel by the profile of an agent. It returns the text, and stores it in result.
func (g *Gate) decide(ctx context.Context, op, agent string, parts []part, result any) ([]byte, error) {
	var needed []*registered
	if !g.isBaked {
		one, err := g.profiles.of(agent)
		if err != nil {
			return nil, err
		}
		needed = []*registered{one}
	}
	text := appendText([]byte(`{"op":"`+op+`","agent":`), agent)
	count := 0
	for _, part := range parts {
		value, isText := part.value.(json.RawMessage)
		if isText {
			// Numbers keep their digits.
			if err := document(part.name, value, ErrBadRequest); err != nil {
				return nil, err
			}
		} else {
			var err error
			if value, err = marshal(part.value); err != nil {
				return nil, &Fault{Code: ErrBadRequest, Message: fmt.Sprintf("%s: %v", part.name, err), cause: err}
			}
		}
		text = append(append(text, `,"`+part.name+`":`...), value...)
		count += len(value)
	}
	if err := g.limits.smallEnough(count); err != nil {
		return nil, err
	}
	told, _, err := g.once().ask(ctx, needed, written{append(text, '}'), count}, "result")
	if err != nil {
		return nil, err
	}
	return told, json.Unmarshal(told, result)
}

func (c Call) complete() Call {
	if c.Arguments == nil {
		c.Arguments = json.RawMessage("{}")
	}
	return c
}

// read reads a struct of JSON text.
func read[T any](text []byte) (value T, err error) {
	err = json.Unmarshal(text, &value)
	return value, err
}
