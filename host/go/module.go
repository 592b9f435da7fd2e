package seamgate

import _ "embed"

// module is the metered module. `cargo xtask go` puts it here; git ignores it.
//
//go:embed seamgate.wasm
var module []byte
