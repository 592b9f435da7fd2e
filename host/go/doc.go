// Package seamgate judges the output of language models, and decides what agents may do. It runs the same WebAssembly
// module as seamgate in every other language, on wazero: without cgo, and with the same bytes in its answers.
//
// A [Gate] judges outputs by contracts, and calls of tools by profiles:
//
//	gate, err := seamgate.New(ctx)
//	info, err := gate.Register(ctx, contract)
//	verdict, err := gate.Validate(ctx, seamgate.Request{Agent: info.Agent, Output: output})
//	if verdict.Report.Accepted() { … }
//
// A rejected output is a [Report], never an error. An error means that there is no verdict: it is a [*Fault], whose
// [FaultCode] can be tested with [errors.Is].
package seamgate
