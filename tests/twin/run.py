"""`advance`: the events of a run, and what each leads to, in the words of `must.txt` of tests/runs.

What is implemented is in README.md. Anything else raises `Unsupported`, and the rest of the run is not compared.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from profile import Tool, group_members, number
from typing import Any

from observe import Observation, Unsupported, observe
from permit import BadRequest, Decision, Kernel, allowed_tools, find
from schema import Schema
from values import (
    Malformed,
    Number,
    canonical,
    compact,
    parse,
    path_of,
    plain,
    pointer,
    select,
)

MODEL_MS, QUESTION_MS = 600_000, 86_400_000
OPEN = ("asked", "ready", "sent", "started", "uncertain")


@dataclass
class Call:
    key: str
    wanted: dict[str, Any]
    batch: int
    tool: Tool | None = None
    state: str = "denied"
    digest: str = ""
    by: list[str] = field(default_factory=list)
    expires: int | None = None
    approved_until: int | None = None
    code: str = ""
    counted: str = ""
    counted_at: int = 0
    ran: bool = False

    @property
    def effect(self) -> str:
        return self.tool.effect if self.tool else "read"

    @property
    def name(self) -> str:
        return self.tool.name if self.tool else self.wanted["tool"]


class Run:
    """One run. `send` gives the words of its records and actions."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.profile = kernel, kernel.profile
        self.loop = "prompt" in self.profile.document and "final" in self.profile.document
        self.facts: dict[str, Any] = {}
        self.calls: dict[str, Call] = {}
        self.step = self.steps = self.strikes = self.failures = self.batch = self.start = self.waited = 0
        self.model: tuple[str, str, int] | None = None
        self.question: tuple[str, int] | None = None
        self.status, self.stop, self.final_asked, self._late = "new", "", False, False
        self.broken = False  # whether the model failed for good: the run ends after this event
        self.without = False  # whether the last ask came because no tool was available
        self.denials: dict[str, int] = {}
        self.seen: list[str] = []
        self.records: list[str] = []
        self.actions: list[str] = []
        self.last: dict[str, str] = {}
        prompt = self.profile.document.get("prompt", {})
        sizes = (self.profile.budget.get("state_bytes", 2**20), number(prompt.get("max_bytes"), 2**20) or 0)
        if sizes[0] < 200_000 or sizes[1] < 20_000:
            raise Unsupported("the sizes of prompts and states")

    # The step

    def send(self, event: dict[str, Any]) -> str:
        self.records, self.actions, self._late = [], [], False
        text = canonical({name: item for name, item in event.items() if name != "at"}) + str(event["at"])
        kind = event["type"]
        if self.status == "new":
            if kind != "started":
                raise BadRequest("the first event")
            return self._end(text, self._started(event))
        if self.status == "ended":
            return self._end(text, self._ignore("finished"))
        if text in self.seen and kind != "model_output":
            return self._end("", self._ignore("repeated"))
        if kind == "started" or "listed" in event:
            if kind != "started":
                raise Unsupported("listed")
            return self._end(text, self._ignore("started"))
        before = self._now()
        self.facts["at"] = max(before, event["at"])
        if self._waits() or kind == "resumed":
            self.waited += self._now() - before
        handler = getattr(self, "_" + kind, None)
        if handler is None:
            raise Unsupported(kind)
        # What a call came to counts, however late it is. Anything else comes after what lapsed.
        call = self.calls.get(event.get("call", ""))
        waits = call is not None and call.state == "ready" and call.approved_until is None
        if kind in ("tool_result", "tool_failed", "job") or (kind == "call_cancelled" and not waits):
            handler(event)
            self._lapse(resumed=False)
        elif self._lapse(resumed=kind == "resumed") and kind == "model_output":
            self._ignore("late")
        else:
            handler(event)
        return self._end(text, None)

    def _end(self, text: str, _: None) -> str:
        if text:
            self.seen = [*self.seen[-63:], text]
        self.step += 1
        if self.broken and self.status == "running":
            self._finish("" if self.stop else "failed", self.stop or "model")
        if self._late and self.status == "running":
            self._stop_calls("budget")
            self._finish("", self._why("budget"))
        if self.status == "running":
            self._go_on()
        asked = {f"ask_approval:{call.key}" for call in self.calls.values() if call.state != "asked"}
        words = [*self.records, *(one for one in self.actions if one not in asked)]
        return " ".join(words) or "nothing"

    def _ignore(self, code: str) -> None:
        self.records.append(f"ignored:{code}")

    def _now(self) -> int:
        return int(self.facts["at"])

    def _waits(self) -> bool:
        """Whether the run waits for a person, and for nothing else."""
        under_way = any(call.state in ("sent", "started") for call in self.calls.values())
        asked = self.question or any(call.state in ("asked", "uncertain") for call in self.calls.values())
        return bool(asked) and not under_way and self.model is None

    def _used_ms(self) -> int:
        return self._now() - self.start - self.waited

    def _deadline(self) -> int | None:
        return self.start + self.waited + self.profile.budget["ms"] if "ms" in self.profile.budget else None

    # Events

    def _started(self, event: dict[str, Any]) -> None:
        if "parent" in event or "listed" in event:
            raise Unsupported("started")
        for name in ("run", "principal", "nonce", "lists", "labels", "task"):
            if name in event:
                self.facts[name] = event[name]
        self.facts |= {"at": event["at"], "context": {}, "labels": sorted(event.get("labels", []))}
        self.start, self.status = event["at"], "running"
        if self.profile.modes:
            self.facts["mode"] = event.get("mode", next(iter(self.profile.modes)))
            if self.facts["mode"] not in self.profile.modes:
                raise BadRequest("mode")
        task = self.profile.document.get("task")
        if task and task.get("frame") and not isinstance(event.get("task"), dict):
            raise Unsupported("frame")
        if task and ("task" not in event or not Schema(task["schema"]).accepts(event["task"])):
            return self._finish("failed", "task")
        for name, value in event.get("context", {}).items():
            self._take(name, value)
        for one in self.profile.context:
            if one.get("required") and one["name"] not in self.facts["context"]:
                return self._finish("failed", "context")
        return None

    def _take(self, name: str, value: Any) -> bool:
        declared = next((one for one in self.profile.context if one["name"] == name), None)
        if declared is None:
            self.records.append("left_out:undeclared")
        elif len(compact(value)) > 262_144:
            self.records.append("left_out:too_large")
        elif not Schema(declared["schema"]).accepts(value):
            self.records.append("left_out:invalid")
        else:
            self.facts["context"][name] = value
            self.facts["labels"] = sorted({*self.facts["labels"], *declared.get("labels", [])})
            return True
        return False

    def _tick(self, event: dict[str, Any]) -> None:
        pass

    def _said(self, event: dict[str, Any]) -> None:
        self.facts["said"] = [*self.facts.get("said", []), event["text"]]

    def _user_message(self, event: dict[str, Any]) -> None:
        if not self.loop:
            return self._ignore("no_loop")
        self.strikes = 0
        return self._said(event)

    def _context(self, event: dict[str, Any]) -> None:
        taken = self._take(event["name"], event["value"])
        if not taken and any(one["name"] == event["name"] and one.get("required") for one in self.profile.context):
            self._stop_calls("cancelled")
            return self._finish("failed", "context")
        return self._judge_again()

    def _mode(self, event: dict[str, Any]) -> None:
        mode = self.profile.modes.get(event["mode"])
        if mode is None:
            return self._ignore("mode")
        if event["principal"] not in group_members(self.profile, mode.get("by", [])):
            return self._ignore("mode")
        self.facts["mode"] = event["mode"]
        return self._judge_again()

    def _call(self, event: dict[str, Any]) -> None:
        if self.loop:
            return self._ignore("loop")
        wanted = {name: event[name] for name in ("server", "tool", "arguments") if name in event}
        if event.get("joinable"):
            same = self._same(wanted)
            if same and same in event["joinable"]:
                self.records.append("joined")
                return None
        self.batch += 1
        self._ask_for(wanted)
        return None

    def _same(self, wanted: dict[str, Any]) -> str | None:
        try:
            tool = find(self.profile, wanted.get("server"), wanted["tool"])
            given = wanted["arguments"]
            return self.kernel.same(tool, parse(given if isinstance(given, str) else compact(given)))
        except Exception as fault:
            raise Unsupported("joinable") from fault

    def _model_output(self, event: dict[str, Any]) -> None:
        if self.model is None or self.model[0] != event["key"]:
            return self._ignore("late")
        purpose, self.model, self.failures = self.model[1], None, 0
        usage = event.get("usage", {})
        used = self.facts.setdefault("used", {})
        if "usage" not in event and "tokens" in self.profile.budget and self.profile.budget["tokens"] < 50_000:
            raise Unsupported("an estimate of tokens")
        used["tokens"] = used.get("tokens", 0) + sum(int(_plain(one)) for one in usage.values())
        if len(event.get("text", "")) > 65_536 or len(compact(event.get("message", ""))) > 65_536:
            raise Unsupported("a large text")
        if event.get("calls"):
            self.batch += 1
            if purpose == "final":
                self.records += ["deny:surface" for _ in event["calls"]] + ["output:calls"]
                return self._strike(2)
            self.strikes = 0
            for wanted in event["calls"]:
                self._ask_for({name: wanted[name] for name in ("server", "tool", "arguments") if name in wanted})
            return None
        if event.get("finish") in ("refusal", "content_filter"):
            self.records.append("output:refusal")
            return self._strike(2 if purpose == "final" else 1)
        return self._answer(event.get("text", ""), purpose)

    def _answer(self, text: str, purpose: str) -> None:
        try:
            value = parse(text)
        except Malformed:
            value = None
            if "{" in text and len(text) > 40:
                raise Unsupported("an answer in prose") from None
        if isinstance(value, dict) and list(value) == ["question"] and isinstance(value["question"], str):
            self.records.append("output:question")
            self._ask_person()
            return None
        if isinstance(value, dict) and list(value) == ["plan"]:
            self.records.append("output:plan")
            return self._strike(2 if purpose == "final" else 1)
        final = self.profile.document["final"]
        schema = final["contract"].get("schema", True)
        if value is not None and Schema(schema).accepts(value):
            if ("evidence" in final["contract"] and value.get("claims")) or final.get("evidence"):
                raise Unsupported("claims")
            self.records.append("output:answer")
            self.status = "ended"
            self.actions.append("finish:final")
            return None
        self.records.append("output:no_answer")
        return self._strike(2 if purpose == "final" else 1)

    def _strike(self, count: int) -> None:
        self.strikes += count
        if self.strikes >= 2:
            self._finish("", self._why("no_answer"))

    def _model_failed(self, event: dict[str, Any]) -> None:
        if self.model is None or self.model[0] != event["key"]:
            return self._ignore("late")
        return self._failed(event.get("retry", False))

    def _failed(self, retry: bool) -> None:
        self.final_asked &= self.model is None or self.model[1] != "final"
        self.model = None
        self.records.append("output:failure")
        self.failures += 1
        if not retry or self.failures >= 3:
            self.broken = True

    def _input(self, event: dict[str, Any]) -> None:
        if self.question is None or self.question[0] != event["key"]:
            return self._ignore("not_asked")
        self.question = None
        self.final_asked = False
        self.strikes = 0
        return self._said(event)

    def _approval(self, event: dict[str, Any]) -> None:
        call = self.calls.get(event["key"])
        if event["decision"] == "edited" or "remember" in event or "token" in event:
            raise Unsupported("approval")
        if call is None or call.state != "asked":
            return self._ignore("no_ask")
        if event["digest"] != call.digest:
            return self._ignore("digest")
        if event["principal"] not in call.by:
            return self._ignore("approver")
        if any("key" in one for group in self.profile.approvers.values() for one in group):
            raise Unsupported("token")
        if event["at"] < self._asked_at(call):
            return self._ignore("before_ask")
        one = {name: event[name] for name in ("key", "digest", "decision", "principal")} | {"at": self._now()}
        self.facts["approvals"] = [*self.facts.get("approvals", []), one]
        self._decide(call)
        if call.state == "asked" and f"ask_approval:{call.key}" not in self.actions:
            self.actions.append(f"ask_approval:{call.key}")
        if call.state == "denied":
            call.code = "rejected" if event["decision"] == "rejected" else "denied"
        return None

    def _asked_at(self, call: Call) -> int:
        mine = [one for one in self.facts.get("asks", []) if one["key"] == call.key and one["digest"] == call.digest]
        return int(mine[-1]["at"]) if mine else 0

    def _tool_started(self, event: dict[str, Any]) -> None:
        call = self.calls.get(event["call"])
        again = call is not None and call.state == "started" and call.effect != "effectful"
        if call is None or (call.state != "sent" and not again):
            return self._ignore("not_dispatched")
        call.state = "started"
        return None

    def _tool_result(self, event: dict[str, Any]) -> None:
        call = self.calls.get(event["call"])
        if call is None or call.state not in ("sent", "started", "uncertain") or call.tool is None:
            return self._ignore("late")
        result = {
            name: event[name] for name in ("status", "result", "text", "head", "tail", "returned") if name in event
        }
        made = observe(call.tool, self.facts, self._arguments(call), result)
        self.facts["labels"] = sorted({*self.facts["labels"], *made.labels})
        if made.status == "ok":
            self._keep(call, result)
        return self._observed(call, made)

    def _keep(self, call: Call, result: dict[str, Any]) -> None:
        """Keep the values of a result by which origins are proven."""
        tool = call.tool
        rules = [place for each in self.profile.tools for _, rule in each.origins for place in rule["from"]]
        places = [one for one in rules if isinstance(one, dict) and one.get("tool") in (call.name, tool and tool.full)]
        if not places or tool is None:
            return
        value = result.get("result")
        if "text" in result and (tool.result or tool.output or "items" in tool.entry.get("result", {})):
            value = parse(result["text"], 64)
        values: dict[str, Any] = {}
        for text in {one[name] for one in places for name in ("at", "named") if name in one}:
            found = [(at, item) for at, item in select(value, path_of(text) or ()) if isinstance(item, (str, Number))]
            values[text] = [
                {"at": pointer(at), **({"text": item} if isinstance(item, str) else {"number": item.raw})}
                for at, item in found
                if not isinstance(item, str) or len(item.encode()) <= 512
            ]
        seen = {"tool": tool.full, "call": call.key, "values": values}
        self.facts["observed"] = [*self.facts.get("observed", []), seen]

    def _arguments(self, call: Call) -> Any:
        given = call.wanted["arguments"]
        return parse(given) if isinstance(given, str) else given

    def _observed(self, call: Call, made: Observation | str) -> None:
        status = made if isinstance(made, str) else made.status
        call.state = "done"
        if status == "error" and call.tool:
            self.facts["labels"] = sorted({*self.facts["labels"], *_labels(call.tool)})
        self.records.append(f"observe:{status}")

    def _tool_failed(self, event: dict[str, Any]) -> None:
        call = self.calls.get(event["call"])
        if call is None or call.state not in ("sent", "started"):
            return self._ignore("late")
        if call.effect == "effectful" and call.state == "started" and event.get("effect") != "none":
            return self._uncertain(call)
        return self._observed(call, "error")

    def _uncertain(self, call: Call) -> None:
        call.state, call.expires = "uncertain", self._now() + QUESTION_MS * 7
        self.records.append("settled:uncertain")
        uncertain = [one for one in self.calls.values() if one.state == "uncertain"]
        if not self.loop and len(uncertain) > 16:
            self._settle(uncertain[0], "expired")
        self.actions.append("ask_input")

    def _call_cancelled(self, event: dict[str, Any]) -> None:
        call = self.calls.get(event["call"])
        if call is None or call.state not in ("asked", "ready", "sent", "started"):
            return self._ignore("late")
        if call.effect == "effectful" and call.state == "started" and event.get("effect") != "none":
            return self._uncertain(call)
        return self._settle(call, "cancelled")

    def _settle(self, call: Call, code: str) -> None:
        was, never_ran = call.state, call.state in ("asked", "ready", "sent")
        call.state, call.code = ("lost" if never_ran else "done"), code
        if never_ran:
            self._uncount(call, again=code in ("not_sent", "cancelled"))
        if code == "expired" and (was == "asked" or call.approved_until):
            self._denied(call, code)
        self.records.append(f"settled:{code}")

    def _cancelled(self, event: dict[str, Any]) -> None:
        self._stop_calls("cancelled")
        self._finish("cancelled", "cancelled")

    def _stop_calls(self, code: str) -> None:
        """End all calls. Those that were sent are cancelled, and an effect that ran is uncertain."""
        cancels = []
        for call in self.calls.values():  # What waits is judged before anything is cancelled.
            if call.state == "ready" and code == "budget" and not self._lost(call):
                if not self.stop or call.approved_until:
                    self._decide(call)
        for call in self.calls.values():
            if call.state in ("sent", "started"):
                cancels.append(f"cancel:{call.key}")
                if call.state == "started" and call.effect == "effectful":
                    call.state = "done"
                    self.records.append("settled:uncertain")
                elif code == "cancelled" or call.state == "sent":
                    self._settle(call, code if code == "cancelled" else "not_sent")
                else:
                    self._observed(call, "error")
            elif call.state == "ready" and self._lost(call):
                pass
            elif call.state in ("asked", "ready"):
                self._settle(call, "cancelled")
        self.actions += cancels

    def _job(self, event: dict[str, Any]) -> None:
        call = self.calls.get(event["call"])
        if call is None or call.state not in ("sent", "started"):
            return self._ignore("not_under_way")
        call.state = "started"
        call.expires = min(self._now() + 1000 * int(_plain(event.get("ttl_s", 600))), self._deadline() or 2**60)
        return None

    def _resolution(self, event: dict[str, Any]) -> None:
        call = self.calls.get(event["call"])
        if call is None or call.state != "uncertain":
            return self._ignore("not_uncertain")
        if event["outcome"] == "not_done":
            self._uncount(call, again=True)
        if call.tool:
            self.facts["labels"] = sorted({*self.facts["labels"], *_labels(call.tool)})
        self._observed(call, "ok" if event["outcome"] == "done" else "error")
        return None

    def _resumed(self, event: dict[str, Any]) -> None:
        if self.model:
            self.failures -= 1
            self._failed(True)
        if self.question:
            self._ask_person()
        for call in self.calls.values():
            if call.state == "uncertain":
                self.actions.append("ask_input")
            elif call.state == "started" and call.effect == "effectful":
                self._uncertain(call)
            elif call.state == "asked" and f"ask_approval:{call.key}" not in self.actions:
                self._decide(call)
                if call.state == "asked" and f"ask_approval:{call.key}" not in self.actions:
                    self.actions.append(f"ask_approval:{call.key}")
            elif call.state in ("sent", "started"):
                self._send_again(call)

    def _send_again(self, call: Call) -> None:
        """Send what was under way again. What was not started, or whose approval lapsed, is judged anew."""
        if call.state == "sent" or self._now() >= (call.approved_until or 2**60):
            self._decide(call, again=True)
        else:
            call.state, call.ran = "ready", True

    # Calls

    def _ask_for(self, wanted: dict[str, Any]) -> None:
        call = Call(f"c{len(self.calls) + 1}", wanted, self.batch)
        self.calls[call.key] = call
        self._decide(call)

    def _decide(self, call: Call, *, again: bool = False) -> None:
        if "used" in self.facts or "ms" in self.profile.budget:
            self.facts.setdefault("used", {})["ms"] = self._used_ms()
        kept, counted = json.loads(json.dumps(self.facts.get("used", {}))), call.counted
        self._uncount(call, again=True)
        if call.state in ("ready", "sent", "started"):
            # An approval is spent when the call starts.
            mine = {"key": call.key, "digest": call.digest}
            self.facts["approvals"] = [
                {**one, "spent": one.get("spent", False) and not mine.items() <= one.items()}
                for one in self.facts.get("approvals", [])
            ]
        decision: Decision = self.kernel.permit(self.facts, {"key": call.key, **call.wanted})
        if again and decision.codes in (["budget"], ["same_call"], ["rate"]):
            # It counted when it was permitted.
            call.state, call.counted, self.facts["used"] = "ready", counted, kept
            return
        if decision.tool and decision.tool.delegate:
            raise Unsupported("delegation")
        if decision.tool and "covers" in decision.tool.entry:
            raise Unsupported("covers")
        call.tool = decision.tool or call.tool
        if decision.permit == "allow":
            call.state, call.digest = "ready", decision.digest or ""
            if decision.approval:
                mine = [one for one in self.facts["asks"] if one["key"] == call.key and one["digest"] == call.digest]
                call.approved_until = int(mine[-1]["expires"])
            if any(one.state in OPEN for one in self._before(call)):
                return  # It is judged again, and counts, when its turn comes.
            call.counted = ("read:" if call.effect == "read" else "") + decision.same
            call.counted_at = self._now()
        self.facts |= decision.facts
        if decision.permit == "allow":
            return
        if decision.permit == "approval":
            ask = decision.ask or {}
            new = call.state != "asked" or call.digest != ask["digest"] or call.by != ask["by"]
            call.state, call.digest, call.by, call.expires = "asked", ask["digest"], ask["by"], ask["expires"]
            self.last[call.key] = self.last[""] = call.digest
            if new:
                self.actions.append(f"ask_approval:{call.key}")
        else:
            call.state = "denied"
            code = decision.codes[0]
            self.records.append(f"deny:{code}")
            self._denied(call, code)

    def _denied(self, call: Call, code: str) -> None:
        """Count a denial. An ask that nobody answers in time is one, too."""
        if code == "rejected" and self.loop and self.profile.document.get("on_reject") == "stop":
            self.stop = self.stop or "rejected"
        if self.loop and not self.stop:
            given = call.wanted["arguments"]
            with contextlib.suppress(Malformed):
                given = canonical(parse(given) if isinstance(given, str) else given)
            key = json.dumps([code, call.wanted["tool"], given if isinstance(given, str) else compact(given)])
            self.denials[key] = self.denials.get(key, 0) + 1
            if code in ("budget", "same_call"):
                self.stop = code
            elif self.denials[key] >= max(2, self.profile.budget.get("same_call", 2)):
                self.stop = "same_denial"

    def _uncount(self, call: Call, *, again: bool = False) -> None:
        """A call that is judged again counts once, and one that was not sent does not count for its rate."""
        if not call.counted or call.tool is None:
            return
        used = self.facts["used"]
        if again:
            used["tool_calls"] -= 1
            used["calls"] = {name: count - (name == call.counted) for name, count in used["calls"].items()}
        if call.counted_at in used.get("recent", {}).get(call.tool.full, []):
            used["recent"][call.tool.full].remove(call.counted_at)
        call.counted = ""

    def _judge_again(self) -> None:
        for call in self.calls.values():
            if call.state == "asked" or (call.state == "ready" and not call.counted and not self._lost(call)):
                self._decide(call)

    def _before(self, call: Call) -> list[Call]:
        """The effects before a call in the same answer that hold it back."""
        if call.effect == "read" or not self.loop:
            return []
        mine = [one for one in self.calls.values() if one.batch == call.batch and int(one.key[1:]) < int(call.key[1:])]
        return [one for one in mine if one.effect != "read" and (one.state in OPEN or one.state == "lost" or one.code)]

    def _turn(self) -> None:
        """Send what may be sent now. Effects of one answer run in its order, and are judged until their turn comes."""
        for call in self.calls.values():
            if call.state != "ready" or self._lost(call):
                continue
            held = any(one.state in OPEN for one in self._before(call))
            if held and self.stop and call.approved_until is None:
                self._settle(call, "cancelled")  # The run ends as soon as nothing is under way.
                continue
            if not call.counted:
                self._decide(call)
                held = any(one.state in OPEN for one in self._before(call))
            if call.state == "ready" and not held:
                call.state = "started" if call.ran else "sent"
                call.expires = min(self._now() + MODEL_MS, self._deadline() or 2**60)
                self.actions.append(f"execute:{call.name}")

    def _lost(self, call: Call) -> bool:
        """Settle a call that depends on an effect before it which did not run."""
        lost = next((one for one in self._before(call) if one.state == "lost" or one.code == "rejected"), None)
        if lost is None or call.approved_until is not None:
            return False
        self._settle(call, lost.code if lost.code in ("rejected", "expired", "cancelled") else "not_sent")
        return True

    def _lapse(self, *, resumed: bool) -> bool:
        """End what waited too long. Returns whether the model did."""
        now, deadline = self._now(), self._deadline()
        late = deadline is not None and now >= deadline and self.loop
        model = False
        for call in self.calls.values():
            if (call.state == "asked" and call.expires is not None and now >= call.expires) or (
                call.state == "ready" and now >= (call.approved_until or 2**60)
            ):
                self._settle(call, "expired")
            elif call.state == "ready":
                self._lost(call)
            elif call.state == "uncertain" and call.expires is not None and now >= call.expires:
                call.state, self.stop = "done", self.stop or ("unresolved" if self.loop else "")
            elif call.state in ("sent", "started") and now >= (call.expires or 0) and not resumed:
                self.actions.append(f"cancel:{call.key}")
                if call.state == "sent":
                    self._settle(call, "not_sent")
                elif call.effect == "effectful":
                    self._uncertain(call)
                else:
                    self._observed(call, "error")
            elif call.state == "sent" and now >= (call.approved_until or 2**60):
                if not resumed:
                    self.actions.append(f"cancel:{call.key}")
                self._decide(call)
        if self.question and now >= self.question[1]:
            self.question = None
        if self.model and now >= self.model[2]:
            model = True
            self.failures -= resumed
            self._failed(True)
        if late and self.status == "running":
            self._late = True
        return model

    # The loop

    def _ask_person(self) -> None:
        key = f"{self.facts['run']}/{self.step + 1}/{len(self.actions)}"
        self.question = (key, self._now() + QUESTION_MS)
        self.last["input"] = key
        self.actions.append("ask_input")

    def _why(self, otherwise: str) -> str:
        """Why the run ends: what led to the last ask, or else what happens now."""
        nothing = bool(self.profile.tools) and not allowed_tools(self.profile, self.facts)
        return self.stop or ("surface" if nothing and (self.final_asked or self.without) else otherwise)

    def _finish(self, status: str, code: str) -> None:
        self.status = "ended"
        self.actions = list(dict.fromkeys(one for one in self.actions if not one.startswith("ask_")))
        self.records.append(f"stop:{code}")
        default = "failed" if self.profile.document.get("on_limit") == "failed" else "final_partial"
        self.actions.append(f"finish:{status or default}")

    def _go_on(self) -> None:
        self._turn()
        if not self.loop or self.model or self.question:
            return
        if any(call.state in OPEN for call in self.calls.values()):
            return
        budget, used = self.profile.budget, self.facts.get("used", {})
        last = "steps" in budget and self.steps + 1 >= budget["steps"]
        for name in ("tool_calls", "tokens"):
            if name in budget and used.get(name, 0) >= budget[name] and (name != "tool_calls" or self.calls):
                self.stop = self.stop or "budget"
        tools = allowed_tools(self.profile, self.facts)
        nothing = not tools and bool(self.profile.tools)
        over = ("steps" in budget and self.steps >= budget["steps"]) or (
            "tokens" in budget and used.get("tokens", 0) >= budget["tokens"]
        )
        if over or self.final_asked:
            self._finish("", self._why("budget"))
            return
        if (self.stop or last or nothing) and self.profile.document["final"].get("evidence"):
            raise Unsupported("evidence")
        purpose = "final" if self.stop or last or nothing else "step"
        self.without |= nothing and not last and not self.stop
        self.stop = self.stop or ("budget" if last and not self.without else "")
        self.final_asked |= purpose == "final"
        self.steps += 1
        key = f"{self.facts['run']}/{self.step}/{len(self.actions)}"
        until = [self._now() + MODEL_MS, *([self._deadline()] if self._deadline() else [])]
        self.model = (key, purpose, min(one for one in until if one is not None))
        self.last["model"] = key
        self.actions.append(f"ask_model:{purpose}")


def _labels(tool: Tool) -> list[str]:
    return list(tool.entry.get("result", {}).get("labels", ["untrusted"]))


def _plain(value: Any) -> Any:
    return plain(value) if not isinstance(value, (int, float)) else value
