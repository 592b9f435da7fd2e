"""JSON Schema 2020-12, as far as profiles use it, and the verdict of a condition that is about another type.

`Schema.errors` is plain JSON Schema. `Schema.verdict` is what docs/permissions.md says of `deny` rules and cases: a
keyword that meets a value of a type that it is not about leaves the verdict open.
"""

from __future__ import annotations

import datetime
import ipaddress
import re
from collections.abc import Callable
from typing import Any

from values import Number, Path, canonical, equal, kind

KEYWORDS: dict[str, str] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), "string"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(
        ("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems"), "array"
    ),
    **dict.fromkeys(
        (
            "properties",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "required",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
            "unevaluatedProperties",
        ),
        "object",
    ),
}
"""The type that each keyword is about."""

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
ACCEPTS, REJECTS, OPEN = "accepts", "rejects", "open"


class Invalid(ValueError):
    """A schema that cannot be used."""


def _regex(text: str) -> re.Pattern[str]:
    # ECMAScript's classes are those of ASCII but for \s, and its `$` ends the text only.
    turned = re.sub(r"\\p\{L\}", "[^\\\\W\\\\d_]", text)
    turned = re.sub(r"(?<!\\)((?:\\\\)*)\$(?![^\[]*\])", r"\1\\Z", turned)
    try:
        return re.compile(turned.replace(r"\d", "[0-9]") if "[" not in turned else turned)
    except re.error as fault:
        raise Invalid(str(fault)) from None


def _integer(value: Any) -> int:
    return int(value.value)


