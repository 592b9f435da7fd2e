;; Its table is larger than a slot of the pool has room for.
;; load: not a WebAssembly component: 

(module
  (memory (export "memory") 1)
  (table 10000000 funcref)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
