// Package nethttp puts the gate before a handler of net/http that takes what a model wrote.
package nethttp

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	seamgate "seamgate.dev/go"
)

// Judge returns a handler that judges the body of each request by the contract of an agent. next reads only the validated
// document. A rejected body is answered with the report, status 422: its `feedback` is for the model.
func Judge(gate *seamgate.Gate, agent string, next http.Handler) http.Handler {
	most := int64(gate.Limits().OutputBytes)
	return http.HandlerFunc(func(to http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(to, request.Body, most))
		if err != nil {
			http.Error(to, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		verdict, err := gate.Validate(request.Context(), seamgate.Request{Agent: agent, Output: body})
		switch {
		case errors.Is(err, seamgate.ErrBusy), errors.Is(err, seamgate.ErrTimeout):
			to.Header().Set("Retry-After", "1")
			http.Error(to, err.Error(), http.StatusServiceUnavailable)
		case err != nil:
			http.Error(to, err.Error(), http.StatusInternalServerError)
		case !verdict.Report.Accepted():
			to.Header().Set("Content-Type", "application/json")
			to.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = to.Write(verdict.Report.JSON())
		default:
			judged := request.Clone(request.Context())
			output := verdict.Report.Output()
			judged.Body, judged.ContentLength = io.NopCloser(bytes.NewReader(output)), int64(len(output))
			next.ServeHTTP(to, judged)
		}
	})
}
