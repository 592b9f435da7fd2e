// Package contract makes contracts from Go types, by their `json` and `jsonschema` tags.
package contract

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/invopop/jsonschema"
)

// Of returns a contract with the schema of T: of the JSON that [encoding/json] writes for it, with the keywords that
// `jsonschema` tags add (https://pkg.go.dev/github.com/invopop/jsonschema). more has further members of the contract,
// such as `retry`, `items` or `allow` (`schemas/contract.schema.json`).
//
// A field without `omitempty` is required, and members that T does not have are rejected.
func Of[T any](agent string, more map[string]any) ([]byte, error) {
	var value T
	reflector := jsonschema.Reflector{ExpandedStruct: true, Anonymous: true}
	schema := reflector.Reflect(value)
	document := map[string]any{"version": "1.0.0"}
	maps.Copy(document, more)
	for _, name := range []string{"agent", "schema"} {
		if _, ok := document[name]; ok {
			return nil, fmt.Errorf("contract: the member %q comes from the arguments: leave it out of the others", name)
		}
	}
	document["agent"], document["schema"] = agent, schema
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	return text, nil
}
