"""JSON Schemas of Pydantic's types, shortened for models that read them."""

from __future__ import annotations

import functools
import operator
import sys
import typing
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema
from typing_extensions import NotRequired, Required, TypedDict

from ._type_kinds import is_attrs

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic.json_schema import JsonSchemaValue


class Schema(GenerateJsonSchema):
    """Omits titles that repeat the names of members, and writes nullable types as one list of types."""

    def field_title_should_be_set(self, schema: object) -> bool:
        """Returns false: no title repeats the name of a member."""
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Writes `{"type": ["integer", "null"]}` in place of an equivalent `anyOf`."""
        inner = self.generate_inner(schema["schema"])
        words = [inner["const"]] if "const" in inner else inner.get("enum")
        rest = {name: value for name, value in inner.items() if name not in ("const", "enum", "type")}
        if words is not None and None not in words and not _NEGATED & inner.keys():
            return {**rest, "enum": [*words, None]}
        kind = inner.get("type")
        if words is None and isinstance(kind, str) and kind != "null" and not _NEGATED & inner.keys():
            return {**rest, "type": [kind, "null"]}
        return super().nullable_schema(schema)

    def union_schema(self, schema: core_schema.UnionSchema) -> JsonSchemaValue:
        """Writes `{"type": ["integer", "string"]}` likewise."""
        return _one_type(super().union_schema(schema))

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Joins the alternatives of a decimal number in the same way."""
        return _one_type(super().decimal_schema(schema))


# Keywords that would also apply to null.
_NEGATED = frozenset({"allOf", "anyOf", "if", "not", "oneOf", "$ref"})


def _one_type(schema: JsonSchemaValue) -> JsonSchemaValue:
    kinds = [each.get("type") for each in schema.get("anyOf", ()) if each.keys() == {"type"}]
    if (
        len(schema) > 1
        or len(kinds) != len(schema.get("anyOf", ()))
        or not all(isinstance(kind, str) for kind in kinds)
    ):
        return schema
    return {"type": kinds} if len(set(kinds)) == len(kinds) > 1 else schema


def adapter_of(of: Any) -> TypeAdapter[Any]:
    """Returns an adapter of a type. Classes of attrs and dicts of `typing` may be part of it."""
    return of if isinstance(of, TypeAdapter) else TypeAdapter(_known(of))


def _known(of: Any) -> Any:
    """Replaces the parts of a type that Pydantic does not know."""
    if is_attrs(of):
        return Annotated[of, _Attrs(of)]
    if sys.version_info < (3, 12) and typing.is_typeddict(of) and type(of).__module__ == "typing":
        return Annotated[of, _Dict(of)]
    origin, arguments = typing.get_origin(of), typing.get_args(of)
    if not arguments or origin is typing.Literal:
        return of
    if origin is Annotated:
        parts = (_known(arguments[0]), *arguments[1:])
        return Annotated[parts]
    known = tuple(_known(argument) for argument in arguments)
    if all(one is other for one, other in zip(known, arguments, strict=True)):
        return of
    if hasattr(of, "copy_with"):
        return of.copy_with(known)
    return functools.reduce(operator.or_, known) if type(of).__name__ == "UnionType" else origin[known]


class _Attrs:
    """Lets Pydantic read the members of an attrs class, whose own validators then run."""

    def __init__(self, of: type) -> None:
        self._of = of

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        members = handler.generate_schema(_attrs_members(self._of))
        of = self._of
        return core_schema.no_info_after_validator_function(lambda given: of(**given), members)


class _Dict:
    """Lets Pydantic read a `TypedDict` of `typing`, which it rejects before Python 3.12."""

    def __init__(self, of: type) -> None:
        self._of = of

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return handler.generate_schema(_dict_members(self._of))


@functools.lru_cache(maxsize=256)
def _attrs_members(of: Any) -> Any:
    import attrs

    attrs.resolve_types(of, include_extras=True)
    made = {
        member.alias: (Required if member.default is attrs.NOTHING else NotRequired)[_known(member.type or Any)]
        for member in attrs.fields(of)
        if member.init
    }
    return _typed_dict(of, made)


@functools.lru_cache(maxsize=256)
def _dict_members(of: Any) -> Any:
    made = {}
    for name, hint in typing.get_type_hints(of, include_extras=True).items():
        # Python does not resolve these markers in annotations that are strings.
        marker = typing.get_origin(hint)
        if marker in (Required, NotRequired):
            (hint,) = typing.get_args(hint)
        else:
            marker = Required if name in of.__required_keys__ else NotRequired
        made[name] = marker[_known(hint)]
    return _typed_dict(of, made)


def _typed_dict(of: type, members: dict[str, Any]) -> Any:
    make: Any = TypedDict
    made = make(of.__name__, members)
    made.__doc__ = of.__doc__
    return made
