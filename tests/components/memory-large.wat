;; It begins with more memory than an instance may have.
;; load: not a WebAssembly component: module memory does not fit in pooling allocator requirements: memory index 0 is unsupported in this pooling allocator configuration: memory has a minimum byte size of 67174400 which exceeds the limit of 0x4000000 bytes

(module
  (memory (export "memory") 1025)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
