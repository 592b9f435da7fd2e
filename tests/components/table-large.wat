;; Its table is larger than a slot of the pool has room for.
;; load: not a WebAssembly component: module table does not fit in pooling allocator requirements: table index 0 has a minimum element size of 10000000 which exceeds the limit of 20000

(module
  (memory (export "memory") 1)
  (table 10000000 funcref)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
