"""Gates: contracts and outputs in, verdicts out."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from conftest import ENDLESS, EXAMPLES, OUTPUTS, ROOT, fault

import seamgate
from seamgate import (
    Disposition,
    ErrorKind,
    FaultCode,
    Finish,
    Gate,
    InputTooLargeFault,
    InvalidDocumentFault,
    LimitFault,
    Limits,
    LoadError,
    QuarantineReason,
    Report,
    SeamgateFault,
    Source,
    TimeoutFault,
    UnknownAgentFault,
)

ANY = '{"agent":"any","schema":true}'


def test_a_good_output_is_accepted(gate: Gate) -> None:
    verdict = gate.validate("triage", (OUTPUTS / "triage.good.txt").read_text())
    report = verdict.report
    assert report.disposition is Disposition.ACCEPTED
    assert report.disposition.value == "accepted"
    assert report.success
    assert report.data is report.output
    assert report.output["recommendations"]
    assert report.error is None
    assert report.violations == ()
    assert report.candidates[0].source is Source.BLOCK
    assert verdict.usage.fuel > 10_000
    assert 0 < verdict.usage.elapsed_seconds < 5
    assert re.fullmatch("sha256:[0-9a-f]{64}", verdict.usage.component)


def test_a_bad_output_is_rejected_with_all_reasons(gate: Gate) -> None:
    raw = (OUTPUTS / "cited-answer.bad-url.txt").read_text()
    report = gate.validate("cited-answer", raw).report
    assert report.disposition is Disposition.REJECTED
    assert not report.success
    assert report.data is None
    assert report.output_json is None
    assert report.raw == raw
    assert report.error is not None
    assert report.error.error is ErrorKind.OUTPUT_VALIDATION_FAILED
    assert [violation.keyword for violation in report.violations] == ["format", "pattern"]
    first = report.violations[0]
    assert first.span is not None
    start, end = first.span
    assert "library.example.com" in raw.encode()[start:end].decode()
    assert "citations[0].url" in report.feedback


def test_what_is_no_json_is_an_extraction_error(gate: Gate) -> None:
    report = gate.validate(ANY, '{"a":1 "b"}').report
    assert report.error is not None
    assert report.error.error is ErrorKind.MALFORMED_JSON
    assert str(report.violations[0]).startswith("$ must be JSON: expected ',' or '}', not ")


def test_a_partial_output_is_no_success_and_has_data(gate: Gate) -> None:
    report = gate.validate("triage", (OUTPUTS / "triage.partial-one-broken.txt").read_text()).report
    assert report.disposition is Disposition.PARTIAL
    assert not report.success
    assert report.review_required
    assert len(report.data["recommendations"]) == 7
    assert [item.reason for item in report.quarantined] == [
        QuarantineReason.MALFORMED,
        QuarantineReason.SCHEMA,
        QuarantineReason.OVER_LIMIT,
    ]
    assert all(change.kind == "item_removed" for change in report.changes)


def test_a_refusal_is_neither(gate: Gate) -> None:
    report = gate.validate("cited-answer", (OUTPUTS / "cited-answer.refused.txt").read_text()).report
    assert report.disposition is Disposition.REFUSED
    assert not report.success
    assert report.error is None


def test_valid_items_of_a_rejected_output_are_kept(gate: Gate) -> None:
    contract = {
        "agent": "a",
        "schema": {"required": ["name"], "properties": {"list": {"items": {"type": "integer"}}}},
        "items": {"path": "$.list[*]"},
    }
    report = gate.validate(contract, '{"list":[1,"x",3]}').report
    assert report.disposition is Disposition.REJECTED
    assert [(item.index, item.value) for item in report.items] == [(0, 1), (2, 3)]


def test_numbers_are_exact_and_keep_their_digits(gate: Gate) -> None:
    output = '{"big": 18446744073709551615, "least": -9223372036854775808, "float": 1.50e1, "zero": -0}'
    report = gate.validate(ANY, output).report
    assert report.data == {"big": 2**64 - 1, "least": -(2**63), "float": 15.0, "zero": 0}
    assert report.output_json == output.replace(" ", "")
    assert report.output_json in report.json


def test_a_report_reads_what_it_writes(gate: Gate) -> None:
    for path in sorted(OUTPUTS.iterdir()):
        report = gate.validate(path.name.split(".")[0], path.read_text()).report
        assert Report.from_json(report.json, report.raw) == report
        assert pickle.loads(pickle.dumps(report)) == report
        assert copy.deepcopy(report) == report


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"disposition":"accepted"', '"disposition":"splendid"'),
        ('"disposition":"accepted"', '"disposition":"rejected"'),
        ('"notes":[]', '"notes":[1]'),
        ('"notes":[]', '"notes":[],"more":1'),
        ('"feedback":""', '"feedback":null'),
        ('"chosen":true', '"chosen":1'),
        ('"output":1', '"output":NaN'),
        ('"output":1', '"output":' + "[" * 100_000),
        ("}", ""),
    ],
)
def test_what_is_no_report_is_not_read(gate: Gate, before: str, after: str) -> None:
    text = gate.validate(ANY, "1").report.json
    assert before in text
    with pytest.raises(ValueError, match=r".+"):
        Report.from_json(text.replace(before, after))


def test_bytes_that_are_not_utf_8_are_rejected_with_the_place(gate: Gate) -> None:
    for output in (b'{"a":"\xff"}', bytearray(b'{"a":"\xff"}'), memoryview(b'{"a":"\xff"}')):
        report = gate.validate(ANY, output).report
        assert report.violations
        assert report.error is not None
        assert report.error.violations[0].keyword == "utf8"
        assert report.error.violations[0].span is not None
        assert report.error.violations[0].span[0] == 6
        assert report.raw == '{"a":"\ufffd"}'


@pytest.mark.parametrize("output", ['{"a":"\ud800"}', '{"a":"\udfff\ud800"}', "\udcff", '{"\ud83d":1}'])
def test_half_a_surrogate_pair_is_rejected_with_the_place(gate: Gate, output: str) -> None:
    report = gate.validate(ANY, output).report
    assert report.disposition is Disposition.REJECTED
    assert report.error is not None
    violation = report.error.violations[0]
    assert violation.keyword == "utf8"
    assert violation.span is not None
    assert violation.span[0] == next(at for at, character in enumerate(output) if "\ud800" <= character <= "\udfff")
    assert "\ufffd" in report.raw


def test_a_surrogate_pair_is_malformed_as_halves_and_fine_as_a_character(gate: Gate) -> None:
    assert gate.validate(ANY, '"\U0001f600"').report.data == "\U0001f600"
    # Python's own way to spell it in halves is no text.
    assert not gate.validate(ANY, '"\ud83d\ude00"').report.success


def test_other_outputs_are_a_mistake_of_the_caller(gate: Gate) -> None:
    for output in (None, 1, {"a": 1}):
        with pytest.raises(TypeError, match=r"^output must be str or bytes, not"):
            gate.validate(ANY, output)  # type: ignore[arg-type]


def test_finish_and_lists_are_passed_on(gate: Gate) -> None:
    cut = gate.validate(ANY, '{"a":', finish="length").report
    assert cut.error is not None
    assert not cut.error.retryable
    assert gate.validate(ANY, '{"a":', finish=Finish.LENGTH).report.json == cut.json
    contract = {"agent": "a", "schema": True, "allow": [{"path": "$", "list": "teams"}]}
    assert gate.validate(contract, '"x"', lists={"teams": ("x", "y")}).report.success
    assert not gate.validate(contract, '"x"', lists={"teams": ["y"]}).report.success
    own = Gate()
    assert own.register(contract).lists == ("teams",)
    for lacking in (
        fault("bad_request", lambda: own.validate(contract, '"x"')),
        fault("bad_request", lambda: own.validate("a", '"x"', lists={"others": ["x"]})),
    ):
        assert 'must have the list "teams", which ' in lacking.message
    assert own.validate("a", '"x"', lists={"teams": ["x"], "others": []}).report.success
    (answer,) = gate.validate_all([seamgate.Request(contract, '"x"')])
    assert isinstance(answer, SeamgateFault)
    assert answer.code == "bad_request"
    optional = {**contract, "allow": [{"path": "$", "list": "teams", "optional": True}]}
    assert "teams" in gate.validate(optional, '"x"').report.notes[0]
    assert not gate.validate(optional, '"x"', lists={"teams": ["y"]}).report.success
    with pytest.raises(TypeError, match=r"lists\['teams'\] must be a list of str"):
        gate.validate(contract, '"x"', lists={"teams": "xy"})
    bad = fault("bad_request", lambda: gate.validate(ANY, "1", finish="tired"))
    assert "finish" in bad.message
    assert "pass unknown" in bad.message


def test_evidence_is_passed_on(gate: Gate) -> None:
    contract = {"agent": "a", "schema": True, "evidence": {"claims": "$.claims[*]"}}
    claim = {"text": "128 errors", "evidence": [{"id": "log", "quote": "matches: 128"}], "confidence": "high"}
    output = json.dumps({"claims": [claim]})
    seen = seamgate.Seen("log", "matches: 128", confidence=seamgate.Confidence.HIGH)
    alike = {"id": "log", "text": "matches: 128", "confidence": "high"}
    assert gate.validate(contract, output, evidence=[seen]).report.success
    (answer,) = gate.validate_all([seamgate.Request(contract, output, evidence=[alike])])
    assert isinstance(answer, seamgate.Verdict)
    assert answer.report.success
    low = gate.validate(contract, output, evidence=[seamgate.Seen("log", "matches: 128")]).report
    assert low.error is not None
    assert low.error.violations[0].keyword == "evidence.confidence"
    assert "evidence" in fault("bad_request", lambda: gate.validate(contract, output)).message
    assert not gate.validate(contract, output, evidence=[]).report.success
    fault("bad_request", lambda: gate.validate(contract, output, evidence=[{"id": "log"}]))


def test_finish_takes_the_words_of_apis(gate: Gate) -> None:
    def judged(finish: Finish | str) -> str:
        return gate.validate(ANY, '{"a":', finish=finish).report.json

    words = {
        Finish.STOP: ["STOP", "end_turn", "COMPLETE"],
        Finish.LENGTH: ["max_tokens", "MAX_TOKENS", "model_length"],
        Finish.REFUSAL: ["refusal"],
        Finish.CONTENT_FILTER: ["SAFETY", "content-filter", "guardrail_intervened"],
        Finish.TOOL_CALL: ["tool_calls", "tool_use", "tool-calls"],
        Finish.UNKNOWN: ["other", "error"],
    }
    assert set(words) == set(Finish)
    for finish, same in words.items():
        assert {judged(word) for word in same} == {judged(finish)}


def test_contracts_come_as_text_dict_and_path(gate: Gate) -> None:
    path = EXAMPLES / "triage.contract.json"
    good = (OUTPUTS / "triage.good.txt").read_bytes()
    whole = seamgate.read_contract(path)
    reports = {gate.validate(contract, good).report.json for contract in (path, whole, json.loads(whole), "triage")}
    assert len(reports) == 1
    with pytest.raises(TypeError, match="contract must be JSON text, a dict or"):
        gate.validate(1, "1")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("contract", "message"),
    [
        ('{"agent":"a","schema":{"type":"strin"}}', "contract: $.schema.type must be one of"),
        ('{"agent":"a"', "contract: $ must be JSON: expected ',' or '}', not "),
        ('{"agent":"a","agent":"a","schema":true}', 'contract: $.agent must not have member "agent" twice'),
        ('{"agent":"a","schema":{"const":1e999}}', "contract: $.schema.const "),
        ('{"agent":"a","schema":{"const":"\ud800"}}', "contract: half a surrogate pair at character"),
        ('{"agent":"a","schema":{"const":NaN}}', "contract: $.schema.const must be JSON"),
        # Nothing of a contract gets out of its place in the request.
        ('{"agent":"a","schema":true},"output":"2"', "contract: $ must be JSON"),
        ('{"agent":"a","schema":' + "[" * 100_000, "contract: $"),
        ('{"agent":"a","schema":true' + " " * 8 * 1024 * 1024 + "}", "contract: $ "),
    ],
)
def test_a_bad_contract_is_a_fault_that_names_the_place(gate: Gate, contract: str, message: str) -> None:
    with gate.instance() as instance:
        for judge in (gate.validate, instance.validate):
            raised = fault("bad_contract", lambda judge=judge: judge(contract, "1"))  # type: ignore[misc]
            assert raised.message.startswith(message), raised
    assert fault("bad_contract", lambda: gate.register(contract)).message.startswith(message)
    assert fault("bad_contract", lambda: gate.lint(contract)).message.startswith(message)


def test_faults_say_what_belongs_to_them(gate: Gate) -> None:
    unknown = fault("unknown_agent", lambda: gate.validate("nobody", "1"))
    assert unknown.detail == {"agents": ["cited-answer", "tool-result", "triage"]}
    assert 'no contract is registered for the agent "nobody"' in str(unknown)
    bad = fault("bad_contract", lambda: gate.register('{"agent":"A","schema":true}'))
    assert bad.violations[0].path == "$.agent"
    again = pickle.loads(pickle.dumps(bad))
    assert (again.code, again.message, again.detail) == (bad.code, bad.message, bad.detail)


def _unknown(gate: Gate) -> object:
    return gate.validate("nobody", "1")


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (InvalidDocumentFault, lambda gate: gate.register('{"agent":"A","schema":true}')),
        (InvalidDocumentFault, lambda gate: gate.register_profile({"agent": "p"})),
        (InvalidDocumentFault, lambda gate: gate.validate("triage", "1", finish="nope")),
        (UnknownAgentFault, _unknown),
        (UnknownAgentFault, lambda gate: gate.describe("nobody")),
        (UnknownAgentFault, lambda gate: gate.permit("nobody", {}, {})),
        (UnknownAgentFault, lambda gate: gate.validate_all([seamgate.Request("nobody", "1")])[0]),
        (InputTooLargeFault, lambda _: Gate(limits=Limits(output_bytes=9)).validate(json.loads(ANY), "1" * 10)),
        (LimitFault, lambda _: Gate(limits=Limits(fuel=1)).validate(json.loads(ANY), "1")),
        (TimeoutFault, lambda _: Gate(limits=Limits(timeout_seconds=0.1, fuel=2**62)).validate(ENDLESS, "{}")),
    ],
)
def test_a_fault_is_of_the_class_that_its_code_has(kind: type[SeamgateFault], call: Callable[[Gate], object]) -> None:
    try:
        raised = call(Gate())
    except SeamgateFault as fault:
        raised = fault
    assert type(raised) is kind


@pytest.mark.parametrize("code", get_args(FaultCode))
def test_faults_keep_their_class(code: FaultCode) -> None:
    made = SeamgateFault(code, "why", {"limit": 3, "bytes": 4, "agents": ["a"]})
    for again in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert type(again) is type(made)
        assert (again.code, again.message, again.detail) == (code, "why", made.detail)
    assert isinstance(made, SeamgateFault)
    assert (type(made) is SeamgateFault) == (code in ("sealed", "trap"))
    if isinstance(made, LimitFault):
        assert made.limit == 3
    if isinstance(made, InputTooLargeFault):
        assert made.size == 4


def test_an_unknown_agent_is_told_with_those_that_are_known() -> None:
    gate = Gate()
    assert str(fault("unknown_agent", lambda: _unknown(gate))).endswith('the agent "nobody"; registered: none')
    for number in range(10):
        gate.register({"agent": f"a{number}", "schema": True})
        told = fault("unknown_agent", lambda: _unknown(gate))
        assert isinstance(told, UnknownAgentFault)
        assert told.agents == tuple(f"a{each}" for each in range(number + 1))
    assert str(told).endswith("registered: 'a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7' and 2 more")


def test_the_registry(gate: Gate) -> None:
    assert gate.names() == ["cited-answer", "tool-result", "triage"]
    assert gate.has("triage")
    assert not gate.has("nobody")
    assert gate.contract("triage").version == "1.0.0"
    assert gate.contract("triage").contract == gate.validate("triage", "").report.contract
    assert gate.describe("triage").startswith("Ranked list")
    fault("unknown_agent", lambda: gate.contract("nobody"))
    fault("unknown_agent", lambda: gate.describe("nobody"))
    fresh = Gate()
    assert fresh.register(ANY) == fresh.register(json.loads(ANY))
    other = fault("bad_contract", lambda: fresh.register('{"agent":"any","schema":false}'))
    assert other.message.startswith('the agent "any" already has another contract: sha256:')


def test_lint_names_likely_mistakes(gate: Gate) -> None:
    warnings = gate.lint('{"agent":"a","schema":{"type":"object"}}')
    assert warnings
    assert warnings[0].path.startswith("$")
    assert gate.lint(EXAMPLES / "triage.contract.json") == ()


def test_raw_calls(gate: Gate) -> None:
    assert gate.call('{"op":"names"}').json == '{"id":null,"result":["cited-answer","tool-result","triage"]}'
    assert gate.call('{"id":[1.50],"op":"has","agent":"triage"}').json == '{"id":[1.50],"result":true}'
    assert json.loads(gate.call('{"agent":"triage","output":"1"}').json)["report"]["disposition"] == "rejected"
    assert json.loads(gate.call("[1").json)["fault"]["fault"] == "bad_request"
    assert json.loads(gate.call("[" * 100_000).json)["fault"]["fault"] == "bad_request"
    sealed = json.loads(gate.call('{"op":"seal"}').json)
    assert sealed == {"id": None, "result": None}
    fault("bad_request", lambda: gate.call('{"op":"\ud800"}'))


def test_a_warm_instance_gives_the_same_reports(gate: Gate) -> None:
    with gate.instance() as instance:
        for path in [*sorted(OUTPUTS.iterdir())] * 2:
            agent = path.name.split(".")[0]
            fresh = gate.validate(agent, path.read_bytes())
            warm = instance.validate(agent, path.read_bytes())
            assert warm.report == fresh.report
            assert warm.report.json == fresh.report.json
        if seamgate.backend == "wasmtime":
            # The native one has what a contract left in an instance, and compiles it for no call.
            assert warm.usage.fuel < fresh.usage.fuel / 5
        # A contract that is not registered stays out of it.
        assert instance.validate('{"agent":"triage","schema":true}', "1").report.success
        assert not instance.validate("triage", "1").report.success
        fault("unknown_agent", lambda: instance.validate("nobody", "1"))
        assert instance.validate("triage", path.read_bytes()).report == fresh.report


def test_the_convenience_of_the_module() -> None:
    report = seamgate.validate({"agent": "a", "schema": {"type": "integer"}}, "Here it is:\n```json\n4\n```")
    assert report.success
    assert report.data == 4


def test_what_is_no_validator_is_not_loaded(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="not a WebAssembly component: it does not begin as one"):
        Gate(component=b"(component)", cache=False)
    with pytest.raises(LoadError, match="not a WebAssembly component: "):
        Gate(component=b"\0asm\x0d\0\x01\0rest", cache=False)
    with pytest.raises(LoadError, match="No such file"):
        Gate(component=tmp_path / "missing.wasm")
    with pytest.raises(LoadError, match="the limit is 33554432"):
        Gate(component=b"\0asm\x0d\0\x01\0" + bytes(2**25))


def test_a_baked_component_has_its_contracts_and_takes_no_others(tmp_path: Path) -> None:
    seamgate_cli = ROOT / "target/release/seamgate"
    if not seamgate_cli.exists():
        pytest.skip("there is no target/release/seamgate: `cargo xtask build` makes it")
    baked = tmp_path / "gate.wasm"
    subprocess.run([seamgate_cli, "bake", EXAMPLES, "-o", baked], check=True)
    gate = Gate(component=baked)
    assert gate.names() == ["cited-answer", "tool-result", "triage"]
    assert gate.has("triage")
    assert gate.contract("triage").version == "1.0.0"
    fault("sealed", lambda: gate.register(ANY))
    plain = Gate()
    plain.register(EXAMPLES / "triage.contract.json")
    output = (OUTPUTS / "triage.good.txt").read_text()
    assert gate.validate("triage", output).report == plain.validate("triage", output).report
    assert gate.validate(ANY, "1").report.success
    assert Gate(component=str(baked)).validate("triage", output).report.success


def test_faults_are_of_one_class() -> None:
    assert issubclass(SeamgateFault, seamgate.SeamgateError)
    assert issubclass(LoadError, seamgate.SeamgateError)
    assert issubclass(seamgate.FileError, seamgate.SeamgateError)
