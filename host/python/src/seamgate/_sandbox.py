"""The sandbox: a compiled component, its instances, and the limits of a call."""

from __future__ import annotations

import atexit
import hashlib
import math
import os
import threading
import time
import weakref
from collections.abc import Callable
from importlib import metadata, resources
from pathlib import Path
from typing import Any, TypeVar

from wasmtime import Config, Engine, Store, WasmtimeError
from wasmtime.component import Component, ExportIndex, Instance, Linker

from . import _cache
from ._fault_code import FaultCode
from ._faults import LoadError, SeamgateFault
from ._limits import Limits, Usage

T = TypeVar("T")

WORLD = "seamgate:validator/validator@0.1.0"
WIRE = "seamgate:validator/wire@0.1.0"
REGISTRY = "seamgate:validator/registry@0.1.0"
PROFILES = "seamgate:harness/profiles@0.1.0"
KERNEL = "seamgate:harness/kernel@0.1.0"

# The seconds between two ticks of the clock.
_TICK = 0.01

# The thread ends after this many ticks without a call. Starting a thread costs as much as a small call.
_IDLE_TICKS = 10

# The memory that 32 bits can address, and the fuel for finding out whether more memory helps.
_MOST_MEMORY = 2**32
_FURTHER = 100_000

# The fault of a stopped call, by the last words of the runtime's message. The message begins with the frames, in
# which a component may have names that look like these words.
_ENDS: dict[str, FaultCode] = {
    "wasm trap: all fuel consumed by WebAssembly": "out_of_fuel",
    "wasm trap: call stack exhausted": "stack_overflow",
    "wasm trap: interrupt": "timeout",
}


