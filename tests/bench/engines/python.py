"""The engines in Python: `python.py ENGINE plan FILE` speaks the protocol that `../protocol` describes, `python.py ENGINE
first SCHEMA DOCUMENT` gives one verdict, as its exit status too."""

import json
import sys
from time import perf_counter_ns


def with_jsonschema(schema):
    from jsonschema.validators import validator_for

    cls = validator_for(schema)
    cls.check_schema(schema)
    # It checks formats only if it has a format checker.
    return cls(schema).is_valid


def with_jsonschema_rs(schema):
    import jsonschema_rs

    try:
        patterns = jsonschema_rs.RegexOptions()
        return jsonschema_rs.validator_for(schema, validate_formats=False, pattern_options=patterns).is_valid
    except ValueError:
        # Some patterns require its slower engine.
        return jsonschema_rs.validator_for(schema, validate_formats=False).is_valid


def with_fastjsonschema(schema):
    import fastjsonschema

    # Defaults are not inserted, because that would change the document and take time.
    validate = fastjsonschema.compile(schema, use_formats=False, use_default=False)

    def is_valid(value):
        try:
            validate(value)
        except fastjsonschema.JsonSchemaValueException:
            return False
        return True

    return is_valid


ENGINES = {
    "jsonschema": with_jsonschema,
    "jsonschema-rs": with_jsonschema_rs,
    "fastjsonschema": with_fastjsonschema,
}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def verdict(is_valid, document):
    try:
        value = json.loads(document)
    except ValueError:
        return False
    return is_valid(value)


def nanos(call):
    start = perf_counter_ns()
    warm_up = 0
    while warm_up == 0 or perf_counter_ns() - start < 3e6:
        call()
        warm_up += 1
    batch = int(20_000 / ((perf_counter_ns() - start) / warm_up)) + 1
    samples = []
    start = perf_counter_ns()
    while len(samples) < 3 or perf_counter_ns() - start < (100e6 if len(samples) < 11 else 8e6):
        sample = perf_counter_ns()
        for _ in range(batch):
            call()
        samples.append((perf_counter_ns() - sample) / batch)
    return sorted(samples)[len(samples) // 2]


def judge(is_valid, document):
    if isinstance(is_valid, Exception):
        return {"error": f"{type(is_valid).__name__}: {is_valid}"}
    try:
        valid = verdict(is_valid, document)
        return {"valid": valid, "nanos": nanos(lambda: verdict(is_valid, document))}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def peak():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    return {"peak_kb": int(line.split()[1])}


def say(answer):
    print(json.dumps(answer), flush=True)


def serve(engine, path):
    plan = json.loads(read(path))
    compiled = []
    for schema in plan["sets"]:
        try:
            compiled.append(engine(json.loads(read(schema["schema"]))))
        except Exception as error:
            compiled.append(error)
    say({"documents": len(plan["documents"])})
    for line in sys.stdin:
        if line.strip() == "peak":
            say(peak())
        else:
            document = plan["documents"][int(line)]
            say(judge(compiled[document["set"]], read(document["path"])))


def first(engine, schema, document):
    valid = verdict(engine(json.loads(read(schema))), read(document))
    print(valid)
    sys.exit(0 if valid else 1)


if __name__ == "__main__":
    name, command, *rest = sys.argv[1:]
    {"plan": serve, "first": first}[command](ENGINES[name], *rest)
