package seamgate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"seamgate.dev/go/internal/sandbox"
)

// Error implements error. A code is itself an error, for [errors.Is].
func (c FaultCode) Error() string { return "seamgate: " + string(c) }

// A Fault means that no verdict was possible, because of a mistake by the caller or an exceeded limit. It is never a
// rejected output, which is a [Report]. Faults fail closed: no part of the output was accepted.
//
//	if errors.Is(err, seamgate.ErrUnknownAgent) { … }
//
// A fault that the context caused also matches the context's error: [context.Canceled] or [context.DeadlineExceeded].
type Fault struct {
	// Code is the kind of fault.
	Code FaultCode `json:"fault"`
	// Message is one sentence for people.
	Message string `json:"message"`
	// Detail has the machine-readable details.
	Detail FaultDetail `json:"detail"`

	cause error
}

// FaultDetail has the machine-readable details of a fault.
type FaultDetail struct {
	// Violations are those of a request, a contract or a profile, with paths in that document.
	Violations []Violation `json:"violations,omitempty"`
	// Agents are the agents that have a contract, for [ErrUnknownAgent].
	Agents []string `json:"agents,omitempty"`
	// Bytes is the size of the output, for [ErrInputTooLarge].
	Bytes *int `json:"bytes,omitempty"`
	// Limit is the exceeded limit, in units of fuel, bytes or milliseconds.
	Limit *int64 `json:"limit,omitempty"`
}

// Error implements error.
func (f *Fault) Error() string { return "seamgate: " + string(f.Code) + ": " + f.Message }

// Is returns whether the fault has this code, for [errors.Is].
func (f *Fault) Is(target error) bool {
	code, ok := target.(FaultCode)
	return ok && code == f.Code
}

// Unwrap returns the cause of the fault, if it is known.
func (f *Fault) Unwrap() error { return f.cause }

// ended returns the fault for a call that ended without an answer. doing says what used the fuel.
func ended(err error, fuel int64, timeout time.Duration, doing string) error {
	var end *sandbox.EndError
	if !errors.As(err, &end) {
		if errors.Is(err, sandbox.ErrBusy) {
			return &Fault{Code: ErrBusy, Message: err.Error(), cause: err}
		}
		return err
	}
	fault := &Fault{cause: end.Cause}
	switch end.Why {
	case sandbox.OutOfFuel:
		fault.Code, fault.Message = ErrOutOfFuel, fmt.Sprintf("%s took more than %d units of fuel", doing, fuel)
		fault.Detail.Limit = &fuel
	case sandbox.OutOfMemory:
		limit := int64(defaultMemory)
		fault.Code, fault.Message = ErrOutOfMemory, fmt.Sprintf("the verdict took more than %d bytes of memory", limit)
		fault.Detail.Limit = &limit
	case sandbox.StackOverflow:
		fault.Code, fault.Message = ErrStackOverflow, "the verdict took more stack than the runtime gives"
	case sandbox.Ended:
		fault.Code, fault.Message = ErrTimeout, fmt.Sprintf("the context ended before the verdict: %v", end.Cause)
		if end.Cause == sandbox.ErrDeadline {
			limit := timeout.Milliseconds()
			fault.Message = fmt.Sprintf("the verdict took more than %d ms", limit)
			fault.Detail.Limit, fault.cause = &limit, context.DeadlineExceeded
		}
	default:
		fault.Code, fault.Message = ErrTrap, fmt.Sprintf("the module failed: %v", end.Cause)
	}
	return fault
}

// answered returns the report or the result in an answer to a request without an `id`, or the fault in it.
func answered(answer []byte, member string) ([]byte, error) {
	before := `{"id":null,"` + member + `":`
	if len(answer) > len(before) && string(answer[:len(before)]) == before {
		return answer[len(before) : len(answer)-1], nil
	}
	var told struct{ Fault *Fault }
	if err := json.Unmarshal(answer, &told); err != nil || told.Fault == nil {
		return nil, &Fault{Code: ErrTrap, Message: "the module gave an invalid answer", cause: err}
	}
	return nil, ofDocument(told.Fault)
}

// ofDocument converts a fault about a request to one about the contract or profile in it.
func ofDocument(fault *Fault) *Fault {
	if fault.Code != ErrBadRequest || len(fault.Detail.Violations) == 0 {
		return fault
	}
	for what, code := range map[string]FaultCode{"contract": ErrBadContract, "profile": ErrBadProfile} {
		first := &fault.Detail.Violations[0]
		if first.Pointer != "/"+what && !strings.HasPrefix(first.Pointer, "/"+what+"/") {
			continue
		}
		for index := range fault.Detail.Violations {
			violation := &fault.Detail.Violations[index]
			if rest, ok := strings.CutPrefix(violation.Path, "$."+what); ok {
				violation.Path = "$" + rest
			}
			violation.Pointer = strings.Replace(violation.Pointer, "/"+what, "", 1)
			// The offsets refer to the request, which the caller has not seen.
			violation.Span = nil
		}
		return &Fault{Code: code, Message: fmt.Sprintf("%s: %s %s", what, first.Path, first.Message), Detail: fault.Detail}
	}
	return fault
}
