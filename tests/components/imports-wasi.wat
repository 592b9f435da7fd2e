;; It wants a clock of WASI.
;; load: the component imports "wasi:clocks/monotonic-clock@0.2.0"; a validator imports nothing

(component
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance
    (export "now" (func (result u64))))))
