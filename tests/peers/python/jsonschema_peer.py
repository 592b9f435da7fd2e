"""Verdicts of Python's jsonschema: a line of JSON for each line of standard input."""

import json
import sys

from jsonschema import FormatChecker, validators
from referencing import Registry, Resource
from referencing.jsonschema import specification_with

# Formats are asserted in every draft.
FORMATS = FormatChecker(["date", "email", "ipv4", "uri", "json-pointer", "uuid"])


def answer(asked: dict) -> dict:
    dialect = asked["dialect"]
    try:
        specification = specification_with(dialect)
        resources = [
            (uri, Resource(contents=resource, specification=specification))
            for uri, resource in asked["resources"].items()
        ]
        kind = validators.validator_for({"$schema": dialect})
        kind.check_schema(asked["schema"])
        judge = kind(
            asked["schema"],
            registry=Registry().with_resources(resources),
            format_checker=FORMATS,
        )
        return {"seed": asked["seed"], "verdicts": [judge.is_valid(document) for document in asked["documents"]]}
    except Exception as error:  # Whatever it is, it is no verdict.
        return {"seed": asked["seed"], "error": f"{type(error).__name__}: {error}"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
