// Package mcpgo puts the gate around the tools of a server of mark3labs/mcp-go.
package mcpgo

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	seamgate "seamgate.dev/go"
	"seamgate.dev/recipes/ops"
)

// Guard returns a middleware for [server.WithToolHandlerMiddleware]. A tool runs only if its call is permitted, with the
// arguments that were judged, and the model reads only what the gate makes of the result.
func Guard(guard *ops.Guard) server.ToolHandlerMiddleware {
	return func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			// The bytes as they came, where there are any: integers keep their digits.
			arguments := request.Params.RawArguments
			if arguments == nil {
				var err error
				if arguments, err = json.Marshal(request.GetArguments()); err != nil {
					return nil, err
				}
			}
			call := seamgate.Call{Tool: request.Params.Name, Arguments: arguments}
			decision, err := guard.Decide(ctx, &call)
			if err != nil {
				return nil, err
			}
			if !decision.Allows() {
				return mcp.NewToolResultError(decision.Message), nil
			}
			var judged map[string]any
			if err := json.Unmarshal([]byte(*decision.Arguments), &judged); err != nil {
				return nil, err
			}
			request.Params.Arguments, request.Params.RawArguments = judged, json.RawMessage(*decision.Arguments)
			result, err := next(ctx, request)
			if err != nil {
				return nil, err
			}
			returned, err := json.Marshal(result)
			if err != nil {
				return nil, err
			}
			observation, err := guard.Observe(ctx, call, seamgate.ToolResult{Returned: returned})
			if err != nil || observation.Returned == nil {
				return result, err
			}
			handed := new(mcp.CallToolResult)
			return handed, json.Unmarshal(observation.Returned, handed)
		}
	}
}
