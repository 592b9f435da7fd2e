package main

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// note returns a value in the notation of canonical.py.
func note(value any) any {
	switch value := value.(type) {
	case float64:
		return []any{"f", strconv.FormatFloat(value, 'g', -1, 64)}
	case int64:
		return []any{"i", fmt.Sprintf("%#x", value)}
	case []any:
		noted := []any{"a"}
		for _, item := range value {
			noted = append(noted, note(item))
		}
		return noted
	case map[string]any:
		noted := []any{"o"}
		for name, item := range value {
			noted = append(noted, name, note(item))
		}
		return noted
	default:
		return value
	}
}

// noteText decodes a text with encoding/json, and returns its value in the notation.
func noteText(text json.RawMessage) (any, error) {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return note(value), nil
}
