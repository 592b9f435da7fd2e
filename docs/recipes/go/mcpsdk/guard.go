// Package mcpsdk puts the gate around the tools of a server of the official Go SDK of MCP.
package mcpsdk

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	seamgate "seamgate.dev/go"
	"seamgate.dev/recipes/ops"
)

// Guard returns a middleware for [mcp.Server.AddReceivingMiddleware]. A tool runs only if its call is permitted, with the
// arguments that were judged, and the model reads only what the gate makes of the result.
func Guard(guard *ops.Guard) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			asked, ok := request.(*mcp.CallToolRequest)
			if !ok {
				return next(ctx, method, request)
			}
			call := seamgate.Call{Tool: asked.Params.Name, Arguments: asked.Params.Arguments}
			decision, err := guard.Decide(ctx, &call)
			if err != nil {
				return nil, err
			}
			if !decision.Allows() {
				text := &mcp.TextContent{Text: decision.Message}
				return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{text}}, nil
			}
			asked.Params.Arguments = json.RawMessage(*decision.Arguments)
			result, err := next(ctx, method, asked)
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
			judged := new(mcp.CallToolResult)
			return judged, json.Unmarshal(observation.Returned, judged)
		}
	}
}
