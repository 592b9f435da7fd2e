// Package einotools puts the gate around the tools of an agent of Eino.
package einotools

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/compose"

	seamgate "seamgate.dev/go"
	"seamgate.dev/recipes/ops"
)

// Guard returns a middleware for [compose.ToolsNodeConfig]. A tool runs only if its call is permitted, with the arguments that
// were judged, and the model reads only what the gate makes of the result.
func Guard(guard *ops.Guard) compose.ToolMiddleware {
	return compose.ToolMiddleware{Invokable: func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
		return func(ctx context.Context, input *compose.ToolInput) (*compose.ToolOutput, error) {
			// A JSON string: the text as the model wrote it. If it is invalid, the gate says so.
			arguments, err := json.Marshal(input.Arguments)
			if err != nil {
				return nil, err
			}
			call := seamgate.Call{Tool: input.Name, Arguments: arguments}
			decision, err := guard.Decide(ctx, &call)
			if err != nil {
				return nil, err
			}
			if !decision.Allows() {
				return &compose.ToolOutput{Result: decision.Message}, nil
			}
			judged := *input
			judged.Arguments = *decision.Arguments
			output, err := next(ctx, &judged)
			if err != nil {
				return nil, err
			}
			observation, err := guard.Observe(ctx, call, seamgate.ResultText(output.Result))
			if err != nil {
				return nil, err
			}
			return &compose.ToolOutput{Result: observation.Message}, nil
		}
	}}
}
