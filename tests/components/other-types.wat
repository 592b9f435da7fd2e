;; It has all names of the world, and other types.
;; load: the component does not export the world seamgate:validator/validator@0.1.0: failed to convert function to given type: type mismatch with parameters: expected 1-tuple, found 0-tuple

(component
  (core module $m
    (func (export "dtor") (param i32))
    (func (export "one") (param i32) (result i32) (i32.const 0))
    (func (export "none") (result i32) (i32.const 0)))
  (core instance $i (instantiate $m))
  (type $session' (resource (rep i32) (dtor (core func $i "dtor"))))
  (func $none (result u32) (canon lift (core func $i "none")))
  (func $method' (param "self" (borrow $session')) (result u32) (canon lift (core func $i "one")))
  (component $stream
    (import "session" (type $session (sub resource)))
    (import "none" (func $none (result u32)))
    (import "method" (func $method (param "self" (borrow $session)) (result u32)))
    (export $named "session" (type $session))
    (export "[static]session.open" (func $none) (func (result u32)))
    (export "[method]session.push" (func $method) (func (param "self" (borrow $named)) (result u32)))
    (export "[method]session.completeness" (func $method) (func (param "self" (borrow $named)) (result u32)))
    (export "[method]session.finish" (func $method) (func (param "self" (borrow $named)) (result u32))))
  (instance $stream' (instantiate $stream
    (with "session" (type $session'))
    (with "none" (func $none))
    (with "method" (func $method'))))
  (instance $others
    (export "validate" (func $none))
    (export "validate-with" (func $none))
    (export "register" (func $none))
    (export "has" (func $none))
    (export "names" (func $none))
    (export "contract" (func $none))
    (export "describe" (func $none))
    (export "lint" (func $none))
    (export "seal" (func $none))
    (export "is-sealed" (func $none))
    (export "merge" (func $none))
    (export "call" (func $none)))
  (export "seamgate:validator/validate@0.1.0" (instance $others))
  (export "seamgate:validator/registry@0.1.0" (instance $others))
  (export "seamgate:validator/stream@0.1.0" (instance $stream'))
  (export "seamgate:validator/merge@0.1.0" (instance $others))
  (export "seamgate:validator/wire@0.1.0" (instance $others)))