class Ticker:
    """Increments an engine's epoch while calls are in flight, in a separate thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._alone()
        _TICKERS.add(self)

    def _alone(self) -> None:
        """Resets to the initial state, without calls in flight and without a thread. Also used in a forked process."""
        # Reentrant, because a signal handler may begin a call while this thread holds the lock.
        self._lock = threading.RLock()
        self._calls = 0
        self._thread: threading.Thread | None = None
        self._ended = False

    def end(self) -> None:
        """Stops for good, before the engine is freed."""
        with self._lock:
            self._ended = True

    def __enter__(self) -> None:
        with self._lock:
            self._calls += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="seamgate-clock", daemon=True)
                self._thread.start()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._calls = max(self._calls - 1, 0)

    def _run(self) -> None:
        idle = 0
        while True:
            time.sleep(_TICK)
            with self._lock:
                if self._ended:
                    return
                self._engine.increment_epoch()
            idle = 0 if self._calls else idle + 1
            if idle >= _IDLE_TICKS:
                with self._lock:
                    if not self._calls:
                        self._thread = None
                        return


_TICKERS: weakref.WeakSet[Ticker] = weakref.WeakSet()


def _after_fork() -> None:
    for ticker in list(_TICKERS):
        ticker._alone()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

# The objects of the runtime that this module holds.
_HELD: weakref.WeakSet[Any] = weakref.WeakSet()


def _held(managed: T) -> T:
    _HELD.add(managed)
    return managed


@atexit.register
def _let_go() -> None:
    """Frees the remaining objects before the interpreter shuts down. Later, each would print that its destructor no
    longer exists."""
    for ticker in list(_TICKERS):
        ticker.end()
    for managed in list(_HELD):
        managed.close()


class Stopped(Exception):
    """An instance was stopped and cannot be used again."""

    def __init__(self, error: Exception, used: int, limit: int, used_by: str = "the verdict") -> None:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        super().__init__(lines[-1] if lines else "it says nothing")
        self.code: FaultCode = _ENDS.get(str(self), "trap")
        self.used = used
        """The fuel that it had used."""
        self.limit = limit
        """The fuel of the budget that was in force."""
        self.used_by = used_by
        """The work that used the fuel: `compiling` or `the verdict`."""


class Sandbox:
    """A compiled component, and the limits of its instances."""

    def __init__(self, component: bytes | None, limits: Limits, cache: bool) -> None:
        self.is_builtin = component is None
        self.limits = limits
        wasm = _builtin() if component is None else component
        digest = hashlib.sha256(wasm).hexdigest()
        self.digest = f"sha256:{digest}"
        self._engine = _held(Engine(_config(limits)))
        self._component = _held(_compiled(self._engine, wasm, digest, cache))
        for name in self._component.type.imports(self._engine):
            raise LoadError(f'the component imports "{name}"; a validator imports nothing')
        self._linker = _held(Linker(self._engine))
        self.ticker = Ticker(self._engine)
        self.call = self._export(WIRE, "call")
        self.register = self._export(REGISTRY, "register")
        self.lint = self._export(REGISTRY, "lint")

    def _export(self, interface: str, function: str) -> ExportIndex:
        found = self._find(interface, function)
        if not found:
            what = f"no exported function named `{function}` in `{interface}`"
            raise LoadError(f"the component does not export the world {WORLD}: {what}")
        return found

    def harness(self, interface: str, function: str) -> ExportIndex:
        """Returns a function of the kernel, which a component may lack.

        Raises:
            SeamgateFault: The component lacks it.
        """
        found = self._find(interface, function)
        if not found:
            raise SeamgateFault("trap", f"the component failed: the component has no {interface}")
        return found

    def _find(self, interface: str, function: str) -> ExportIndex | None:
        instance = self._component.get_export_index(interface)
        if instance is None:
            return None
        found = self._component.get_export_index(function, _held(instance))
        return None if found is None else _held(found)

    def enter(self, memory: int) -> Live:
        """Returns a fresh instance.

        Raises:
            Stopped: It does not start.
        """
        store = _held(Store(self._engine))
        # One memory, and the other resources that the built-in component needs.
        store.set_limits(memory_size=memory, table_elements=20_000, instances=8, tables=8, memories=1)
        # Instantiating runs the component's start code. The built-in component has none, but another may have any.
        fuel = self.limits.fuel_for(0)
        self.limit(store, fuel)
        try:
            return Live(store, self._linker.instantiate(store, self._component))
        except WasmtimeError as error:
            raise Stopped(error, fuel - store.get_fuel(), fuel) from None

    def limit(self, store: Store, fuel: int) -> None:
        """Sets the limits of a call that begins now."""
        store.set_fuel(fuel)
        # The current, incomplete tick does not count.
        store.set_epoch_deadline(math.ceil(self.limits.timeout_seconds / _TICK) + 1)

    def run(self, operation: Callable[[Live], T], fuel: int) -> tuple[T, Usage, Live]:
        """Run an operation in a fresh instance within the limits.

        Raises:
            SeamgateFault: A limit was exceeded, or the component failed; or the operation raised it.
        """
        memory = self.limits.memory
        try:
            return self.attempt(operation, fuel, None)
        except Stopped as stopped:
            if stopped.code != "trap":
                raise self.fault(stopped) from None
            first = stopped
        # Wasmtime for Python does not report whether an allocation was refused. But a guest is deterministic, so if
        # more memory makes a difference, there was too little. The guest gains little from the second run, because its
        # fuel ends shortly after the point where it was stopped.
        try:
            self.attempt(operation, first.used + _FURTHER, None, _MOST_MEMORY)
        except Stopped as again:
            if (again.code, again.used) == (first.code, first.used):
                raise self.fault(first) from None
        except SeamgateFault:
            pass
        message = f"the verdict took more than {memory} bytes of memory"
        raise SeamgateFault("out_of_memory", message, {"limit": memory})

    def attempt(
        self, operation: Callable[[Live], T], fuel: int, live: Live | None, memory: int | None = None
    ) -> tuple[T, Usage, Live]:
        """Runs an operation once, in this instance or a fresh one.

        Raises:
            Stopped: The instance was stopped.
            SeamgateFault: The operation raised it.
        """
        with self.ticker:
            if live is None:
                live = self.enter(self.limits.memory if memory is None else memory)
            self.limit(live.store, fuel)
            live.begin(fuel)
            start = time.perf_counter()
            try:
                value = operation(live)
            except _CallError as error:
                raise Stopped(error.args[0], live.used, live.limit, live.used_by) from None
            elapsed = time.perf_counter() - start
            return value, Usage(live.used, elapsed, self.digest), live

    def fault(self, stopped: Stopped) -> SeamgateFault:
        """Returns the fault for a stopped instance."""
        limits = self.limits
        if stopped.code == "out_of_fuel":
            message = f"{stopped.used_by} took more than {stopped.limit} units of fuel"
            return SeamgateFault(stopped.code, message, {"limit": stopped.limit})
        if stopped.code == "stack_overflow":
            message = f"the verdict took more than {limits.stack} bytes of stack"
            return SeamgateFault(stopped.code, message, {"limit": limits.stack})
        if stopped.code == "timeout":
            milliseconds = round(limits.timeout_seconds * 1000)
            message = f"the verdict took longer than {milliseconds} ms"
            return SeamgateFault(stopped.code, message, {"limit": milliseconds})
        return SeamgateFault("trap", f"the component failed: {stopped}")


class Live:
    """An instance that has not been stopped."""

    def __init__(self, store: Store, instance: Instance) -> None:
        self.store = store
        self._instance = instance
        self.agents: set[str] = set()
        """The agents whose contracts are registered in it."""
        self.profiles: set[str] = set()
        """The agents whose profiles are registered in it."""
        self.fuel = 0
        """The fuel of the call, without that for contracts and profiles."""
        self.limit = 0
        """The fuel of the current budget."""
        self.used_by = "the verdict"
        """The work that the current budget is for, as a fault names it."""
        self._before = 0

    def begin(self, fuel: int) -> None:
        """Begins a call with this much fuel."""
        self.fuel = self.limit = fuel
        self.used_by = "the verdict"
        self._before = 0

    def grant(self, fuel: int, used_by: str = "the verdict") -> None:
        """Starts another budget, and drops the rest of the previous one. If it is exhausted, the fault names
        `used_by`."""
        self.used_by = used_by
        self._before = self.used
        self.limit = fuel
        self.store.set_fuel(fuel)

    @property
    def used(self) -> int:
        """Returns the fuel that the call has used."""
        return self._before + self.limit - self.store.get_fuel()

    def call(self, function: ExportIndex, *arguments: str | None) -> Any:
        """Calls one of the instance's functions, whose arguments are texts.

        `Sandbox.attempt` converts the errors.
        """
        try:
            found = self._instance.get_func(self.store, function)
            if found is None:
                raise TypeError("an export is no function")
            return found(self.store, *arguments)
        except (WasmtimeError, TypeError, ValueError) as error:
            raise _CallError(error) from None


class _CallError(Exception):
    """A call of a function failed. The exception holds the cause."""


def _builtin() -> bytes:
    try:
        return resources.files("seamgate").joinpath("harness.wasm").read_bytes()
    except FileNotFoundError:
        raise LoadError("the component is not in this package: build its wheel with `cargo xtask python`") from None


def _config(limits: Limits) -> Config:
    config = Config()
    # Fuel limits the work, equally on every machine; epochs limit the time.
    config.consume_fuel = True
    config.epoch_interruption = True
    config.max_wasm_stack = limits.stack
    # Results are the same on all machines: one NaN, and no instruction with machine-dependent results.
    config.cranelift_nan_canonicalization = True
    config.wasm_relaxed_simd = False
    # A component needs none of these features. Disabling them reduces the attack surface.
    config.wasm_memory64 = False
    config.wasm_multi_memory = False
    config.wasm_tail_call = False
    config.parallel_compilation = os.getpid() == _COMPILER
    return config


# Compiler threads exist only in the process that started them. A forked process would wait for them forever.
_COMPILER = os.getpid()


def _compiled(engine: Engine, wasm: bytes, digest: str, cache: bool) -> Component:
    key = f"{digest}-python-{metadata.version('wasmtime')}"
    kept = _cache.load(key, lambda path: _load(engine, path)) if cache else None
    if kept is not None:
        return kept
    try:
        component = Component(engine, wasm)
    except WasmtimeError as error:
        raise LoadError(f"not a WebAssembly component: {error}") from None
    if cache:
        _cache.keep(key, component.serialize())
    return component


def _load(engine: Engine, path: Path) -> Component:
    return Component.deserialize_file(engine, str(path))
