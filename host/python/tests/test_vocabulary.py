"""One vocabulary: the same words on every result, and what tools of Python ask objects for."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES, OUTPUTS, native_only

from seamgate import (
    Accepted,
    Completed,
    ContractRegistry,
    Gate,
    NotAcceptedError,
    Partial,
    Report,
    ResultParser,
    SeamgateError,
    SeamgateFault,
    Verdict,
    ask,
    bake,
)
from seamgate._located import Source

LIST: dict[str, Any] = {
    "agent": "l",
    "schema": {"type": "array", "items": {"type": "integer"}},
    "items": {"path": "$[*]"},
}
TEXTS = {
    "ascii": 'plain: ```json\n[1, "x", 3, "y"]\n```\n',
    "two bytes": "é" * 5 + '["é", 1, "ü"]',
    "three and four bytes": '日本語 🎉 ```json\n["🎉", 2, "語", {"é": 1}]\n``` 終',
    "long": "é🎉" * 4000 + "\n```json\n[" + ", ".join(['"é🎉"', "1"] * 300) + "]\n```",
}


def _located(report: Report) -> list[Any]:
    items = [part for item in report.quarantined for part in (item, *item.violations)]
    return [*report.violations, *items, *report.items, *report.changes, *report.candidates]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("as_bytes", [False, True])
def test_a_place_is_in_bytes_and_in_characters(name: str, as_bytes: bool) -> None:
    text = TEXTS[name]
    contract = {**LIST, "repair": "syntax", "extract": {"embedded": True}}
    report = Gate().validate(contract, text.encode() if as_bytes else text).report
    places = [each for each in _located(report) if each.span is not None]
    assert len(places) > 2
    for each in places:
        start, end = each.span
        assert each.text == text.encode()[start:end].decode()
        assert each.str_span is not None
        assert text[slice(*each.str_span)] == each.text
    assert all(item.snippet[:20] == (item.text or "")[:20] for item in report.quarantined)


def test_a_place_in_what_is_not_utf_8_is_that_in_the_text_that_is_shown() -> None:
    output = b'\xff\xe2\x82 [1, "\xc3\xa9\xf0\x9f", 3]'
    report = Gate().validate({**LIST, "extract": {"embedded": True}}, output).report
    for each in _located(report):
        if each.span is not None:
            assert each.str_span is not None
            assert report.raw[slice(*each.str_span)] == each.text
    surrogate = '[\ud800, "é"]'
    for each in _located(Gate().validate(LIST, surrogate).report):
        if each.span is not None and each.str_span is not None:
            assert surrogate[slice(*each.str_span)] == each.text


def test_offsets_of_any_place() -> None:
    for text in ("", "é" * 9000, "a" * 9000, "🎉é日a" * 3000):
        source, data = Source(text), text.encode()
        starts = [at for at in range(len(data) + 1) if at == len(data) or data[at] & 0xC0 != 0x80]
        assert [source.characters(at) for at in starts[::97]] == list(range(len(text) + 1))[::97]
        assert source.piece(0, len(data)) == text
        assert source.piece(0, len(data) + 1) is None


def test_a_report_without_its_output_has_no_texts() -> None:
    report = Gate().validate(LIST, '[1, "x"]').report
    read = Report.from_json(report.json)
    assert read == report
    assert read.violations[0].text is None
    assert read.violations[0].str_span is None
    again = pickle.loads(pickle.dumps(report))
    assert [again.violations[0].text, copy.deepcopy(report).violations[0].text] == ['"x"', '"x"']


def test_violations_is_the_word_on_every_result() -> None:
    gate = Gate()
    gate.register(LIST)
    for output, count in (("[1]", 0), ("nothing", 1), ('["x", 1, "y"]', 2), ('["x"]', 1)):
        report = gate.validate("l", output).report
        parsed = ResultParser(gate).parse("l", output)
        answer = ask("l", lambda _, output=output: output, gate=gate)  # type: ignore[misc]
        assert len(report.violations) == len(parsed.violations) == len(answer.violations) == count
        assert parsed.violations == report.violations
        assert answer.attempts[0].violations == report.violations


@native_only
def test_every_result_has_the_same_words() -> None:
    gate = Gate()
    gate.register({**LIST, "retry": {"limit": 0}})
    for output, success, data in (("[1]", True, [1]), ('[1, "x"]', False, [1]), ("x", False, None)):
        verdict = gate.validate("l", output)
        results: list[Any] = [
            verdict,
            verdict.report,
            ResultParser(gate).parse("l", output),
            ask("l", lambda _, output=output: output, gate=gate),  # type: ignore[misc]
            gate.run("l", lambda _, output=output: output),  # type: ignore[misc]
        ]
        for result in results:
            assert (bool(result), result.success) == (success, success)
            # The harness step gives nothing that must not be used.
            assert result.data == (data if success or result is not results[-1] else None)
            assert result.violations == verdict.report.violations
            assert callable(result.unwrap)


def test_unwrap_gives_the_document_or_raises_with_the_report() -> None:
    gate = Gate()
    gate.register({**LIST, "retry": {"limit": 0}})
    good = gate.validate("l", "[1, 2]")
    results: list[Any] = [good, good.report, ResultParser(gate).parse("l", "[1, 2]"), ask(LIST, lambda _: "[1, 2]")]
    assert [result.unwrap() for result in results] == [[1, 2]] * 4
    for output, word in (('[1, "x"]', "partial"), ("x", "rejected")):
        bad = gate.validate("l", output)
        answer = ask("l", lambda _, output=output: output, gate=gate)  # type: ignore[misc]
        results = [bad, bad.report, ResultParser(gate).parse("l", output), answer]
        for result in results:
            with pytest.raises(NotAcceptedError, match=f"^the output is {word}: ") as raised:
                result.unwrap()
            assert raised.value.report == bad.report
            assert raised.value.violations == bad.report.violations
            assert raised.value.feedback == bad.report.feedback
            assert isinstance(raised.value, SeamgateError)
            assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


@native_only
def test_outcomes_of_run_unwrap_too() -> None:
    gate = Gate()
    gate.register({**LIST, "retry": {"limit": 0}})
    assert gate.run("l", lambda _: "[1]").unwrap() == [1]
    with pytest.raises(NotAcceptedError):
        gate.run("l", lambda _: "x").unwrap()
    assert gate.run("l", lambda _: '[1, "x"]', allow_partial=True).unwrap() == [1]


@native_only
def test_items_of_a_stream_have_their_text_in_characters() -> None:
    text = '日本 ["é", {"a": "🎉"}, "語"]'
    gate = Gate()
    gate.register({**LIST, "schema": {"items": True}, "extract": {"embedded": True}})
    for step in (1, 3, 100):
        items, data = list[Completed](), text.encode()
        with gate.session("l") as session:
            for at in range(0, len(data), step):
                items += session.push(data[at : at + step]).items
        assert [item.text for item in items] == ['"é"', '{"a": "🎉"}', '"語"']
        assert [text[slice(*item.str_span)] for item in items] == [item.text for item in items]


def test_completion_shows_every_member() -> None:
    verdict = Gate().validate(LIST, '[1, "x"]')
    report: Any = verdict.report
    wanted = ["changes", "error", "feedback", "items", "json", "notes", "output", "quarantined", "violations", "unwrap"]
    assert set(wanted) <= set(dir(report))
    assert {"report", "usage", "unwrap"} <= set(dir(verdict))
    for shown in (report, verdict):
        assert all(hasattr(shown, name) for name in dir(shown))


def test_objects_say_what_they_are() -> None:
    gate = Gate()
    assert repr(gate).startswith("<seamgate.Gate of no agent, ")
    gate.register(LIST)
    gate.register_profile({"agent": "p", "tools": []})
    assert repr(gate).startswith("<seamgate.Gate of l, ")
    assert repr(gate.instance()) == f"<seamgate.Instance of {gate!r}>"
    assert repr(ResultParser(gate)) == f"ResultParser(ContractRegistry({gate!r}))"
    assert repr(ContractRegistry(gate)) == f"ContractRegistry({gate!r})"
    assert repr(gate.loop("p", run="r", principal="anna")) == "<seamgate.Loop of p>"
    for given in (gate, gate.instance()):
        with pytest.raises(TypeError, match=r"cannot be pickled or copied"):
            pickle.dumps(given)


def test_notebooks_show_results_and_nothing_of_an_output_is_markup() -> None:
    output = '["<script>alert(1)</script>", 1, "\u202e&"]'
    verdict = Gate().validate(LIST, output)
    answer = ask({**LIST, "retry": {"limit": 0}}, lambda _: output)
    assert isinstance(answer, Partial)
    shown: list[Any] = [
        verdict,
        verdict.report,
        answer,
        ask(LIST, lambda _: "[1]"),
        ResultParser().parse_with_schema({}, "1"),
    ]
    for each in shown:
        page = each._repr_html_()
        assert "<script" not in page
        assert "\u202e" not in page
    assert "$[0]" in verdict.report._repr_html_()
    assert (
        len(Gate().validate({"agent": "a", "schema": True}, json.dumps(["x" * 99] * 9999)).report._repr_html_())
        < 50_000
    )
    assert isinstance(shown[3], Accepted)


@pytest.mark.parametrize("of", [str, Path])
def test_paths_are_texts_too(of: type, tmp_path: Path) -> None:
    path = of(EXAMPLES / "triage.contract.json")
    good = (OUTPUTS / "triage.good.txt").read_text()
    gate = Gate()
    gate.lint(path)
    assert gate.validate(path, good)
    assert gate.instance().validate(path, good)
    assert gate.register(path).agent == "triage"
    assert gate.validate(path, good)
    assert ask(path, lambda _: good)
    profile = tmp_path / "a.profile.json"
    profile.write_text('{"agent":"a","tools":[]}')
    assert gate.register_profile(of(profile)).agent == "a"
    missing = of(tmp_path / "none.contract.json")
    for call in (
        gate.register,
        gate.lint,
        lambda path: gate.validate(path, good),
        lambda path: ask(path, lambda _: good),
    ):
        with pytest.raises(SeamgateError, match=r"none\.contract\.json: No such file or directory"):
            call(missing)


@native_only
def test_paths_are_baked_as_texts_too() -> None:
    assert Gate(component=bake([str(EXAMPLES / "triage.contract.json")])).names() == ["triage"]


def test_an_agent_may_be_named_like_a_file() -> None:
    gate = Gate()
    gate.register({"agent": "orders.json", "schema": {"type": "integer"}})
    assert gate.validate("orders.json", "1")
    assert ask("orders.json", lambda _: "1", gate=gate)
    with pytest.raises(SeamgateFault, match="unknown_agent"):
        gate.validate("orders", "1")


@native_only
def test_the_package_is_a_command() -> None:
    ran = subprocess.run([sys.executable, "-m", "seamgate", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("seamgate ")


def test_a_verdict_is_what_validate_gives() -> None:
    assert isinstance(Gate().validate(LIST, "[]"), Verdict)
