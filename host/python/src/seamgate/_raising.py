"""Calls the native module, and converts its errors to the exceptions of this package."""

from __future__ import annotations

from . import _json
from ._defaults import STACK
from ._faults import LoadError, SeamgateFault
from ._limits import Limits
from ._types import Finish

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")


def fault_of(text: str) -> SeamgateFault:
    """Converts a fault that is JSON text to a `SeamgateFault`."""
    fault = _json.parse(text)
    return SeamgateFault(fault["fault"], fault["message"], fault["detail"])


def limits_of(limits: Limits) -> tuple[int | None, int | None, int, float, int]:
    """Converts limits to the form that the native module takes.

    Raises:
        LoadError: The size of the stack is not the default.
    """
    if limits.stack != STACK:
        message = f"the stack of the native backend has {STACK} bytes; leave `Limits.stack` out"
        raise LoadError(message)
    return limits.fuel, limits.contract_fuel, limits.memory, limits.timeout_seconds, limits.output_bytes


def raising(call: Callable[..., T], *arguments: Any) -> T:
    """Call a function of the native module.

    Raises:
        SeamgateFault: It ended in a fault.
        LoadError: A component could not be loaded.
    """
    from . import _native

    try:
        return call(*arguments)
    except _native.Fault as error:
        raise fault_of(error.args[0]) from None
    except _native.LoadFault as error:
        raise LoadError(*error.args) from None


def unfit_is_a_fault(call: Any, *arguments: Any) -> Any:
    """Call the native module, which cannot report details about an argument of the wrong form.

    Raises:
        SeamgateFault: It ended in a fault, or an argument has the wrong form.
    """
    from . import _native

    try:
        return call(*arguments)
    except _native.Fault as error:
        raise fault_of(error.args[0]) from None
    except _native.Unfit as error:
        known = {
            "finish": f"finish: must be one of {', '.join(word.value for word in Finish)}, or an API's word for one",
            "evidence": "evidence: must be a list of observations with all their members",
        }
        raise SeamgateFault("bad_request", known.get(str(error), str(error))) from None
