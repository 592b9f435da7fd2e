;; It wants a function of its host.
;; load: the component imports "log"; a validator imports nothing

(component
  (import "log" (func (param "text" string))))
