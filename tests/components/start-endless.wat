;; Instantiating it never ends.
;; load: the component does not answer: the verdict took more than 100000000 units of fuel

(module
  (memory (export "memory") 1)
  (func $start (loop $again (br $again)))
  (start $start)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
