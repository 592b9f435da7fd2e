# Judges an output of a model from Ruby, by Fiddle of the standard library. The argument is the path of libseamgate.so.
require "fiddle"
require "json"

# The functions of the C library that this program uses.
module Native
  LIBRARY = Fiddle.dlopen(ARGV.fetch(0, "libseamgate.so.0"))
  PAIR = [Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T].freeze

  # A function that returns a status.
  def self.function(name, *parameters)
    Fiddle::Function.new(LIBRARY[name], parameters.flatten, Fiddle::TYPE_INT)
  end

  NEW = function("seamgate_gate_new", PAIR, PAIR, Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP)
  REGISTER = function("seamgate_register", Fiddle::TYPE_VOIDP, PAIR, Fiddle::TYPE_VOIDP)
  VALIDATE = function("seamgate_validate", Fiddle::TYPE_VOIDP, PAIR, PAIR, PAIR, Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP)
  FREE_TEXT = Fiddle::Function.new(LIBRARY["seamgate_text_free"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID)
  FREE_GATE = Fiddle::Function.new(LIBRARY["seamgate_gate_free"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID)
end

# There is no verdict.
class Fault < StandardError; end

# A gate. It is freed when Ruby collects it.
class Gate
  def initialize(options = {})
    place = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
    answer { |text| Native::NEW.call(*pair(JSON.generate(options)), nil, 0, place, text) }
    @handle = Fiddle::Pointer.new(place.ptr.to_i, 0, Native::FREE_GATE)
  end

  def register(contract)
    answer { |text| Native::REGISTER.call(@handle, *pair(JSON.generate(contract)), text) }
  end

  # Returns the report as JSON text.
  def validate(agent, output, extras = {})
    answer do |text|
      Native::VALIDATE.call(@handle, *pair(agent), *pair(output), *pair(JSON.generate(extras)), text, nil)
    end
  end

  private

  def pair(text) = [text, text.bytesize]

  # Calls the library with a place for a text: a pointer and a length.
  def answer
    place = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP + Fiddle::SIZEOF_SIZE_T, Fiddle::RUBY_FREE)
    status = yield place
    length = place[Fiddle::SIZEOF_VOIDP, Fiddle::SIZEOF_SIZE_T].unpack1("J")
    text = length.zero? ? "" : place.ptr[0, length].force_encoding("UTF-8")
    Native::FREE_TEXT.call(place)
    raise Fault, text unless status.zero?

    text
  end
end

gate = Gate.new
gate.register(agent: "orders", schema: { type: "object", required: ["count"],
                                         properties: { count: { type: "integer", minimum: 1 } } })
puts gate.validate("orders", "So: ```json\n{\"count\": 2}\n```")
begin
  gate.validate("nobody", "{}")
rescue Fault => e
  puts e.message
end