class Schema:
    """A schema, ready to judge values."""

    def __init__(self, document: Any, *, formats: bool = True) -> None:
        self.root = document
        self.formats = formats
        self.patterns: dict[str, re.Pattern[str]] = {}
        self.depth = 0
        self._compile(document, 0)

    # Compilation

    def _compile(self, schema: Any, depth: int) -> None:
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            raise Invalid("a schema is an object or a boolean")
        if depth > 90:
            raise Invalid("nested too deeply")
        for name, value in schema.items():
            self._keyword(name, value, depth)
        if "$ref" in schema:
            self._target(schema["$ref"])

    def _keyword(self, name: str, value: Any, depth: int) -> None:
        def need(fine: bool) -> None:
            if not fine:
                raise Invalid(name)

        if name == "type":
            named = value if isinstance(value, list) else [value]
            need(bool(named) and all(item in TYPES for item in named) and len(set(map(str, named))) == len(named))
        elif name in ("pattern",):
            need(isinstance(value, str))
            self._pattern(value)
        elif name in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"):
            need(isinstance(value, dict))
            for inner_name, inner in value.items():
                if name == "patternProperties":
                    self._pattern(inner_name)
                self._compile(inner, depth + 1)
        elif name in ("allOf", "anyOf", "oneOf", "prefixItems"):
            need(isinstance(value, list) and bool(value))
            for inner in value:
                self._compile(inner, depth + 1)
        elif name in (
            *("not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"),
            *("unevaluatedItems", "unevaluatedProperties"),
        ):
            self._compile(value, depth + 1)
        elif name in ("required",):
            need(isinstance(value, list) and all(isinstance(item, str) for item in value))
            need(len(set(value)) == len(value))
        elif name == "enum":
            need(isinstance(value, list))
        elif name == "uniqueItems":
            need(isinstance(value, bool))
        elif name == "dependentRequired":
            need(isinstance(value, dict) and all(isinstance(item, list) for item in value.values()))
        elif name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            need(isinstance(value, Number))
        elif name == "multipleOf":
            need(isinstance(value, Number) and value.value > 0)
        elif name in (
            *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
            *("minContains", "maxContains"),
        ):
            need(isinstance(value, Number) and value.whole() and value.value >= 0)
        elif name in ("format", "$schema", "$id", "$anchor", "$ref", "title", "description"):
            need(isinstance(value, str))

    def _pattern(self, text: str) -> re.Pattern[str]:
        if text not in self.patterns:
            self.patterns[text] = _regex(text)
        return self.patterns[text]

    def _target(self, reference: str) -> Any:
        if reference == "#":
            return self.root
        if not reference.startswith("#/"):
            raise Invalid(f"$ref {reference}")
        at = self.root
        for step in reference[2:].split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(at, dict) and step in at:
                at = at[step]
            elif isinstance(at, list) and step.isdigit() and int(step) < len(at):
                at = at[int(step)]
            else:
                raise Invalid(f"$ref {reference}")
        return at

    # Plain JSON Schema

    def accepts(self, value: Any) -> bool:
        return not self.errors(value)

    def errors(self, value: Any) -> list[tuple[Path, str]]:
        """The places and keywords that reject the value."""
        found: list[tuple[Path, str]] = []
        self._judge(self.root, value, (), found)
        return found

    def _fits(self, schema: Any, value: Any) -> bool:
        found: list[tuple[Path, str]] = []
        self._judge(schema, value, (), found)
        return not found

    def _judge(self, schema: Any, value: Any, at: Path, found: list[tuple[Path, str]]) -> tuple[set[str], int]:
        """Judge a value. Returns the members, and the number of items, that the schema evaluated."""
        if isinstance(schema, bool):
            if not schema:
                found.append((at, "false"))
            return set(), 0
        before = len(found)
        members: set[str] = set()
        items = 0

        def within(inner: Any, into: list[tuple[Path, str]]) -> bool:
            nonlocal items
            count = len(into)
            seen, more = self._judge(inner, value, at, into)
            if len(into) == count:
                members.update(seen)
                items = max(items, more)
            return len(into) == count

        if "$ref" in schema:
            self.depth += 1
            if self.depth > 200:
                self.depth = 0
                raise Invalid("$ref")
            within(self._target(schema["$ref"]), found)
            self.depth -= 1
        for name in ("allOf",):
            for inner in schema.get(name, ()):
                within(inner, found)
        if "anyOf" in schema and not [1 for inner in schema["anyOf"] if within(inner, [])]:
            found.append((at, "anyOf"))
        if "oneOf" in schema and len([1 for inner in schema["oneOf"] if within(inner, [])]) != 1:
            found.append((at, "oneOf"))
        if "not" in schema and self._fits(schema["not"], value):
            found.append((at, "not"))
        if "if" in schema:
            branch = "then" if within(schema["if"], []) else "else"
            if branch in schema:
                within(schema[branch], found)
        for name in ("type", "enum", "const"):
            if name in schema and not self._of_any_type(name, schema[name], value):
                found.append((at, name))
        if isinstance(value, dict):
            self._object(schema, value, at, found, members, within)
        elif isinstance(value, list):
            items = self._array(schema, value, at, found, items)
        else:
            found += [(at, name) for name, limit in schema.items() if not self._scalar(name, limit, value)]
        return (members, items) if len(found) == before else (set(), 0)

    @staticmethod
    def _of_any_type(name: str, wanted: Any, value: Any) -> bool:
        if name == "enum":
            return any(equal(value, item) for item in wanted)
        if name == "const":
            return equal(value, wanted)
        return _typed(wanted, value)

    def _scalar(self, name: str, limit: Any, value: Any) -> bool:
        if isinstance(value, str):
            if name == "minLength":
                return len(value) >= _integer(limit)
            if name == "maxLength":
                return len(value) <= _integer(limit)
            if name == "pattern":
                return bool(self._pattern(limit).search(value))
            if name == "format":
                return not self.formats or formatted(limit, value)
        elif isinstance(value, Number):
            if name == "minimum":
                return value.value >= limit.value
            if name == "maximum":
                return value.value <= limit.value
            if name == "exclusiveMinimum":
                return value.value > limit.value
            if name == "exclusiveMaximum":
                return value.value < limit.value
            if name == "multipleOf":
                return value.value % limit.value == 0
        return True

    def _object(
        self,
        schema: dict[str, Any],
        value: dict[str, Any],
        at: Path,
        found: list[tuple[Path, str]],
        members: set[str],
        within: Callable[[Any, list[tuple[Path, str]]], bool],
    ) -> None:
        found += [(at, "required") for name in schema.get("required", ()) if name not in value]
        for name, needed in schema.get("dependentRequired", {}).items():
            found += [(at, "dependentRequired") for other in needed if name in value and other not in value]
        for name, inner in schema.get("dependentSchemas", {}).items():
            if name in value:
                within(inner, found)
        if "minProperties" in schema and len(value) < _integer(schema["minProperties"]):
            found.append((at, "minProperties"))
        if "maxProperties" in schema and len(value) > _integer(schema["maxProperties"]):
            found.append((at, "maxProperties"))
        for name in value:
            if "propertyNames" in schema and not self._fits(schema["propertyNames"], name):
                found.append((at, "propertyNames"))
        for name, item in value.items():
            known = False
            if name in schema.get("properties", {}):
                known = True
                self._judge(schema["properties"][name], item, (*at, name), found)
            for pattern, inner in schema.get("patternProperties", {}).items():
                if self._pattern(pattern).search(name):
                    known = True
                    self._judge(inner, item, (*at, name), found)
            if not known and "additionalProperties" in schema:
                known = True
                self._rest("additionalProperties", schema, item, (*at, name), found)
            if known:
                members.add(name)
        if "unevaluatedProperties" in schema:
            for name, item in value.items():
                if name not in members:
                    self._rest("unevaluatedProperties", schema, item, (*at, name), found)
            members.update(value)

    def _rest(self, name: str, schema: dict[str, Any], item: Any, at: Path, found: list[tuple[Path, str]]) -> None:
        if schema[name] is False:
            found.append((at, name))
        else:
            self._judge(schema[name], item, at, found)

    def _array(
        self, schema: dict[str, Any], value: list[Any], at: Path, found: list[tuple[Path, str]], items: int
    ) -> int:
        first = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            if index < len(first):
                self._judge(first[index], item, (*at, index), found)
                items = max(items, index + 1)
            elif "items" in schema:
                self._rest("items", schema, item, (*at, index), found)
                items = len(value)
        if "contains" in schema:
            count = sum(self._fits(schema["contains"], item) for item in value)
            least = _integer(schema["minContains"]) if "minContains" in schema else 1
            if count < least:
                found.append((at, "contains"))
            if "maxContains" in schema and count > _integer(schema["maxContains"]):
                found.append((at, "contains"))
        if "minItems" in schema and len(value) < _integer(schema["minItems"]):
            found.append((at, "minItems"))
        if "maxItems" in schema and len(value) > _integer(schema["maxItems"]):
            found.append((at, "maxItems"))
        if schema.get("uniqueItems") is True and len({canonical(item) for item in value}) < len(value):
            found.append((at, "uniqueItems"))
        if "unevaluatedItems" in schema:
            for index in range(items, len(value)):
                self._rest("unevaluatedItems", schema, value[index], (*at, index), found)
            items = len(value)
        return items

    # Conditions

    def verdict(self, value: Any) -> str:
        """`ACCEPTS`, `REJECTS`, or `OPEN` where a value is of a type that the condition is not about."""
        if self.accepts(value):
            return ACCEPTS
        return REJECTS if self._condition(self.root, value) == REJECTS else OPEN

    def open(self, value: Any) -> bool:
        """Whether the verdict hangs on a keyword that meets a value of a type that it is not about."""
        return self._condition(self.root, value) == OPEN

    def _condition(self, schema: Any, value: Any) -> str:
        if isinstance(schema, bool):
            return ACCEPTS if schema else REJECTS
        parts: list[str] = []
        about = {KEYWORDS[name] for name, inner in schema.items() if name in KEYWORDS and not _idle(name, inner)}
        listed = schema.get("enum", [schema["const"]] if "const" in schema else [])
        for name, inner in schema.items():
            if name == "$ref":
                parts.append(self._condition(self._target(inner), value))
            elif name == "allOf":
                parts += [self._condition(item, value) for item in inner]
            elif name in ("anyOf", "oneOf"):
                parts.append(self._alternatives(name, inner, value))
            elif name == "not":
                parts.append(_turned(self._condition(inner, value)))
            elif name == "if":
                parts.append(self._branches(schema, value))
            elif name in ("const", "enum") and (not about or kind(value) in about):
                fits = any(equal(value, item) for item in listed)
                parts.append(ACCEPTS if fits else REJECTS if kind(value) in map(kind, listed) else OPEN)
            elif name in KEYWORDS and kind(value) == KEYWORDS[name]:
                parts.append(self._about(schema, name, inner, value))
        typed = "type" not in schema or _typed(schema["type"], value)
        if (about and kind(value) not in about) or (
            not typed and not about and listed and kind(value) not in map(kind, listed)
        ):
            parts.append(OPEN)
        elif not typed:
            parts.append(REJECTS)
        return _all(parts)

    def _alternatives(self, name: str, listed: list[Any], value: Any) -> str:
        """The verdict of alternatives. If one is about the type of the value, they decide as JSON Schema says."""
        decided = any(kind(value) in self._types(item) for item in listed)
        parts = []
        for item in listed:
            if decided and kind(value) not in self._types(item):
                parts.append(ACCEPTS if self._fits(item, value) else REJECTS)
            else:
                parts.append(self._condition(item, value))
        if name == "oneOf" and ACCEPTS in parts:
            if parts.count(ACCEPTS) > 1:
                return REJECTS
            return OPEN if OPEN in parts else ACCEPTS
        return _any(parts)

    def _branches(self, schema: dict[str, Any], value: Any) -> str:
        condition = self._condition(schema["if"], value)
        then, other = (self._condition(schema.get(name, True), value) for name in ("then", "else"))
        if condition in (ACCEPTS, REJECTS):
            return then if condition == ACCEPTS else other
        return then if then == other else OPEN

    def _types(self, schema: Any) -> set[str]:
        """The types that a schema is about."""
        if not isinstance(schema, dict):
            return set()
        found: set[str] = set()
        for name, inner in schema.items():
            if name in ("allOf", "anyOf", "oneOf"):
                about = list(map(self._types, inner))
                if name == "allOf":
                    about = [types for types in about if types]
                    found |= set.intersection(*about) if about else set()
                elif all(about):
                    found = found.union(*about)
            elif name == "not":
                found |= self._types(inner)
            elif name in ("const", "enum"):
                found |= set(map(kind, inner if name == "enum" else [inner]))
            elif name == "$ref":
                found |= self._types(self._target(inner))
            elif name in KEYWORDS and not _idle(name, inner):
                found.add(KEYWORDS[name])
        return found

    def _about(self, schema: dict[str, Any], name: str, inner: Any, value: Any) -> str:
        """The verdict of a keyword about a value of its type."""
        if name == "properties":
            return _all([self._condition(item, value[key]) for key, item in inner.items() if key in value])
        if name == "items":
            start = len(schema.get("prefixItems", ()))
            return _all([self._condition(inner, item) for item in value[start:]])
        if name == "contains":
            return _any([self._condition(inner, item) for item in value])
        if name == "additionalProperties" and isinstance(inner, dict):
            known = schema.get("properties", {})
            return _all([self._condition(inner, item) for key, item in value.items() if key not in known])
        return ACCEPTS if self._fits({name: inner}, value) else REJECTS


