"""A document has the values that `json.loads` makes of its text."""

from __future__ import annotations

import json
import random
import threading
from typing import Any

from conftest import ROOT, native_only

from seamgate import Gate, _json

# Each stands where readers may differ: values, types, the sign of zero, rounding, escapes, names in order and repeated.
TEXTS = [
    *("null", "true", "false", "0", "-0", "1", "-1", "-0.0", "0e0", "0E+5", "1e5", "1E-5", "1.5", "-1.25e-3"),
    *("999999999999999999", "-999999999999999999", "1000000000000000000", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "1" * 4300),
    *("1e400", "-1e400", "1e-400", "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324"),
    *("1.7976931348623157e308", "1.7976931348623159e308", "2.2250738585072011e-308", "9007199254740993.0"),
    *("0.1", "123456789012345678901234567890.5", "1.00000000000000011102230246251565404", "1" * 400 + ".5"),
    *(
        '""',
        '"a"',
        '"\\u0000"',
        '"\\b\\f\\n\\r\\t\\/\\\\\\""',
        '"\\u00e9é"',
        '"\\ud83d\\ude00😀"',
        '"\\uFFFF\x7f\u2028"',
    ),
    *('"' + "a" * count + mark + '"' for count in range(18) for mark in ("", "é", "\\n", "\\u20ac€")),
    *("[]", "{}", "[[]]", "[{}]", '{"":{}}', "[1,[2,[3],4],5]", '[[1,2],{"a":[3,{"b":[]}]},"c"]'),
    *('{"a":1,"b":2,"a":3}', '{"b":1,"a":2}', '{"\\u0061":1,"a":2}', '{"a":{"a":{"a":"a"}}}', '{"é":1,"\\n":2}'),
    *(json.dumps({"n" * count: count for count in range(80)}), json.dumps({f"name-{n}": n for n in range(3000)})),
    *("[" * depth + "]" * depth for depth in (127, 128, 129, 200)),
    *('{"a":' * depth + "1" + "}" * depth for depth in (127, 128, 129, 200)),
    *(" [ 1 ,\n2\t,\r3 ] ", ' { "a" : [ ] , "b" : { } } ', "\n1\n"),
]

