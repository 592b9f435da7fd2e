"""The facts of one run, for callers who own their loop."""

from __future__ import annotations

import copy
import difflib
import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ._arguments import wrong
from ._decisions import Call, Facts, Surface, ToolResult
from ._defaults import TIMEOUT
from ._limits import Limits
from ._turns import Turns
from ._words import AllowedDecision, ApprovalDecision, Ask, Decision, DeniedDecision, Observation

if TYPE_CHECKING:
    from typing_extensions import Unpack


Made = TypeVar("Made", bound="AllowedDecision | DeniedDecision | ApprovalDecision | Observation | Surface")


class Decides(Protocol):
    """Decides about calls, given the facts. A gate does."""

    def surface(self, agent: str, facts: Facts, listed: Mapping[str, Any] | None = None) -> Surface: ...

    def permit(self, agent: str, facts: Facts, call: Call) -> Decision: ...

    def observe(self, agent: str, facts: Facts, call: Call, result: ToolResult) -> Observation: ...


class Loop:
    """Decides about the calls of one run, and keeps its facts: see `Gate.loop`. Any number of threads may use one.

    Each decision takes all previous ones into account: the budgets that are used, the labels of the data that the model
    has read, and the questions and approvals. A thread waits for its turn for at most `Limits.timeout_seconds`. Then
    the fault `busy` is raised.
    """

    def __init__(self, gate: Decides, agent: str, facts: Facts, clock: Callable[[], float]) -> None:
        self._gate = gate
        self._clock = clock
        _known(facts)
        limits = getattr(gate, "limits", None)
        self._turns = Turns("loop", limits.timeout_seconds if isinstance(limits, Limits) else float(TIMEOUT))
        self._facts = cast("dict[str, Any]", {"nonce": secrets.token_hex(16), **copy.deepcopy(facts)})
        self.agent = agent
        """The agent whose profile applies."""

    def __repr__(self) -> str:
        return f"<seamgate.Loop of {self.agent}>"

    @property
    def facts(self) -> Facts:
        """The current facts. To resume the loop later, store them and call `gate.loop(agent, **facts)`. The nonce in
        them is a secret."""
        with self._turns:
            return cast(Facts, copy.deepcopy(self._facts))

    def surface(self, listed: Mapping[str, Any] | None = None) -> Surface:
        """Decide which tools the model may see. From now on, calls of other tools are denied.

        Args and errors are those of `Gate.surface`.
        """
        now = self._clock()
        with self._turns:
            return self._kept(self._gate.surface(self.agent, self._at(now), listed))

    def permit(self, call: Call) -> Decision:
        """Decide whether a call may run. If it may, send the `arguments` of the decision, and nothing else.

        Raises:
            SeamgateFault: As `Gate.permit`.
        """
        now = self._clock()
        with self._turns:
            return self._kept(self._gate.permit(self.agent, self._at(now), call))

    def observe(self, call: Call, result: ToolResult) -> Observation:
        """Turn the result of a call into an observation. Show the model its `message`, and nothing else of the result.

        Raises:
            SeamgateFault: As `Gate.observe`.
        """
        now = self._clock()
        with self._turns:
            return self._kept(self._gate.observe(self.agent, self._at(now), call, result))

    def approve(self, asked: Decision | Ask, principal: str) -> None:
        """Record that a person approves a call. Then `permit` the same call again, which checks the approval.

        Args:
            asked: The decision that needs approval, or its `ask`.
            principal: The person who approves. The host knows who that is, and never takes it from text of the model.

        Raises:
            ValueError: The decision asks for nothing.
        """
        self._decided(asked, principal, "approved")

    def reject(self, asked: Decision | Ask, principal: str) -> None:
        """Record that a person rejects a call. Then `permit` the same call again: it is denied.

        Args and errors are those of `approve`.
        """
        self._decided(asked, principal, "rejected")

    def spend(self, *, tokens: int = 0, ms: int = 0) -> None:
        """Count what the model took against the profile's budget. Calls of tools count themselves.

        Args:
            tokens: Tokens of the model, in and out.
            ms: Milliseconds. Waiting for a person does not count.
        """
        for name, more in (("tokens", tokens), ("ms", ms)):
            if isinstance(more, bool) or not isinstance(more, int):
                raise wrong(name, "a whole number", more)
        with self._turns:
            used = dict(self._facts.get("used", {}))
            for name, more in (("tokens", tokens), ("ms", ms)):
                used[name] = used.get(name, 0) + more
            self._facts["used"] = used

    def said(self, text: str) -> None:
        """Record the words of a person, which can prove the profile's `origins`. Only the last 64 KiB are kept.

        Args:
            text: The person's words, unchanged. Never text of the model or of a tool.
        """
        if not isinstance(text, str):
            raise wrong("text", "a str", text)
        with self._turns:
            self._facts["said"] = [*self._facts.get("said", []), text][-64:]

    def update(self, **facts: Unpack[Facts]) -> None:
        """Replace facts, such as the mode, the surface or a value of the context.

        Args:
            facts: The members that changed.
        """
        _known(facts)
        with self._turns:
            self._facts.update(copy.deepcopy(facts))

    def _decided(self, asked: Decision | Ask, principal: str, decision: str) -> None:
        if isinstance(asked, (AllowedDecision, DeniedDecision)):
            raise ValueError("the decision asks for nothing: only one with `permit` = approval does")
        ask = asked.ask if isinstance(asked, ApprovalDecision) else asked
        if not isinstance(ask, Ask):
            raise wrong("asked", "an `ApprovalDecision` or its `ask`", asked)
        if not isinstance(principal, str):
            raise wrong("principal", "the name of a person, a str", principal)
        now = self._clock()
        with self._turns:
            at = self._at(now)["at"]
            decided = {"key": ask.key, "digest": ask.digest, "decision": decision, "principal": principal, "at": at}
            self._facts["approvals"] = [*self._facts.get("approvals", []), decided]

    def _at(self, now: float) -> Facts:
        """Sets the time of the facts, in seconds since 1970. Time never goes back."""
        self._facts["at"] = max(int(now * 1000), self._facts.get("at", 0))
        return cast(Facts, self._facts)

    def _kept(self, made: Made) -> Made:
        self._facts.update(made.facts)
        return made


def _known(facts: Mapping[str, Any]) -> None:
    """Refuses unknown names of facts: a misspelled fact would have no effect."""
    for name in facts:
        if name not in Facts.__annotations__:
            near = difflib.get_close_matches(name, Facts.__annotations__, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f": {', '.join(Facts.__annotations__)}"
            raise TypeError(f"{name!r} is no member of the facts{hint}")
