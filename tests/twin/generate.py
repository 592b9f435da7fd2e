"""Random profiles, facts and calls, each decided by the twin and by the kernel."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from profile import BadProfile, Profile
from typing import Any

from permit import BadRequest, Digests, Kernel
from seamgate import Gate, SeamgateFault
from values import parse

# fmt: off
PATHS = [
    *("/srv/app/a", "/srv/app", "/srv//app/./a", "/srv/app/../etc", "/srv/application", "/SRV/app/a", "/etc/passwd"),
    *("docs/a.md", "docs", ".", "", "a", "~/a", "~a", "/srv/app/~", "C:/x", "/srv/app/a:b", "\\srv", "/srv/app/\\x", "/"),
    *("/srv/app/*", "/srv/*/a", "/etc/$HOME", "/etc/%2e", "/etc/{a,b}", "/srv/app/a\n", "/srv/keys/k", "/srv/Keys/k"),
    *("/srv", "//srv/app", "./docs/a", "docs/../x", "/srv/app/", "/srv/app/é", "/srv/app/a b", " /srv/app", "..", "/.."),
]
HOSTS = [
    *("https://example.com/x", "http://example.com:8080", "example.com", "example.com:443", "https://Example.COM/"),
    *("https://a.example.org", "http://example.org", "https://example.com@evil.org/", "ftp://example.com/"),
    *("https://example.com.evil.org", "http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "https://[::1]/"),
    *("https://example.com\\@evil.org", "https://ex ample.com", "https://example。com/", "//example.com/x", "http:example.com"),
    *("https://example.com./", "example.com/x", "https://example.com:99999/", "https://example.com:/", "HTTPS://example.com"),
    *("https://user:pw@example.com/", "http://127.1/", "http://010.0.0.1/", "https://-a.example.org/", "https://example.com?x"),
    *("https://example.com#@evil.org", " https://example.com", "https:///example.com", "https://%65xample.com/", "", "x"),
    *("http://a_b.example.org", "https://.example.org", "https://a..example.org", "http://1.2.3.4.5/", "https://example.com/\n"),
]
WORDS = [
    *("cart", "payment-api", "bob@example.com", "Bob", "ann@example.com", "x.com", "50", "007", "13", "true", "null", ""),
    *("Eve", "p7", "10", "secret:shop_password", "secret:other", "https://x.com/a", "env", "prod", "db", "a b", "1,000"),
    *("BOB@example.com", "Cart", "cart.", "'cart'", "/srv/app", "docs/a.md", "1234", "report", "cart\n", "\u4e2d\u6587"),
]
TEXTS = [
    "Send it to Bob and to ann@example.com.", "restart cart, please", "pay $50 to bob@example.com;ann@example.com",
    "env=prod limit:7", "see https://x.com/a and x.com.evil.org", "the (cart) and \"payment-api\"!", "50.00 or 5e1",
    "1,000,000 and 1,000 and 1 500", "payment-api:8443", "cart.js", "write to 1234?", "id=p7, db:prod", "/srv/app and docs/a.md",
    "cart's", "cart-x", "_cart_", "Cart", "A CART", "cart/db", "cart,db", "cart\u3002", "\u4e2d\u6587 cart\u4e2d", "x=https://x.com/a?cart=1",
    "007", "agent 1234.", "1234.5", "-50", "+50", "50%", "\u20ac50", "#50", "50/60", "v50", "a b", "a  b", "a\nb", "{cart}", "<cart>",
]  # fmt: skip
# fmt: on
LABELS = ["untrusted", "private", "secret", "stale", "files"]
GROUPS = ["oncall", "lead", "owners"]
PEOPLE = ["anna", "ben", "cleo", "joe"]
EFFECTS = ["read", "idempotent", "effectful"]
NAMES = ["path", "url", "to", "n", "flag", "items", "o"]


class Random(random.Random):
    def maybe(self, chance: float) -> bool:
        return self.random() < chance

    def some(self, items: list[Any], least: int, most: int) -> list[Any]:
        return self.sample(items, min(len(items), self.randint(least, most)))


def scalar(r: Random) -> Any:
    roll = r.random()
    if roll < 0.22:
        return r.choice(PATHS)
    if roll < 0.42:
        return r.choice(HOSTS)
    if roll < 0.75:
        return r.choice(WORDS)
    return r.choice([0, 1, 5, 7, 10, 50, 100, 101, 1.5, -1, 1000000, True, False, None, 50.0, 1e3, 13, 1234, 1000])


def value(r: Random, deep: int = 2) -> Any:
    if deep and r.maybe(0.22):
        return [value(r, deep - 1) for _ in range(r.randint(0, 3))]
    if deep and r.maybe(0.15):
        return {name: value(r, deep - 1) for name in r.some(NAMES, 0, 3)}
    return scalar(r)


def for_name(r: Random, name: str) -> Any:
    if r.maybe(0.25):
        return value(r)
    if name == "path":
        return r.choice(PATHS)
    if name == "url":
        return r.choice(HOSTS)
    if name == "to":
        return r.choice(WORDS)
    if name == "n":
        return r.choice([0, 1, 5, 7, 10, 50, 100, 101, 1000])
    if name == "flag":
        return r.maybe(0.5)
    if name == "items":
        return [r.choice(PATHS + WORDS) for _ in range(r.randint(0, 3))]
    return {inner: r.choice(PATHS + HOSTS + WORDS) for inner in r.some(["path", "to", "url"], 0, 2)}


def arguments(r: Random) -> Any:
    given = {name: for_name(r, name) for name in r.some(NAMES, 0, 4)}
    if r.maybe(0.03):
        given[r.choice(["Path", "URL", "__proto__", "To", "extra"])] = scalar(r)
    if r.maybe(0.04):
        given["text"] = r.choice(
            ["[redacted:password]", "\u2026 [12 lines left out]", "https[:]//x", "\\u{200b}", "\\u{61}"]
        )
    if r.maybe(0.08):
        text = json.dumps(given, indent=r.choice([None, 1]))
        return r.choice(
            [text, text, text.replace("a", "\\u0061", 1), text + "x", text[:-1], "[]", "", '{"n":1e2}', '{"n":1,"n":2}']
        )
    return given


def leaf(r: Random) -> Any:
    return r.choice([
        {"pattern": "^/srv"}, {"pattern": "^/etc"}, {"type": "string"}, {"type": "string", "pattern": "^/etc"},
        {"const": r.choice([True, "cart", 5, None, ["a"]])}, {"enum": r.some(["cart", "db", 5, 7, True], 1, 3)},
        {"minimum": r.choice([0, 5, 50])}, {"maximum": r.choice([5, 100])}, {"type": "number", "maximum": 10},
        {"type": "integer"}, {"minLength": r.choice([0, 3])}, {"maxLength": 9}, {"type": ["string", "array"]},
        {"contains": {"pattern": "^/etc"}}, {"type": "array", "contains": {"const": "cart"}}, {"type": "object"},
        {"minItems": 1}, {"maxItems": 1}, {"type": "array", "items": {"pattern": "^/srv"}}, True, {}, {"type": "boolean"},
        {"exclusiveMaximum": 0}, {"multipleOf": 5}, {"items": {"type": "string"}}, {"uniqueItems": True},
        {"required": ["path"]}, {"properties": {"path": {"pattern": "^/srv"}}}, {"type": "null"},
        {"type": "object", "required": ["to"], "properties": {"to": {"const": "cart"}}},
    ])  # fmt: skip


def condition(r: Random, deep: int = 2) -> Any:
    roll = r.random()
    if deep == 0 or roll < 0.55:
        return leaf(r)
    if roll < 0.67:
        return {"anyOf": [condition(r, deep - 1) for _ in range(r.randint(1, 3))]}
    if roll < 0.74:
        return {"allOf": [condition(r, deep - 1) for _ in range(r.randint(1, 2))]}
    if roll < 0.8:
        return {"oneOf": [condition(r, deep - 1) for _ in range(2)]}
    if roll < 0.88:
        return {"not": condition(r, deep - 1)}
    if roll < 0.92:
        return {"if": condition(r, deep - 1), "then": condition(r, deep - 1)}
    first, second = leaf(r), leaf(r)
    if not isinstance(first, dict) or not isinstance(second, dict):
        return first
    return {**first, **second}


def when(r: Random) -> Any:
    names = r.some(NAMES, 1, 2)
    made: dict[str, Any] = {"properties": {name: condition(r) for name in names}}
    if r.maybe(0.7):
        made["required"] = names
    if r.maybe(0.1):
        return {"anyOf": [made, when(r)]}
    if r.maybe(0.06):
        return {"not": made}
    return made


def path(r: Random) -> str:
    return r.choice(
        ["$.path", "$.url", "$.to", "$.n", "$.items[*]", "$.items[0]", "$.items", "$.o.path", "$.o.to", "$.flag"]
    )


def place(r: Random) -> dict[str, Any]:
    roll = r.random()
    if roll < 0.35:
        return {"below": r.some(["/srv/app", "/srv", "docs", ".", "/", "/srv/keys", "docs/a.md"], 1, 2)}
    if roll < 0.6:
        return {
            "hosts": r.some(["example.com", "*.example.org", "127.0.0.1", "Example.com", "x.com", "localhost"], 1, 2)
        }
    if roll < 0.75:
        return {"values": r.some([*WORDS, "5", "true", "10"], 0, 8)}
    return {"list": "l"}


def approval(r: Random) -> Any:
    made: dict[str, Any] = {"by": r.some(GROUPS, 1, 2)}
    if r.maybe(0.5):
        made["ttl_s"] = r.choice([1, 60, 600])
    return {"approval": made}


def simple(r: Random) -> Any:
    return r.choice(["allow", "allow", "allow", "deny", approval(r)])


def case(r: Random) -> dict[str, Any]:
    made: dict[str, Any] = {"permit": simple(r)}
    if r.maybe(0.5):
        made["when"] = when(r)
    if r.maybe(0.4):
        made["below"] = {path(r): r.some(["/srv/app", "/srv", "docs", ".", "/srv/keys"], 1, 2)}
    if r.maybe(0.3):
        made["hosts"] = {path(r): r.some(["example.com", "*.example.org", "127.0.0.1"], 1, 2)}
    if len(made) == 1:
        made["when"] = when(r)
    return made


def tool(r: Random, name: str) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "effect": r.choice(EFFECTS), "permit": simple(r)}
    if r.maybe(0.35):
        made["permit"] = [case(r) for _ in range(r.randint(1, 3))] + ([{"permit": simple(r)}] if r.maybe(0.4) else [])
    if r.maybe(0.4):
        made["server"] = r.choice(["a", "b"])
    if r.maybe(0.25):
        made["arguments"] = {"properties": {one: condition(r, 1) for one in r.some(NAMES, 1, 2)}}
        if r.maybe(0.3):
            made["arguments"]["required"] = r.some(NAMES, 1, 1)
    if r.maybe(0.3):
        made["scope"] = []
        for _ in range(r.randint(1, 2)):
            rule = place(r) if r.maybe(0.7) else {"from": r.some(["task", "context.c"], 1, 2)}
            made["scope"].append({"path": path(r), **rule})
    if r.maybe(0.3):
        made["origins"] = []
        for _ in range(r.randint(1, 2)):
            sources: list[Any] = r.some(["user", "task", "context.c", place(r)], 1, 3)
            if r.maybe(0.3):
                sources.append(
                    {"tool": "t0", "at": "$.items[*].to", **({"named": "$.items[*].name"} if r.maybe(0.5) else {})}
                )
            rule = {"path": path(r), "from": sources}
            if r.maybe(0.7):
                rule["else"] = r.choice(["deny", "approval", approval(r)])
            made["origins"].append(rule)
    if r.maybe(0.3):
        made["egress"] = r.maybe(0.8)
    if r.maybe(0.2):
        made["same_call"] = r.randint(1, 3)
    if r.maybe(0.2):
        made["rate"] = r.choice(["1/second", "2/minute", "3/hour", "2/day"])
    if r.maybe(0.3):
        made["store"] = {"name": r.choice(["memory", "disk"]), **({"key": path(r)} if r.maybe(0.7) else {})}
    if r.maybe(0.15):
        made["secrets"] = [{"path": path(r), "names": r.some(["shop_password", "other", "x"], 1, 2)}]
    if r.maybe(0.1):
        made["max_arguments_bytes"] = 256
    if r.maybe(0.15):
        made["result"] = {"clean": r.choice(["none", "mark", {"untrusted": "none", "files": "full"}])}
    if r.maybe(0.15):
        made["definition"] = {"name": name, "inputSchema": {"type": "object", "properties": {one: {} for one in NAMES}}}
        if r.maybe(0.3):
            made["definition"]["inputSchema"]["properties"]["n"] = {"type": r.choice(["number", "any", "string"])}
    return made


def profile(r: Random, agent: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "agent": agent,
        "approvers": {g: [{"principal": who} for who in r.some(PEOPLE[:3], 1, 2)] for g in GROUPS},
        "context": [{"name": "c", "schema": True, "labels": r.some(LABELS, 0, 2)}],
        "tools": [tool(r, r.choice(["t0", "t1"]) if r.maybe(0.04) else f"t{i}") for i in range(r.randint(1, 3))],
    }
    if r.maybe(0.4):
        made["deny"] = [
            {"tool": r.choice(["*", made["tools"][0]["name"]]), "when": when(r), "reason": "no"}
            for _ in range(r.randint(1, 2))
        ]
    if r.maybe(0.6):
        made["flows"] = []
        for _ in range(r.randint(1, 3)):
            flow = {"after": r.choice(LABELS), "to": r.choice([*EFFECTS, "egress"])}
            flow["then"] = r.choice(["deny", "approval", "approval", approval(r)])
            held = any(one.get("origins") and one["effect"] == flow["to"] for one in made["tools"])
            made["flows"].append({**flow, **({"unless": "origins"} if held and r.maybe(0.7) else {})})
    if r.maybe(0.5):
        made["budget"] = {}
        for name in r.some(["tool_calls", "tokens", "ms", "same_call"], 1, 3):
            made["budget"][name] = r.randint(1, 4) if name != "same_call" else r.randint(1, 2)
    if r.maybe(0.15):
        made["modes"] = {"m": {"tools": r.some([t["name"] for t in made["tools"]], 0, 2) if r.maybe(0.3) else ["*"]}}
        if r.maybe(0.4):
            made["modes"]["m"]["when"] = {"$.env": r.some(["prod", 5, None], 1, 2)}
    return made


def document(r: Random) -> Any:
    return {
        name: r.choice([*TEXTS, scalar(r), [scalar(r), r.choice(TEXTS)]])
        for name in r.some(["env", "text", "to", "x"], 0, 4)
    }


def facts(r: Random) -> dict[str, Any]:
    made: dict[str, Any] = {"run": r.choice(["r1", "r2"]), "at": 1_790_000_000_000, "principal": r.choice(PEOPLE)}
    made["lists"] = {"l": r.some(WORDS + PATHS, 0, 10)}
    if r.maybe(0.7):
        made["task"] = document(r)
    if r.maybe(0.5):
        made["context"] = {"c": document(r)}
    if r.maybe(0.6):
        made["said"] = r.some(TEXTS, 0, 4)
    made["labels"] = r.some(LABELS, 0, 2)
    if r.maybe(0.3):
        made["observed"] = [observed(r, f"c{i}") for i in range(r.randint(1, 3))]
    if r.maybe(0.3):
        made["stores"] = [
            {"store": r.choice(["memory", "disk"]), "labels": r.some(LABELS, 1, 2), **({"key": r.choice(["cart", "docs/a.md", "srv/app/a"])} if r.maybe(0.7) else {})}
            for _ in range(r.randint(1, 2))
        ]  # fmt: skip
    if r.maybe(0.06):
        made["surface"] = r.some(["t0", "t1", "t2", "a/t0", "b/t0", "a/t1"], 1, 5)
    if r.maybe(0.2):
        made["programs"] = {r.choice(["/", "a/", "/t0", "a/t0"]): "sh x"}
    return made


def observed(r: Random, call: str) -> dict[str, Any]:
    count = r.randint(1, 3)
    values = {
        "$.items[*].to": [{"at": f"/items/{i}/to", "text": r.choice(WORDS + PATHS)} for i in range(count)],
        "$.items[*].name": [
            {"at": f"/items/{i}/name", "text": r.choice(["Bob", "cart", "Eve", "report"])} for i in range(count)
        ],
    }
    return {"tool": r.choice(["t0", "t0", "a/t0", "t1"]), "call": call, "values": values}


# Comparison


def relevant(found: list[str]) -> list[str]:
    """The facts that help to understand a difference."""
    text = " ".join(found)
    names = ["at", "labels", "principal"]
    names += ["asks", "approvals"] if any(w in text for w in ("ask", "appro", "expired", "rejected")) else []
    names += ["task", "context", "said", "lists", "observed"] if "scope" in text or "origin" in text else []
    names += ["used"] if "used" in text or "budget" in text or "rate" in text else []
    names += ["stores"] if "stores" in text else []
    return names


class Pairs:
    """What the twin's digests are called by the kernel. One digest of one must not stand for two of the other."""

    def __init__(self) -> None:
        self.kernel: dict[str, str] = {}
        self.twin: dict[str, str] = {}

    def learn(self, twin: str, kernel: str) -> bool:
        return self.kernel.setdefault(twin, kernel) == kernel and self.twin.setdefault(kernel, twin) == twin

    def turned(self, value: Any) -> Any:
        text = json.dumps(value)
        return json.loads(re.sub(r"sha256:[0-9a-f]{64}|\b[0-9a-f]{32}\b", lambda m: self.kernel.get(m[0], m[0]), text))


