;; It is of another world.
;; load: the component does not export the world seamgate:validator/validator@0.1.0: no exported instance named `seamgate:validator/validate@0.1.0`

(component
  (core module $m (func (export "run") (result i32) (i32.const 0)))
  (core instance $i (instantiate $m))
  (func $run (result u32) (canon lift (core func $i "run")))
  (export "run" (func $run)))
