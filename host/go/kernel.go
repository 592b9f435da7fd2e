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
	// Agent is the agent that the profile is for.
	Agent   string `json:"agent"`
	Version string `json:"version"`
	// Profile is the profile's digest: `sha256:` and 64 hexadecimal digits.
	Profile string `json:"profile"`
	// Tools are the full names of its tools, in the profile's order.
	Tools []string `json:"tools"`
	// Lists are the lists that its scopes name, in ascending order.
	Lists []string `json:"lists"`
	// Disabled are the tools whose pinned definition is invalid.
	Disabled []DisabledTool `json:"disabled"`
}

// A DisabledTool is a tool whose pinned definition is invalid, with what is wrong and where.
type DisabledTool struct {
	Tool    string `json:"tool"`
	Message string `json:"message"`
}

// A Call is a call that the model asks for (`schemas/call.schema.json`). [Gate.Permit] decides whether it may run.
type Call struct {
	// Key is the caller's own name for this call, unique for each call. Ids that models choose may repeat.
	Key string `json:"key"`
	// Server is the server that runs the tool. It may be empty if only one tool has this name.
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool"`
	// Arguments is an object, which is sent as JSON text without optional white space; or a JSON string, whose text is
	// sent unchanged. Default: an empty object.
	Arguments json.RawMessage `json:"arguments"`
}

// ToolResult is a tool's result (`schemas/result.schema.json`). Set one of Result, Text and Returned; or Head and Tail
// with Length and Digest.
type ToolResult struct {
	// Status is [ResultStatusError] if the tool reports a failure.
	Status ResultStatus `json:"status,omitempty"`
	// Result is a JSON document.
	Result json.RawMessage `json:"result,omitempty"`
	Text   *string         `json:"text,omitempty"`
	// Returned is a whole result of the Model Context Protocol, which itself says whether the tool failed.
	Returned json.RawMessage `json:"returned,omitempty"`
	// Head and Tail are the beginning and the end of a text that is too large to pass in whole.
	Head   *string `json:"head,omitempty"`
	Tail   *string `json:"tail,omitempty"`
	Length *int64  `json:"length,omitempty"`
	Digest string  `json:"digest,omitempty"`
}

// ResultText returns a result that is text.
func ResultText(text string) ToolResult { return ToolResult{Text: &text} }

// Facts are the facts that a decision about one call depends on (`schemas/facts.schema.json`). A [Loop] keeps them.
type Facts struct {
	// Run is the run's id.
	Run string `json:"run"`
	// Principal is the person or system that the agent works for.
	Principal string `json:"principal"`
	// At is the current time, in milliseconds since 1970.
	At int64 `json:"at"`
	// Nonce is a random secret of the run, of at least 16 characters. The markers around untrusted data are derived from
	// it.
	Nonce string `json:"nonce,omitempty"`
	// Mode is one of the profile's modes. A profile with modes needs it.
	Mode string `json:"mode,omitempty"`
	// Task is the task, which must match the profile's schema for tasks.
	Task json.RawMessage `json:"task,omitempty"`
	// Context has values for the names in the profile's `context`.
	Context map[string]json.RawMessage `json:"context,omitempty"`
	// Lists are the lists that `scope` names.
	Lists map[string][]string `json:"lists,omitempty"`
	// Surface has the tools that exist and are unchanged, as NAME or SERVER/NAME. Default: all tools of the profile.
	Surface []string `json:"surface,omitzero"`
	// Programs has the programs that run tools: the key SERVER/ covers all tools of a server, and SERVER/TOOL one tool. A
	// person reads the program before approving a call, and the approval is valid for this program only.
	Programs map[string]string `json:"programs,omitempty"`
	// Parent has the bounds of a child run, from the parent's action `delegate`.
	Parent *Bounds `json:"parent,omitempty"`
	// Labels are the labels of the data that the model has read.
	Labels []string `json:"labels,omitzero"`
	// Used is the usage of each budget.
	Used *Used `json:"used,omitempty"`
	// Asks are the questions that people were asked.
	Asks []Asked `json:"asks,omitzero"`
	// Approvals are the decisions of people. The host writes them, never the model.
	Approvals []Decided `json:"approvals,omitzero"`
}

// Used is the usage of each budget. Calls counts how often each call was permitted, by a digest of the call.
type Used struct {
	ToolCalls int64            `json:"tool_calls,omitempty"`
	Tokens    int64            `json:"tokens,omitempty"`
	MS        int64            `json:"ms,omitempty"`
	Calls     map[string]int64 `json:"calls,omitempty"`
}

// Asked is a question to a person, in the facts.
type Asked struct {
	Key     string `json:"key"`
	Digest  string `json:"digest"`
	At      int64  `json:"at"`
	Expires int64  `json:"expires"`
}

// Decided is a decision of a person, in the facts.
type Decided struct {
	Key       string         `json:"key"`
	Digest    string         `json:"digest"`
	Decision  ApprovalAnswer `json:"decision"`
	Principal string         `json:"principal"`
	At        int64          `json:"at"`
	Spent     bool           `json:"spent,omitempty"`
}

// A Surface has the tools that the model may see now, and the hidden ones.
type Surface struct {
	Tools  []SurfaceTool `json:"tools"`
	Hidden []HiddenTool  `json:"hidden"`
	// Facts has the members of the facts that changed. A [Loop] applies the change itself.
	Facts json.RawMessage `json:"facts"`
	// JSON is the surface as JSON text, the same bytes as in every other runtime.
	JSON []byte `json:"-"`
}