def settled(before: dict[str, Any], decision: dict[str, Any]) -> dict[str, Any]:
    """A decision in which facts have one order, and stores say each label once."""
    facts = dict(decision.get("facts", {}))
    if "asks" in facts:
        facts["asks"] = sorted(facts["asks"], key=lambda one: (one["key"], one["digest"]))
    whole: dict[str, set[str]] = {}
    for one in facts.get("stores", before.get("stores", [])):
        whole.setdefault(one["store"], set()).update(() if "key" in one else one["labels"])
    facts["stores"] = {}
    for one in decision.get("facts", {}).get("stores", before.get("stores", [])):
        labels = set(one["labels"]) - (whole.get(one["store"], set()) if "key" in one else set())
        if labels:
            name = f"{one['store']} {one.get('key')}"
            facts["stores"][name] = sorted(labels.union(facts["stores"].get(name, [])))
    return {**decision, "facts": facts}


def run(count: int, seed: int, limit: int) -> tuple[Counter[str], list[str]]:
    """Compare decisions until there are so many. Each profile decides a sequence of calls about growing facts."""
    from compare import differences, expected, shown

    counts: Counter[str] = Counter()
    failed: list[str] = []
    number, gate, decided = 0, Gate(), 0
    pairs = Pairs()
    while decided < count and len(failed) < limit:
        number += 1
        r = Random(f"{seed}/{number}")
        if number % 60 == 0:
            gate, pairs = Gate(), Pairs()
        agent = f"a{number}"
        document = profile(r, agent)
        text = json.dumps(document)
        try:
            twin: Kernel | None = Kernel(Profile(text), Digests())
        except BadProfile as fault:
            twin, why = None, str(fault)
        try:
            gate.register_profile(text)
        except SeamgateFault as fault:
            if twin is not None:
                failed.append(f"{seed}/{number}: profile: twin takes it, kernel: {fault.message}\n  {text}")
            counts["profiles refused"] += 1
            continue
        if twin is None:
            failed.append(f"{seed}/{number}: profile: kernel takes it, twin: {why}\n  {text}")
            continue
        counts["profiles"] += 1
        instance = gate.instance()
        mine = facts(r)
        if "modes" in document:
            mine["mode"] = "m"
        theirs = json.loads(json.dumps(mine))
        calls: list[dict[str, Any]] = []
        for step in range(r.randint(3, 14)):
            if calls and r.maybe(0.45):
                call = dict(r.choice(calls))
                if r.maybe(0.4):
                    call["key"] = f"c{step}"
            else:
                one = r.choice(document["tools"])
                call = {"key": f"c{step}", "tool": one["name"] if r.maybe(0.97) else "nope", "arguments": arguments(r)}
                if r.maybe(0.05):
                    call["server"] = r.choice(["a", "b"])
                elif "server" in one and r.maybe(0.7):
                    call["server"] = one["server"]
            calls.append(call)
            asked = json.dumps(call)
            try:
                made = twin.permit(parse(json.dumps(mine), 96), parse(asked, 96))
                left: dict[str, Any] = shown(made)
            except BadRequest:
                left = {"fault": "bad_request"}
            try:
                answer = json.loads(instance.permit(agent, json.dumps(theirs), asked).json)
                right = expected(answer, left.get("tool"))
            except SeamgateFault as fault:
                right = {"fault": fault.code}
            decided += 1
            word = "/".join([right.get("permit", "fault"), *right.get("codes", [])[:1]])
            counts[word] += 1
            if "digest" in left and "digest" in right and not pairs.learn(left["digest"], right["digest"]):
                failed.append(f"{seed}/{number}/{step}: digest of {asked}")
            if left.get("permit") == right.get("permit") == "allow":
                before = theirs.get("used", {}).get("calls", {})
                grown = [n for n, c in right["facts"]["used"]["calls"].items() if c > before.get(n, 0)]
                if len(grown) != 1 or not pairs.learn(made.same, grown[0].split(":")[-1]):
                    failed.append(f"{seed}/{number}/{step}: same of {asked}")
            found = differences(settled(theirs, pairs.turned(left)), settled(theirs, right))
            if found:
                tools = [one for one in document["tools"] if one["name"] == call["tool"]]
                rest = {name: item for name, item in document.items() if name not in ("tools", "approvers", "agent")}
                about = "\n".join(
                    ["", *found, f"call {asked}", f"tool {json.dumps(tools)}", f"rest {json.dumps(rest)}"]
                )
                about += f"\nfacts {json.dumps({name: theirs.get(name) for name in relevant(found)})}"
                reasons = [one["message"] for one in answer["reasons"]] if "permit" in right else []
                failed.append(f"{seed}/{number}/{step}:{about}\nkernel says {reasons}".replace("\n", "\n  "))
                break
            if "fault" in right:
                break
            mine |= left["facts"]
            theirs |= right["facts"]
            happen(r, mine, theirs, left, right)
    return counts, failed


