;; It begins with more memory than an instance may have.
;; load: not a WebAssembly component: 

(module
  (memory (export "memory") 1025)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
