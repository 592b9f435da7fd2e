"""JSON Schema 2020-12, as far as profiles use it, and the verdict of a condition that is about another type.

`Schema.errors` is plain JSON Schema. `Schema.verdict` is what docs/permissions.md says of `deny` rules and cases: a
keyword that meets a value of a type that it is not about leaves the verdict open.
"""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable
from typing import Any

from values import Number, Path, canonical, equal, kind

KEYWORDS: dict[str, str] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), "string"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"), "array"),
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
        ),
        "object",
    ),
}
"""The type that each keyword is about."""

LIMITS: dict[str, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(("minLength", "minItems", "minProperties", "minimum"), operator.ge),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties", "maximum"), operator.le),
    "exclusiveMinimum": operator.gt,
    "exclusiveMaximum": operator.lt,
    "multipleOf": lambda value, limit: bool(value % limit == 0),
}
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
        elif name in (*("not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"),):
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

    def _judge(self, schema: Any, value: Any, at: Path, found: list[tuple[Path, str]]) -> None:
        if isinstance(schema, bool):
            found += [] if schema else [(at, "false")]
            return
        if "$ref" in schema:
            self.depth += 1
            if self.depth > 200:
                self.depth = 0
                raise Invalid("$ref")
            self._judge(self._target(schema["$ref"]), value, at, found)
            self.depth -= 1
        for inner in schema.get("allOf", ()):
            self._judge(inner, value, at, found)
        for name in ("anyOf", "oneOf"):
            fits = sum(self._fits(inner, value) for inner in schema.get(name, ()))
            if name in schema and (fits != 1 if name == "oneOf" else fits == 0):
                found.append((at, name))
        if "not" in schema and self._fits(schema["not"], value):
            found.append((at, "not"))
        if "if" in schema:
            branch = "then" if self._fits(schema["if"], value) else "else"
            self._judge(schema.get(branch, True), value, at, found)
        for name, listed in _lists(schema).items():
            if not any(equal(value, item) for item in listed):
                found.append((at, name))
        if "type" in schema and not _typed(schema["type"], value):
            found.append((at, "type"))
        if isinstance(value, dict):
            self._object(schema, value, at, found)
        elif isinstance(value, list):
            self._array(schema, value, at, found)
        found += [(at, name) for name, limit in schema.items() if not self._within(name, limit, value)]

    def _within(self, name: str, limit: Any, value: Any) -> bool:
        """Whether a value keeps a limit of its own type."""
        if KEYWORDS.get(name) != kind(value):
            return True
        if name in LIMITS:
            return LIMITS[name](value.value if isinstance(value, Number) else len(value), limit.value)
        if name == "pattern":
            return bool(self._pattern(limit).search(value))
        if name == "format":
            return not self.formats or formatted(limit, value)
        if name == "uniqueItems":
            return not limit or len({canonical(item) for item in value}) == len(value)
        return True

    def _object(self, schema: dict[str, Any], value: dict[str, Any], at: Path, found: list[tuple[Path, str]]) -> None:
        found += [(at, "required") for name in schema.get("required", ()) if name not in value]
        for name, needed in schema.get("dependentRequired", {}).items():
            found += [(at, "dependentRequired") for other in needed if name in value and other not in value]
        for name, inner in schema.get("dependentSchemas", {}).items():
            if name in value:
                self._judge(inner, value, at, found)
        for name, item in value.items():
            if "propertyNames" in schema and not self._fits(schema["propertyNames"], name):
                found.append((at, "propertyNames"))
            mine = [schema["properties"][name]] if name in schema.get("properties", {}) else []
            patterns = schema.get("patternProperties", {}).items()
            mine += [inner for pattern, inner in patterns if self._pattern(pattern).search(name)]
            for inner in mine:
                self._judge(inner, item, (*at, name), found)
            if not mine:
                self._rest("additionalProperties", schema, item, (*at, name), found)

    def _rest(self, name: str, schema: dict[str, Any], item: Any, at: Path, found: list[tuple[Path, str]]) -> None:
        if schema.get(name) is False:
            found.append((at, name))
        else:
            self._judge(schema.get(name, True), item, at, found)

    def _array(self, schema: dict[str, Any], value: list[Any], at: Path, found: list[tuple[Path, str]]) -> None:
        first = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            if index < len(first):
                self._judge(first[index], item, (*at, index), found)
            else:
                self._rest("items", schema, item, (*at, index), found)
        if "contains" in schema:
            count = sum(self._fits(schema["contains"], item) for item in value)
            least = _integer(schema["minContains"]) if "minContains" in schema else 1
            if count < least or ("maxContains" in schema and count > _integer(schema["maxContains"])):
                found.append((at, "contains"))

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
        lists = list(_lists(schema).values())
        elsewhere = (about and kind(value) not in about) or any(kind(value) not in map(kind, items) for items in lists)
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
            elif name in KEYWORDS and kind(value) == KEYWORDS[name] and not elsewhere:
                parts.append(self._about(schema, name, inner, value))
        if elsewhere:
            parts.append(OPEN)
        elif not _listed(lists, value) or not _typed(schema.get("type"), value):
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
            elif name == "$ref":
                found |= self._types(self._target(inner))
        own = {KEYWORDS[name] for name, inner in schema.items() if name in KEYWORDS and not _idle(name, inner)}
        kinds = [set(map(kind, items)) for items in _lists(schema).values()]
        return found | (set.intersection(*kinds, *([own] if own else [])) if kinds else own)

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


def _lists(schema: dict[str, Any]) -> dict[str, list[Any]]:
    """What `enum` and `const` list."""
    return {name: schema[name] if name == "enum" else [schema[name]] for name in ("enum", "const") if name in schema}


def _listed(lists: list[list[Any]], value: Any) -> bool:
    return all(any(equal(value, item) for item in items) for items in lists)


def _typed(wanted: Any, value: Any) -> bool:
    named = wanted if isinstance(wanted, list) else [wanted]
    return (
        wanted is None or kind(value) in named or ("integer" in named and isinstance(value, Number) and value.whole())
    )


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
    return True