def happen(
    r: Random, mine: dict[str, Any], theirs: dict[str, Any], left: dict[str, Any], right: dict[str, Any]
) -> None:
    """What comes between two calls: time, people's decisions, more labels."""
    at = mine["at"] + r.choice([0, 1, 500, 1000, 20_000, 59_999, 60_000, 600_000])
    mine["at"] = theirs["at"] = at
    if "ask" in left and r.maybe(0.8):
        for _ in range(r.randint(1, 2)):
            common = {"decision": "rejected" if r.maybe(0.12) else "approved", "principal": r.choice(PEOPLE)}
            common["at"] = at + r.choice([0, 0, 0, -1, -600_000, -100])
            wrong = r.maybe(0.05)
            for known, decision in ((mine, left), (theirs, right)):
                digest = "sha256:" + "0" * 64 if wrong else decision["ask"]["digest"]
                one = {"key": decision["ask"]["key"], "digest": digest, **common}
                known["approvals"] = [*known.get("approvals", []), one]
    if r.maybe(0.15):
        labels = sorted({*mine["labels"], r.choice(LABELS)})
        mine["labels"] = theirs["labels"] = labels
    if r.maybe(0.05):
        mine["principal"] = theirs["principal"] = r.choice(PEOPLE)
    if r.maybe(0.1) and "used" in mine:
        for known in (mine, theirs):
            known["used"] = {**known["used"], "tokens": known["used"]["tokens"] + 1}
