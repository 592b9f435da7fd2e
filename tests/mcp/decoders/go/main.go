// The decoders of Go: `read` reads lines, `serve mcp-go` and `serve go-sdk` are servers.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What each server offers: one tool, which writes its name and its arguments to a file.
const (
	tool        = "note"
	description = "Note the arguments."
	schema      = `{"type":"object"}`
)

func main() {
	if err := start(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "decoders:", err)
		os.Exit(1)
	}
}

func start(arguments []string) error {
	switch {
	case len(arguments) == 1 && arguments[0] == "read":
		return read(os.Stdin, os.Stdout)
	case len(arguments) == 3 && arguments[0] == "serve":
		file, err := os.OpenFile(arguments[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer file.Close()
		switch arguments[1] {
		case "mcp-go":
			return serveMCPGo(file)
		case "go-sdk":
			return serveSDK(file)
		}
	}
	return fmt.Errorf("expected read, serve mcp-go FILE or serve go-sdk FILE, not %q", arguments)
}

// keep writes one call. An append of one line is one write.
func keep(file *os.File, name string, arguments any) error {
	if arguments == nil {
		// None were sent.
		arguments = map[string]any{}
	}
	line, err := json.Marshal(map[string]any{"name": name, "arguments": note(arguments)})
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return err
}

func serveMCPGo(file *os.File) error {
	serving := server.NewMCPServer("decoders", "1.0.0")
	noted := mcp.NewToolWithRawSchema(tool, description, json.RawMessage(schema))
	serving.AddTool(noted, func(_ context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("noted"), keep(file, call.Params.Name, call.Params.Arguments)
	})
	return server.ServeStdio(serving)
}

func serveSDK(file *os.File) error {
	serving := sdk.NewServer(&sdk.Implementation{Name: "decoders", Version: "1.0.0"}, nil)
	noted := &sdk.Tool{Name: tool, Description: description, InputSchema: json.RawMessage(schema)}
	serving.AddTool(noted, func(_ context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var arguments any
		if err := json.Unmarshal(call.Params.Arguments, &arguments); err != nil {
			return nil, err
		}
		content := []sdk.Content{&sdk.TextContent{Text: "noted"}}
		return &sdk.CallToolResult{Content: content}, keep(file, call.Params.Name, arguments)
	})
	return serving.Run(context.Background(), &sdk.StdioTransport{})
}
