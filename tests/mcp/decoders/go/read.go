package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// message has what a decoder read of a line.
type message map[string]any

var errNoMessage = errors.New("no message")

// read writes, for each line, what the decoders read.
func read(in io.Reader, out io.Writer) error {
	readers := map[string]func([]byte) (message, error){
		"plain":  plain,
		"mcp-go": mcpGo,
		"go-sdk": goSDK,
	}
	lines := bufio.NewReaderSize(in, 1<<16)
	writer := bufio.NewWriter(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			all := map[string]message{}
			for name, reader := range readers {
				got, err := reader(bytes.TrimSuffix(line, []byte("\n")))
				if err != nil {
					got = message{"refused": "error"}
				}
				all[name] = got
			}
			if err := json.NewEncoder(writer).Encode(all); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return writer.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// plain decodes into a map.
func plain(line []byte) (message, error) {
	var members map[string]any
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, err
	}
	got := message{}
	for _, name := range []string{"id", "method", "params", "result", "error"} {
		if value, has := members[name]; has {
			got[name] = note(value)
		}
	}
	_, hasMethod := got["method"]
	_, hasID := got["id"]
	_, hasError := got["error"]
	switch {
	case hasMethod && hasID:
		got["kind"] = "request"
	case hasMethod:
		got["kind"] = "notification"
	case hasError:
		got["kind"] = "error"
	default:
		got["kind"] = "result"
	}
	if params, ok := members["params"].(map[string]any); ok && members["method"] == "tools/call" {
		got["name"] = note(params["name"])
		got["arguments"] = note(params["arguments"])
	}
	return got, nil
}

// mcpGo decodes as the server of mcp-go does: first what kind of message it is, then its type.
func mcpGo(line []byte) (message, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		return nil, err
	}
	var base struct {
		JSONRPC string                   `json:"jsonrpc"`
		Method  *string                  `json:"method"`
		ID      *mcp.RequestId           `json:"id,omitempty"`
		Params  json.RawMessage          `json:"params,omitempty"`
		Result  json.RawMessage          `json:"result,omitempty"`
		Error   *mcp.JSONRPCErrorDetails `json:"error,omitempty"`
	}
	if err := json.Unmarshal(raw, &base); err != nil {
		return nil, err
	}
	if base.JSONRPC != mcp.JSONRPC_VERSION {
		return nil, errNoMessage
	}
	got := message{}
	if base.ID != nil && !base.ID.IsNil() {
		got["id"] = note(base.ID.Value())
	}
	if base.Method != nil {
		got["method"] = *base.Method
	}
	switch {
	case base.Method != nil && base.ID == nil:
		got["kind"] = "notification"
		var typed mcp.JSONRPCNotification
		if err := json.Unmarshal(raw, &typed); err != nil {
			return nil, err
		}
	case base.Method != nil:
		got["kind"] = "request"
		if *base.Method == string(mcp.MethodToolsCall) {
			var typed mcp.CallToolRequest
			if err := json.Unmarshal(raw, &typed); err != nil {
				return nil, err
			}
			got["name"] = typed.Params.Name
			arguments := typed.Params.Arguments
			if arguments == nil {
				arguments = map[string]any{}
			}
			got["arguments"] = note(arguments)
			return got, nil
		}
	case base.Error != nil:
		got["kind"] = "error"
		members := map[string]any{"code": int64(base.Error.Code), "message": base.Error.Message}
		if base.Error.Data != nil {
			members["data"] = base.Error.Data
		}
		got["error"] = note(members)
		return got, nil
	default:
		got["kind"] = "result"
	}
	return got, addTexts(got, base.Params, base.Result)
}

// goSDK decodes as the official SDK does.
func goSDK(line []byte) (message, error) {
	// Its transport takes one value of the stream after another, and ends where one does not end its line.
	decoder := json.NewDecoder(bytes.NewReader(line))
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		return nil, err
	}
	if rest, _ := io.ReadAll(decoder.Buffered()); len(rest) > 0 && rest[0] != '\r' {
		return nil, errNoMessage
	}
	decoded, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return nil, err
	}
	got := message{}
	switch decoded := decoded.(type) {
	case *jsonrpc.Request:
		got["method"] = decoded.Method
		got["kind"] = "notification"
		if decoded.IsCall() {
			got["kind"] = "request"
			got["id"] = note(decoded.ID.Raw())
			if decoded.Method == "tools/call" {
				var params sdk.CallToolParamsRaw
				if err := json.Unmarshal(decoded.Params, &params); err != nil {
					return nil, err
				}
				got["name"] = params.Name
				got["arguments"], err = noteText(params.Arguments)
				return got, err
			}
		}
		return got, addTexts(got, decoded.Params, nil)
	case *jsonrpc.Response:
		got["id"] = note(decoded.ID.Raw())
		got["kind"] = "result"
		var wire *jsonrpc.Error
		if errors.As(decoded.Error, &wire) {
			got["kind"] = "error"
			members := map[string]any{"code": wire.Code, "message": wire.Message}
			if len(wire.Data) > 0 {
				var data any
				if err := json.Unmarshal(wire.Data, &data); err != nil {
					return nil, err
				}
				members["data"] = data
			}
			got["error"] = note(members)
			return got, nil
		}
		return got, addTexts(got, nil, decoded.Result)
	}
	return nil, errNoMessage
}

// addTexts adds parameters and a result, which both libraries keep as text at first.
func addTexts(got message, params, result json.RawMessage) error {
	for name, text := range map[string]json.RawMessage{"params": params, "result": result} {
		if len(text) == 0 {
			continue
		}
		value, err := noteText(text)
		if err != nil {
			return err
		}
		got[name] = value
	}
	return nil
}
