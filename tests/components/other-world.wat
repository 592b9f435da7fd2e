;; It is of another world.
;; load: the component is not a validator: 

(component
  (core module $m (func (export "run") (result i32) (i32.const 0)))
  (core instance $i (instantiate $m))
  (func $run (result u32) (canon lift (core func $i "run")))
  (export "run" (func $run)))