// A SurfaceTool is a tool that the model may see.
type SurfaceTool struct {
	// Server is the server that runs the tool. Empty for the host's own tools.
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool"`
	Effect Effect `json:"effect"`
	// Permit is [PermitApproval] if a person decides about each call.
	Permit Permit `json:"permit"`
	// Definition is the part of the definition that the model may read, with each text sanitized.
	Definition json.RawMessage `json:"definition,omitempty"`
}

// A HiddenTool is a tool that the model may not see, with a code of `schemas/surface.schema.json`.
type HiddenTool struct {
	Server  string `json:"server,omitempty"`
	Tool    string `json:"tool"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}

// A Step is the result of applying one event to a run (`schemas/step.schema.json`).
type Step struct {
	// Step is the number of events that the run has had.
	Step int64
	// State is the new state. Pass it to the next [Gate.Advance], unchanged.
	State json.RawMessage
	// Records are the decisions of this step.
	Records []RunRecord
	// Actions are the actions that the host must take next.
	Actions []Action
	// WakeAt is the time of the next timeout, in milliseconds since 1970. Send a [TickEvent] then. Nil if there is no
	// timeout.
	WakeAt *int64
	// Need has the digests of artifacts that the step needs. If there are any, all other fields are empty: send the same
	// event again, with its artifacts.
	Need []string
	// JSON is the step as JSON text, the same bytes as in every other runtime.
	JSON []byte
}

// An Audience is the audience that a line of a journal is shown to.
type Audience string

// The audiences.
const (
	AudienceModel Audience = "model"
	AudienceUI    Audience = "ui"
	AudienceUser  Audience = "user"
	AudienceAudit Audience = "audit"
	AudienceEval  Audience = "eval"
)

// RegisterProfile checks a profile and registers it: from now on it decides what its agent may do. Registering the same
// profile again has no effect. It returns the fault [ErrBadProfile] if the profile is invalid or contradicts its
// examples, or if the agent already has another one.
func (g *Gate) RegisterProfile(ctx context.Context, profile []byte) (*ProfileInfo, error) {
	info := new(ProfileInfo)
	one, err := g.compile(ctx, g.profiles, "register_profile", profile, info)
	if err != nil {
		return nil, err
	}
	one.agent, one.digest = info.Agent, info.Profile
	return info, g.profiles.keep(one)
}

// Profiles returns the profiles that are registered here, sorted by agent.
func (g *Gate) Profiles() []*ProfileInfo {
	var infos []*ProfileInfo
	for _, one := range g.profiles.all() {
		infos = append(infos, one.info.(*ProfileInfo))
	}
	return infos
}

// DescribeProfile returns text for an agent's prompt that says what the agent may do.
func (g *Gate) DescribeProfile(ctx context.Context, agent string) (text string, err error) {
	err = g.about(ctx, "describe_profile", agent, &text)
	return text, err
}

// LintProfile returns warnings about likely mistakes in a profile. The profile need not be registered.
func (g *Gate) LintProfile(ctx context.Context, profile []byte) ([]Warning, error) {
	var warnings []Warning
	_, err := g.compile(ctx, g.profiles, "lint_profile", profile, &warnings)
	return warnings, err
}

// Surface decides which tools the model may see. listed has the tools that the servers list now, in the form of a lock
// file (`schemas/lock.schema.json`): a tool that is missing, or whose definition changed, is hidden. Nil means the
// profile's own definitions.
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

// Permit decides whether a call may run. A denied call is a decision, not an error. [Gate.Loop] keeps the facts for
// you.
func (g *Gate) Permit(ctx context.Context, agent string, facts Facts, call Call) (*Decision, error) {
	decision := new(Decision)
	var err error
	decision.JSON, err = g.decide(ctx, "permit", agent, []part{{"facts", facts}, {"call", call.complete()}}, decision)
	return decision, err
}

// Observe turns a tool's result into an observation, which holds what the model may read. The facts must have a nonce.
func (g *Gate) Observe(ctx context.Context, agent string, facts Facts, call Call, result ToolResult) (*Observation, error) {
	observation := new(Observation)
	documents := []part{{"facts", facts}, {"call", call.complete()}, {"result", result}}
	var err error
	observation.JSON, err = g.decide(ctx, "observe", agent, documents, observation)
	return observation, err
}

// Advance applies one event to a run. The kernel makes every decision of the run; the host performs the actions. state
// is that of the previous step, unchanged; nil for the first event, which is a [StartedEvent]. After an error, the
// state is unchanged.
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

// Project returns what one audience sees of a line of a journal, which is an object with `event`, `record` or `action`.
// It returns nil if the profile shows it nothing.
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

// A part is a document in a request, with its name.
type part struct {
	name  string
	value any
}

func isDecision(op string) bool {
	return strings.Contains(" surface permit observe advance project ", " "+op+" ")
}

// decide runs an operation of the kernel by the profile of an agent. It returns the answer's text, and decodes it into
// result.
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

// read decodes a struct from JSON text.
func read[T any](text []byte) (value T, err error) {
	err = json.Unmarshal(text, &value)
	return value, err
}