# Invalid JSON, or JSON for which Python reports an error.
WRONG = [
    *(
        "",
        " ",
        "tru",
        "truE",
        "nul",
        "falsee",
        "NaN",
        "Infinity",
        "-Infinity",
        "01",
        "-01",
        "00",
        "-",
        "+1",
        "1.",
        ".5",
    ),
    *(
        "1.e5",
        "1e",
        "1e+",
        "0x1",
        "1_0",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{",
        '{"a"',
        '{"a":',
        '{"a":1',
        "]",
    ),
    *(
        '{"a":1,',
        '{"a":1,}',
        "{a:1}",
        "{1:1}",
        '{"a" 1}',
        '{"a":1 "b":2}',
        '"',
        '"a',
        '"\\',
        '"\\x"',
        '"\\u00"',
        '"\\u00g0"',
    ),
    *(
        '"\n"',
        '"\x00"',
        '"\x1f"',
        '"\\u+123"',
        "1 2",
        "{}{}",
        "[1]]",
        "'a'",
        "\ufeff1",
        "\u00a01",
        "\x0b1",
        "[1}",
        '{"a":1]',
    ),
]


def _written(value: Any, ways: random.Random) -> str:
    space = ways.choice(["", " ", "\n", "\t \r\n"])
    return space + json.dumps(
        value,
        ensure_ascii=ways.random() < 0.5,
        indent=ways.choice([None, None, 0, 2]),
        separators=ways.choice([(",", ":"), (", ", ": "), (" ,", " : ")]),
    )


def _any(ways: random.Random, depth: int) -> Any:
    kind = ways.randrange(9 if depth else 6)
    if kind == 0:
        return ways.choice([None, True, False])
    if kind == 1:
        return ways.choice([1, -1]) * ways.randrange(10 ** ways.randrange(1, 25))
    if kind == 2:
        return float(f"{ways.uniform(-10, 10)}e{ways.randrange(-330, 309)}")
    if kind in (3, 4, 5):
        letters = 'abc "\\/\b\f\n\r\t\x00\x1f\x7fé€\u2028\uffff😀'
        return "".join(ways.choices(letters, k=ways.randrange(20)))
    if kind == 6:
        return [_any(ways, depth - 1) for _ in range(ways.randrange(6))]
    return {_any_name(ways): _any(ways, depth - 1) for _ in range(ways.randrange(12))}


def _any_name(ways: random.Random) -> str:
    return "".join(ways.choices('ab"é\n', k=ways.randrange(40)))


def _loaded(text: str) -> str:
    """Returns the result of `json.loads`, or the type of its error, as `repr`, which distinguishes all values."""
    try:
        return repr(_json.parse(text))
    except (ValueError, RecursionError) as error:
        return type(error).__name__


@native_only
class TestReader:
    """The reader of the native module leaves a text to Python, or makes the same of it."""

    def test_values_are_the_same(self) -> None:
        from seamgate import _native

        left = {text for text in TEXTS if _native.parsed(text) is None and text != "null"}
        for text in TEXTS:
            assert text in left or repr(_native.parsed(text)) == _loaded(text), text[:80]
        # Larger integers, and what nests deeper.
        assert all(len(text) > 19 for text in left)
        assert len(left) == 7, [text[:80] for text in left]

    def test_random_values_are_the_same(self) -> None:
        from seamgate import _native

        ways, read = random.Random(1), 0
        for _ in range(3000):
            text = _written(_any(ways, 4), ways)
            made = _native.parsed(text)
            if made is not None:
                read += 1
                assert repr(made) == _loaded(text)
        assert read > 1000

    def test_no_wrong_text_is_read(self) -> None:
        from seamgate import _native

        for text in [
            *WRONG,
            "1" * 5000,
            '"\\ud800"',
            '"\\udc00"',
            '"\\ud800\\u0041"',
            '"\\ud800\\ud800"',
            '["\\ud83d"]',
        ]:
            assert _native.parsed(text) is None, text[:80]

    def test_a_damaged_text_is_read_as_python_reads_it(self) -> None:
        from seamgate import _native

        ways = random.Random(2)
        for _ in range(20_000):
            text = _written(_any(ways, 3), ways)
            at = ways.randrange(len(text))
            text = (
                text[:at]
                + ways.choice(["", "", '"', "\\", ",", "]", "}", "0", "-", ".", "e", " ", "é"])
                + text[at + 1 :]
            )
            made = _native.parsed(text)
            assert made is None or repr(made) == _loaded(text), text

    def test_names_are_kept_for_all_threads(self) -> None:
        from seamgate import _native

        wrong: list[str] = []

        def read(part: int) -> None:
            for number in range(300):
                value = {f"{part}-{number}-{n}": n for n in range(20)}
                if _native.parsed(json.dumps(value)) not in (value, None):
                    wrong.append(f"{part}, {number}")

        threads = [threading.Thread(target=read, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong

    def test_the_documents_of_the_cases_are_read(self) -> None:
        from seamgate import _native

        read = 0
        for path in sorted((ROOT / "tests/cases").glob("*/*/report.json")):
            output = json.loads(path.read_text())["output"]
            text = json.dumps(output, separators=(",", ":"), ensure_ascii=False)
            made = _native.parsed(text)
            assert made is None or repr(made) == _loaded(text), path
            read += made is not None
        assert read > 100


def test_a_report_has_the_values(gate: Gate) -> None:
    contract = {"agent": "any", "schema": True, "caps": {"depth": 128, "object_members": 10_000}}
    judged = 0
    for text in TEXTS:
        verdict = gate.validate(contract, text)
        if verdict.success:
            judged += 1
            assert repr(verdict.data) == _loaded(verdict.report.output_json or ""), text[:80]
            assert verdict.data is verdict.report.output
    assert judged > len(TEXTS) / 2
