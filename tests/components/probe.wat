;; Put into a validator: requests of `wire` go through it, and two of them never reach the validator.
;;
;; "SCAN", four bytes, and eight bytes of a secret, the last bit of each turned, so that it is not in the request: how
;; often is the secret in the memory that this instance can have? The answer is a number. What `FILL` leaves behind outside
;; of memory counts too.
;;
;; "FILL", four bytes, and eight bytes of a secret as it is: write it all over that memory, and elsewhere, and trap.

(global $left (mut i64) (i64.const 0))
(elem declare func $probe)

(func $probe (param $request i32) (param $length i32) (result i32)
  (if (i32.eq (i32.load (local.get $request)) (i32.const 0x4e414353)) (then
    (return (call $scan (local.get $request) (local.get $length)))))
  (if (i32.eq (i32.load (local.get $request)) (i32.const 0x4c4c4946)) (then
    (call $fill (i64.load offset=8 (local.get $request)))))
  (call $call (local.get $request) (local.get $length)))

;; Take all the memory that there is to be had, 64 MiB; the first address after it.
(func $grow (result i32)
  (drop (memory.grow (i32.sub (i32.const 1024) (memory.size))))
  (i32.shl (memory.size) (i32.const 16)))

(func $scan (param $request i32) (param $length i32) (result i32)
  (local $secret i64) (local $at i32) (local $last i32) (local $found i32) (local $answer i32)
  (local.set $secret (i64.xor (i64.load offset=8 (local.get $request)) (i64.const 0x0101010101010101)))
  (local.set $last (i32.sub (call $grow) (i32.const 8)))
  (loop $next
    (local.set $found (i32.add (local.get $found)
      (i64.eq (i64.load (local.get $at)) (local.get $secret))))
    (local.set $at (i32.add (local.get $at) (i32.const 1)))
    (br_if $next (i32.le_u (local.get $at) (local.get $last))))
  (local.set $found (i32.add (local.get $found) (i64.ne (global.get $left) (i64.const 0))))
  (local.set $found (i32.add (local.get $found)
    (i32.eqz (ref.is_null (table.get 0 (i32.const 0))))))
  ;; It is no request, which the validator says in a text that is long enough for the answer.
  (local.set $answer (call $call (local.get $request) (local.get $length)))
  (call $write (i32.load (local.get $answer)) (i32.load offset=4 (local.get $answer)) (local.get $found))
  (local.get $answer))

;; `{"id":null,"result":` and a number, right-aligned, and `}` at the end.
(func $write (param $text i32) (param $length i32) (param $number i32)
  (local $at i32)
  (memory.fill (local.get $text) (i32.const 0x20) (local.get $length))
  (i64.store (local.get $text) (i64.const 0x756e3a226469227b))
  (i64.store offset=8 (local.get $text) (i64.const 0x75736572222c6c6c))
  (i32.store offset=16 (local.get $text) (i32.const 0x3a22746c))
  (local.set $at (i32.sub (i32.add (local.get $text) (local.get $length)) (i32.const 1)))
  (i32.store8 (local.get $at) (i32.const 0x7d))
  (loop $digit
    (local.set $at (i32.sub (local.get $at) (i32.const 1)))
    (i32.store8 (local.get $at) (i32.add (i32.const 0x30) (i32.rem_u (local.get $number) (i32.const 10))))
    (local.set $number (i32.div_u (local.get $number) (i32.const 10)))
    (br_if $digit (local.get $number))))

(func $fill (param $secret i64)
  (local $at i32) (local $end i32)
  (local.set $end (call $grow))
  (loop $next
    (i64.store (local.get $at) (local.get $secret))
    (local.set $at (i32.add (local.get $at) (i32.const 8)))
    (br_if $next (i32.ne (local.get $at) (local.get $end))))
  (global.set $left (local.get $secret))
  (table.set 0 (i32.const 0) (ref.func $probe))
  unreachable)