def _typed(wanted: Any, value: Any) -> bool:
    named = wanted if isinstance(wanted, list) else [wanted]
    return kind(value) in named or ("integer" in named and isinstance(value, Number) and value.whole())


def _idle(name: str, value: Any) -> bool:
    """Whether a keyword constrains nothing."""
    if name in ("minLength", "minItems", "minProperties"):
        return bool(value.value == 0)
    return value is False if name == "uniqueItems" else value is True or value in ({}, [])


def _all(parts: list[str]) -> str:
    return next((part for part in (REJECTS, OPEN) if part in parts), ACCEPTS)


def _any(parts: list[str]) -> str:
    return next((part for part in (ACCEPTS, OPEN) if part in parts), REJECTS)


def _turned(part: str) -> str:
    return {ACCEPTS: REJECTS, REJECTS: ACCEPTS}.get(part, OPEN)


def formatted(name: str, text: str) -> bool:
    """Whether a text has a format. Only formats that tests of this folder use are known."""
    if name in ("date-time", "date", "time"):
        shape = {
            "date-time": r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
            "date": r"\d{4}-\d\d-\d\d",
            "time": r"\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
        }[name]
        if not re.fullmatch(shape, text, re.ASCII):
            return False
        try:
            datetime.date.fromisoformat(text[:10] if name != "time" else "2000-01-01")
        except ValueError:
            return False
        clock = text[11:19] if name == "date-time" else text[:8]
        return name == "date" or (clock[:2] < "24" and clock[3:5] < "60" and clock[6:8] < "61")
    if name == "email":
        return bool(re.fullmatch(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*", text))
    if name in ("ipv4", "ipv6"):
        try:
            return ipaddress.ip_address(text).version == int(name[3])
        except ValueError:
            return False
    if name == "uuid":
        return bool(re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text))
    if name == "uri":
        return bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*", text))
    return True
