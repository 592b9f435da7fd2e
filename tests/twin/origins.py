"""Where values of a call come from: docs/permissions.md, "Origins", and the words of a scope's `from`."""

from __future__ import annotations

import re
from typing import Any

from places import INSIDE, at_host, below
from values import ALL, Number, Path, kind, path_of, strings

QUOTES = "\"'`"
OPENING, CLOSING = "([{<", ")]}>"
SIGNS = ".,;:!?"
MAIL = re.compile(r"[A-Za-z0-9!#$%&*+/=?^_{|}~.-]+@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
SAID_BYTES = 64 * 1024


def _mail(text: str) -> bool:
    return bool(MAIL.fullmatch(text))


def _url(text: str) -> re.Match[str] | None:
    return re.fullmatch(r"(https?)://([^/?#]*)(.*)", text, re.IGNORECASE | re.DOTALL)


def folded(text: str) -> str:
    """A text in which only case that does not count is removed."""
    if _mail(text):
        return text.lower()
    found = _url(text)
    return f"{found[1].lower()}://{found[2].lower()}{found[3]}" if found else text


def _edge(text: str, at: int) -> bool:
    """Whether nothing, a blank, a quote or a bracket stands here."""
    return at < 0 or at >= len(text) or text[at].isspace() or text[at] in QUOTES + OPENING + CLOSING


def _ends(text: str, at: int) -> bool:
    if _edge(text, at):
        return True
    after = at + 1
    return text[at] in SIGNS and (
        after == len(text) or text[after].isspace() or text[after] in QUOTES or text[after] in CLOSING
    )


def _begins(text: str, at: int, word: str) -> bool:
    if _edge(text, at - 1):
        return True
    number = re.fullmatch(r"-?[0-9.,]+", word)
    if text[at - 1] not in ("=:" if number else "="):
        return False
    if not number and not re.fullmatch(r"[A-Za-z_][\w.-]*", word, re.ASCII):
        return False
    name = re.search(r"[A-Za-z_][\w.-]*$", text[: at - 1], re.ASCII)
    return bool(name) and _edge(text, name.start() - 1)


def occurs(word: str, text: str, *, exact: bool = False) -> tuple[int, int] | None:
    """The first place where a word, or several, stands in a text, in bytes."""
    word = word if exact else word.strip(" \t" + QUOTES)
    if not any(char.isalnum() for char in word):
        return None
    mail = _mail(word)
    loose = not exact and (mail or _url(word) is not None)
    hay, needle = (text.lower(), word.lower()) if loose else (text, word)
    at = hay.find(needle)
    while at >= 0:
        end = at + len(needle)
        if re.fullmatch(r"[0-9]+", word) and _grouped(text, at, end):
            at = hay.find(needle, at + 1)
            continue
        left = _begins(text, at, word) or (mail and text[at - 1] in ",;")
        right = _ends(text, end) or (mail and text[end] in ",;")
        if left and right and (not loose or folded(text[at:end]) == folded(word)):
            return len(text[:at].encode()), len(text[:end].encode())
        at = hay.find(needle, at + 1)
    return None


def _grouped(text: str, start: int, end: int) -> bool:
    """Whether digits are a part of a number such as `1 500` or `1'500`."""
    blank = r"[ '\u00a0\u202f\u2019]"
    return bool(re.match(blank + r"\d", text[end:]) or re.search(r"\d" + blank + "$", text[:start]))


def mentions(source: Any, word: str) -> bool:
    """Whether a word occurs in a document as a scope's `from` has it: letters and digits as they are written."""
    for _, item in strings(source):
        text = item if isinstance(item, str) else item.raw if isinstance(item, Number) else str(item).lower()
        if item is not None and (word == text == "" or occurs(word, text, exact=True)):
            return True
    return False


CURRENCIES = "$€£¥"
NUMERAL = re.compile(r"-?(?:\d{1,3}(?:,\d{3}){2,}(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)", re.ASCII)


def number_occurs(number: Number, text: str) -> tuple[int, int] | None:
    """The first place where a text has a number of the same value."""
    for found in NUMERAL.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        start = found.start() - (before[-1:] in CURRENCIES and before != "")
        if not _begins(text, start, found[0]) or re.match(r"-?0[0-9]", found[0]):
            continue
        if not _ends(text, found.end() + (after[:1] in CURRENCIES and after != "")):
            continue
        if _grouped(text, found.start(), found.end()):
            continue
        if Number(found[0].replace(",", "")) == number:
            return len(before.encode()), len((before + found[0]).encode())
    return None


def in_text(value: Any, text: str, *, origin: bool) -> tuple[int, int] | None:
    if isinstance(value, Number):
        return number_occurs(value, text)
    if not isinstance(value, str) or (origin and re.fullmatch(r"\d{1,3}", value.strip(" \t" + QUOTES), re.ASCII)):
        return None
    return occurs(value, text)


def same(value: Any, other: Any) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return folded(value.strip(" \t" + QUOTES)) == folded(other.strip(" \t" + QUOTES))
    return kind(value) == kind(other) and bool(value == other)


def within(value: Any, source: Any, *, origin: bool) -> Path | None:
    """Where a value occurs in a document: as a value, or as words of a text."""
    for at, item in strings(source):
        if isinstance(item, str):
            if in_text(value, item, origin=origin):
                return at
        elif same(value, item) or (isinstance(value, str) and isinstance(item, Number) and value == item.raw):
            return at
    return None


def said_of(facts: dict[str, Any]) -> list[tuple[int, str]]:
    """What people said, as far as it counts, each text with its number."""
    kept: list[tuple[int, str]] = []
    total = 0
    texts = facts.get("said", [])
    for number in range(len(texts), max(0, len(texts) - 64), -1):
        total += len(texts[number - 1].encode())
        if total > SAID_BYTES:
            break
        kept.append((number, texts[number - 1]))
    return kept[::-1]


class Origins:
    """Proves the origins of the values of one call."""

    def __init__(self, facts: dict[str, Any], task: Any, context: dict[str, Any], lists: dict[str, Any]) -> None:
        self.facts, self.task, self.context, self.lists = facts, task, context, lists
        self.said = said_of(facts)

    def of(self, value: Any, places: list[Any]) -> str | None:
        """The first place that proves a value."""
        if value is None or isinstance(value, (list, dict)):
            return None
        if isinstance(value, str) and not value.strip(" \t" + QUOTES):
            return None
        for place in places:
            name = self._proves(value, place)
            if name:
                return name
        return None

    def _proves(self, value: Any, place: Any) -> str | None:
        if place == "user":
            return "user" if any(in_text(value, text, origin=True) for _, text in self.said) else None
        if isinstance(place, str):
            source = self.task if place == "task" else self.context.get(place[8:])
            return place if source is not None and within(value, source, origin=True) is not None else None
        text = value if isinstance(value, str) else str(value).lower()
        if isinstance(value, Number) and ("list" in place or "values" in place):
            listed = self.lists.get(place["list"], []) if "list" in place else place["values"]
            numeral = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
            return "values" if any(numeral.fullmatch(one) and Number(one) == value for one in listed) else None
        if "list" in place:
            return (
                f"list {place['list']}" if any(same(text, one) for one in self.lists.get(place["list"], [])) else None
            )
        if "values" in place:
            return "values" if any(same(text, one) for one in place["values"]) else None
        if "below" in place:
            return "below" if isinstance(value, str) and below(value, place["below"]) == INSIDE else None
        if "hosts" in place:
            return "hosts" if isinstance(value, str) and at_host(value, place["hosts"]) == INSIDE else None
        return self._observed(value, place)

    def _observed(self, value: Any, place: dict[str, Any]) -> str | None:
        name = f"{place['tool']} at {place['at']}"
        for seen in self.facts.get("observed", []):
            if place["tool"] not in ("*", seen["tool"], seen["tool"].split("/")[-1]):
                continue
            for item in seen["values"].get(place["at"], []):
                other = item["text"] if "text" in item else Number(item["number"])
                if same(value, other) and ("named" not in place or self._named(place, seen, item["at"])):
                    return name
        return None

    def _named(self, place: dict[str, Any], seen: dict[str, Any], at: str) -> bool:
        """Whether a person, or the task, names the item that a value stands in, and no other item of that name."""
        mine = _item(place, at)
        names = [one for one in seen["values"].get(place["named"], []) if _item(place, one["at"], named=True) == mine]
        for one in names:
            name = one.get("text")
            if name is None or not (
                any(in_text(name, text, origin=True) for _, text in self.said)
                or within(name, self.task, origin=True) is not None
            ):
                continue
            values = set()
            for other in self.facts.get("observed", []):
                if place["tool"] not in ("*", other["tool"], other["tool"].split("/")[-1]):
                    continue
                for title in other["values"].get(place["named"], []):
                    if not same(title.get("text"), name):
                        continue
                    item = _item(place, title["at"], named=True)
                    found = [v for v in other["values"].get(place["at"], []) if _item(place, v["at"]) == item]
                    values |= {folded(v["text"]) if "text" in v else v["number"] for v in found} or {None}
                    if len(found) > 1:
                        values.add(None)
            if len(values) == 1:
                return True
        return False


def _item(place: dict[str, Any], at: str, *, named: bool = False) -> str:
    """The pointer to the item: what the last `[*]` that both paths share stands for, or the whole result."""
    first, second = path_of(place["at"]) or (), path_of(place["named"]) or ()
    shared = 0
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            break
        if one is ALL:
            shared = index + 1
    return "/".join(at.split("/")[: shared + 1])
