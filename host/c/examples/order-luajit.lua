-- Judges an output of a model from LuaJIT, by its FFI. The argument is the path of libseamgate.so.
local ffi = require("ffi")

-- What this program uses of seamgate.h.
ffi.cdef([[
typedef struct seamgate_gate seamgate_gate;
typedef struct { char *data; size_t length; } seamgate_text;
int seamgate_gate_new(const char *, size_t, const char *, size_t, seamgate_gate **, seamgate_text *);
int seamgate_register(const seamgate_gate *, const char *, size_t, seamgate_text *);
int seamgate_validate(const seamgate_gate *, const char *, size_t, const char *, size_t, const char *,
                      size_t, seamgate_text *, void *);
void seamgate_text_free(seamgate_text *);
void seamgate_gate_free(seamgate_gate *);
]])
local native = ffi.load(arg[1] or "libseamgate.so.0")

-- Calls the library with a place for a text. Returns the text; or nil and the fault.
local function answer(call)
  local place = ffi.new("seamgate_text")
  local status = call(place)
  local text = place.data ~= nil and ffi.string(place.data, place.length) or ""
  native.seamgate_text_free(place)
  if status ~= 0 then
    return nil, text
  end
  return text
end

local function new(options)
  local handle = ffi.new("seamgate_gate *[1]")
  assert(answer(function(text)
    return native.seamgate_gate_new(options, #options, nil, 0, handle, text)
  end))
  return ffi.gc(handle[0], native.seamgate_gate_free)
end

local function register(gate, contract)
  return answer(function(text)
    return native.seamgate_register(gate, contract, #contract, text)
  end)
end

local function validate(gate, agent, output)
  return answer(function(text)
    return native.seamgate_validate(gate, agent, #agent, output, #output, nil, 0, text, nil)
  end)
end

local gate = new("{}")
assert(register(gate, [[{"agent": "orders", "schema": {"type": "object", "required": ["count"],
  "properties": {"count": {"type": "integer", "minimum": 1}}}}]]))
print(assert(validate(gate, "orders", 'So: ```json\n{"count": 2}\n```')))
print(select(2, validate(gate, "nobody", "{}")))
