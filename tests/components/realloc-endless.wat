;; Who gives it a text waits for ever for the room.
;; validate: out_of_fuel: the verdict took more than 100001500 units of fuel

(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (loop $again (br $again))
    unreachable))
