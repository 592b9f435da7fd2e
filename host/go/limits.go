package seamgate

import (
	"fmt"
	"math"
	"time"
)

// Limits are the limits of one call. A call that exceeds one returns a [*Fault], and no verdict. A field that is zero
// has its default.
//
// They do not cover memory, which is limited to 64 MiB for each instance, and a contract's own caps on documents.
type Limits struct {
	// Fuel is the fuel for each call, about one unit per WebAssembly instruction. Default: 100,000,000.
	Fuel int64
	// FuelPerByte is additional fuel for each byte of output and contract. Default: 500.
	FuelPerByte int64
	// ContractFuel is the fuel for compiling one registered contract or profile. Default: 500,000,000.
	ContractFuel int64
	// ContractFuelPerByte is additional fuel for each byte of that contract. Default: 2,500.
	ContractFuelPerByte int64
	// OutputBytes is the most bytes of an output. Default: 8 MiB.
	OutputBytes int
	// Timeout is the wall-clock time of each call, in addition to the context's own deadline. Default: 5 s.
	Timeout time.Duration
}

// complete fills in the defaults.
func (l Limits) complete() (Limits, error) {
	if l.Fuel < 0 || l.FuelPerByte < 0 || l.ContractFuel < 0 || l.ContractFuelPerByte < 0 || l.OutputBytes < 0 || l.Timeout < 0 {
		return l, fmt.Errorf("seamgate: limits must not be negative: %+v", l)
	}
	set(&l.Fuel, defaultFuel)
	set(&l.FuelPerByte, defaultFuelPerByte)
	set(&l.ContractFuel, defaultContractFuel)
	set(&l.ContractFuelPerByte, defaultContractFuelPerByte)
	set(&l.OutputBytes, defaultOutputBytes)
	set(&l.Timeout, defaultTimeout*time.Second)
	return l, nil
}

func set[T comparable](value *T, to T) {
	var zero T
	if *value == zero {
		*value = to
	}
}

// fuelFor returns the fuel for a call with this many bytes of output and contract.
func (l *Limits) fuelFor(bytes int) int64 { return linear(l.Fuel, l.FuelPerByte, bytes) }

// fuelForContract returns the fuel for compiling a contract of this many bytes.
func (l *Limits) fuelForContract(bytes int) int64 {
	return linear(l.ContractFuel, l.ContractFuelPerByte, bytes)
}

func linear(base, each int64, count int) int64 {
	if each != 0 && int64(count) > (math.MaxInt64-base)/each {
		return math.MaxInt64
	}
	return base + each*int64(count)
}

// smallEnough returns a fault if an output has too many bytes.
func (l *Limits) smallEnough(bytes int) error {
	if bytes <= l.OutputBytes {
		return nil
	}
	message := fmt.Sprintf("the output has %d bytes; the limit is %d", bytes, l.OutputBytes)
	limit := int64(l.OutputBytes)
	return &Fault{Code: ErrInputTooLarge, Message: message, Detail: FaultDetail{Bytes: &bytes, Limit: &limit}}
}
