;; It has an interface of that name, with a function of another type.
;; load: the component is not a validator: 

(component
  (core module $m (func (export "run") (result i32) (i32.const 0)))
  (core instance $i (instantiate $m))
  (func $run (result u32) (canon lift (core func $i "run")))
  (instance $validate (export "validate" (func $run)) (export "validate-with" (func $run)))
  (export "seamgate:validator/validate@0.1.0" (instance $validate)))
