package dev.seamgate.sandbox;

import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.InterpreterMachine;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import java.util.function.Function;

/** A module, and what runs it. */
public record Code(WasmModule module, Function<Instance, Machine> machine) {
  /** Returns the module that this package has inside, as classes. */
  public static Code compiled() {
    return new Code(Compiled.load(), Compiled::create);
  }

  /** Returns a module that Chicory's interpreter runs. */
  public static Code interpreted(byte[] module) {
    return new Code(Parser.parse(module), InterpreterMachine::new);
  }
}
