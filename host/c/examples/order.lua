-- Judges an output of a model from Lua 5.4, by the module of lua-seamgate.c. The argument is the folder of the module.
package.cpath = (arg[1] or ".") .. "/?.so;" .. package.cpath
local seamgate = require("seamgate")

local gate = assert(seamgate.new())
assert(gate:register([[{"agent": "orders", "schema": {"type": "object", "required": ["count"],
  "properties": {"count": {"type": "integer", "minimum": 1}}}}]]))
print(assert(gate:validate("orders", 'So: ```json\n{"count": 2}\n```')))
print(select(2, gate:validate("nobody", "{}")))
