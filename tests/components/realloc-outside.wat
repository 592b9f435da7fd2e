;; The room for a text that it is given is where no memory is.
;; validate: trap: the component failed: realloc return: beyond end of memory

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0x7ffffff0)))
