"""Archives: batches of Arrow, and one Parquet file on the command line."""

from __future__ import annotations

import dataclasses
import json
import resource
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, native_only

from seamgate import Gate, Limits, LoadError, SeamgateFault

pa = pytest.importorskip("pyarrow", reason="pyarrow is for Python 3.11 and later")
pq = pytest.importorskip("pyarrow.parquet")

from seamgate import archive  # noqa: E402

CONTRACT: dict[str, Any] = {
    "agent": "order",
    "schema": {
        "type": "object",
        "required": ["sku"],
        "properties": {"sku": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}},
    },
    "items": {"path": "$.lines[*]"},
}

# What the documents of the gate take, and what no gate takes.
OUTPUTS = [
    b'{"sku":"A"}',
    b'{"sku":1}',
    b'{"sku":"A","lines":[1,"x",3]}',
    b"prose",
    b'{"sku":"\xff"}',
    b'{"sku":"A","n":' + b"9" * 5000 + b"}",
    b'{"n":' + b"9" * 5000 + b"}",
]


def _judged(column: Any, **more: Any) -> Any:
    judge = archive.Judge(
        archive.seal(CONTRACT, **{name: more.pop(name) for name in ("lists", "limits") if name in more})
    )
    return pa.Table.from_batches(judge.judge(pa.record_batch({"text": column, **more})))


def test_a_row_has_what_the_report_says() -> None:
    gate = Gate()
    gate.register(CONTRACT)
    judged = _judged(pa.array(OUTPUTS).view(pa.string()), id=pa.array(range(len(OUTPUTS))))
    assert judged.schema.names == ["text", "id", *archive.COLUMNS.names]
    assert judged.column("id").to_pylist() == list(range(len(OUTPUTS)))
    for row, output in zip(judged.select(archive.COLUMNS.names).to_pylist(), OUTPUTS, strict=True):
        verdict = gate.validate("order", output)
        report = verdict.report
        assert row["report"] == report.json
        assert row["disposition"] == report.disposition.value
        assert row["document"] == report.output_json
        assert row["error"] == (report.error and report.error.error.value)
        assert row["fuel"] == verdict.usage.fuel
        assert row["contract"] == report.contract
        assert row["fault"] is None
        assert [item["path"] for item in row["quarantined"]] == [item.path for item in report.quarantined]
        of = (
            report.error.violations if report.error else [one for item in report.quarantined for one in item.violations]
        )
        assert (row["violation_path"], row["violation_keyword"]) == (
            (of[0].path, of[0].keyword) if of else (None, None)
        )


def _as(kind: Any) -> Any:
    return pa.array([b'{"sku":"A"}', None], pa.binary()).view(pa.string()).cast(kind)


@pytest.mark.parametrize(
    "column",
    [
        _as(pa.large_string()),
        _as(pa.binary()),
        _as(pa.large_binary()),
        _as(pa.string()).dictionary_encode(),
        pa.array(['{"sku":"A"}', None], pa.string_view()),
        pa.array([b'{"sku":"A"}', None], pa.binary_view()),
    ],
    ids=lambda column: str(column.type).split("<")[0],
)
def test_every_kind_of_text_is_judged(column: Any) -> None:
    judged = _judged(column)
    assert judged.column("disposition").to_pylist() == ["accepted", None]
    assert judged.column("fault_message").to_pylist() == [None, "output: is null"]
    assert judged.column("text").type == column.type


def test_what_is_no_text_is_a_row_with_a_fault() -> None:
    judged = _judged(pa.array([1, None]))
    assert judged.column("fault").to_pylist() == ["bad_request", "bad_request"]
    assert judged.column("fault_message")[0].as_py() == "output: must be text or bytes, not int"
    assert judged.column("report").null_count == 2


def test_an_output_that_is_too_large_is_a_row_with_a_fault() -> None:
    judged = _judged(pa.array(["{}", "[" * 100]), limits=Limits(output_bytes=99))
    assert judged.column("fault").to_pylist() == [None, "input_too_large"]


def test_a_word_that_is_no_finish_is_a_row_with_a_fault() -> None:
    judge = archive.Judge(archive.seal(CONTRACT, finish="why"))
    batch = pa.record_batch({"text": pa.array(["{}"] * 3), "why": pa.array(["length", "nonsense", None])})
    [judged] = judge.judge(batch)
    assert judged.column("fault").to_pylist() == [None, "bad_request", None]


def test_lists_are_the_same_for_all_rows() -> None:
    contract = CONTRACT | {"allow": [{"path": "$.sku", "list": "known"}]}
    judge = archive.Judge(archive.seal(contract, lists={"known": ["A"]}))
    [judged] = judge.judge(pa.record_batch({"text": pa.array(['{"sku":"A"}', '{"sku":"B"}'])}))
    assert judged.column("disposition").to_pylist() == ["accepted", "rejected"]


def test_a_table_is_judged_batch_by_batch() -> None:
    judge = archive.Judge(archive.seal(CONTRACT))
    table = pa.table({"text": ['{"sku":"A"}', "prose", '{"sku":1}']})
    rows = pa.Table.from_batches([*judge.judge(table.slice(0, 2)), *judge.judge(table.slice(2))])
    assert pa.Table.from_batches(judge.judge(table)).equals(rows)
    assert pa.Table.from_batches(judge.judge(pa.concat_tables([table, table]))).num_rows == 6
    with pytest.raises(TypeError, match=r"batch must be a `pyarrow.RecordBatch` or a `pyarrow.Table`, not dict"):
        list(judge.judge({"text": []}))
    assert dir(archive) == sorted(archive.__all__)


def test_batches_are_judged_in_pieces_that_are_bounded() -> None:
    judge = archive.Judge(archive.seal(CONTRACT))
    pieces = list(judge.judge(pa.record_batch({"text": pa.array(["{}"] * 2500)})))
    assert [piece.num_rows for piece in pieces] == [1024, 1024, 452]
    large = pa.array(["x" * 8_000_000] * 5)
    assert [piece.num_rows for piece in archive._pieces(pa.record_batch({"text": large}), "text")] == [4, 1]
    [empty] = judge.judge(pa.record_batch({"text": pa.array([], pa.string())}))
    assert empty.num_rows == 0


def test_columns_that_clash_or_lack_are_told() -> None:
    with pytest.raises(ValueError, match=r"rename 'Report' before"):
        _judged(pa.array(["{}"]), Report=pa.array([1]))
    with pytest.raises(ValueError, match=r"there is no column 'text': the columns are 'other'"):
        archive.seal(CONTRACT).names(["other"])


def test_a_bad_contract_is_told_before_the_job() -> None:
    with pytest.raises(SeamgateFault, match="bad_contract"):
        archive.seal({"agent": "a"})


def test_a_worker_with_another_component_judges_nothing() -> None:
    sealed = dataclasses.replace(archive.seal(CONTRACT), component="sha256:00")
    with pytest.raises(LoadError, match=r"by the component sha256:.* and the job was begun with sha256:00: install"):
        archive.Judge(sealed)


def test_a_summary_counts_and_its_page_shows_what_a_producer_wrote_as_text() -> None:
    judged = _judged(pa.array(['{"sku":"A","lines":["x"]}', '{"sku":"A","lines":[1,"x"]}', "<b>", None]))
    summary = archive.summary(judged.to_batches())
    assert summary.schema == archive.SUMMARY
    assert sum(summary.column("rows").to_pylist()) == 4
    counted = archive.summary(archive.counts(batch) for batch in judged.to_batches())
    assert counted == summary
    [partial] = [row for row in summary.to_pylist() if row["disposition"] == "partial"]
    assert (partial["keyword"], partial["path"], partial["rows"]) == ("type", "$.lines[*]", 1)
    [deep] = archive.counts(_judged(pa.array(["[" * 100]))).column("path").to_pylist()
    assert deep == "$" + "[*]" * 39 + "[*…"
    hostile = dict.fromkeys(archive.SUMMARY.names, "\u202e<script>") | {"rows": 1}
    page = archive.page(pa.Table.from_pylist([hostile | {"disposition": "rejected"}], archive.SUMMARY))
    assert "<script>" not in page
    assert "\u202e" not in page
    assert "\\u{202e}&lt;script&gt;" in page
    assert "default-src 'none'" in page


def test_paths_without_end_are_added_up() -> None:
    rows = [
        {"contract": "c", "disposition": "rejected", "keyword": "type", "path": f"$.p{n}", "rows": 1}
        for n in range(archive._MOST_PATHS + 5)
    ]
    summary = archive.summary([pa.Table.from_pylist(rows, archive.SUMMARY)])
    assert summary.num_rows == archive._MOST_PATHS + 1
    assert summary.column("path")[0].as_py() == "(other paths)"
    assert summary.column("rows")[0].as_py() == 5


def test_the_documentation_lists_the_columns() -> None:
    lines = [
        f"| `{name}` | {of} | {about} |" for name, (of, about) in archive._COLUMNS.items() if name != "quarantined"
    ]
    page = (ROOT / "docs/scale.md").read_text()
    assert not [line for line in lines if line not in page]
    assert f"| `quarantined` | list of structs | {archive._COLUMNS['quarantined'][1]} |" in page


def test_nobody_else_pays_for_archives() -> None:
    script = (
        "import sys, seamgate, seamgate._gate; print([n for n in ('pyarrow', 'ray', 'pyspark') if n in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize("module", ["ray", "spark"])
def test_an_engine_that_is_not_there_is_told(module: str) -> None:
    script = f"import sys; sys.modules['pyspark'] = sys.modules['ray'] = None; import seamgate.{module}"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert f"is not installed: pip install 'seamgate[{module}]'" in ran.stderr


def _command(folder: Path, *more: str) -> list[str]:
    """`check --parquet` on `in.parquet` in a folder."""
    (folder / "a.contract.json").write_text(json.dumps(CONTRACT))
    program = [sys.executable, "-c", "from seamgate._command import main; main()"]
    return [*program, "check", "--parquet", "in.parquet", "--out", "out.parquet", "-c", "a.contract.json", *more]


def _check(folder: Path, *more: str, **how: Any) -> subprocess.CompletedProcess[str]:
    command = _command(folder, *more)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **how)


def _left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name not in ("in.parquet", "a.contract.json"))


@native_only
class TestCheckParquet:
    def test_it_writes_the_columns(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"text": pa.array([*OUTPUTS, None]).view(pa.string())}), tmp_path / "in.parquet")
        ran = _check(tmp_path)
        assert ran.returncode == 5, ran.stderr
        assert ran.stderr.startswith("seamgate: 8 outputs: 1 accepted, 1 partial, 5 rejected, 1 no verdict in ")
        judged = pq.read_table(tmp_path / "out.parquet")
        expected = _judged(pa.array([*OUTPUTS, None]).view(pa.string()))
        assert judged.schema.names == expected.schema.names
        assert judged.column("report").to_pylist() == expected.column("report").to_pylist()
        assert judged.column("quarantined").to_pylist() == expected.column("quarantined").to_pylist()
        assert _left(tmp_path) == ["out.parquet"]

    @pytest.mark.parametrize(
        ("table", "said"),
        [
            ({"other": ["{}"]}, "seamgate: in.parquet: there is no column 'text': the columns are 'other'\n"),
            (
                {"text": ["{}"], "fuel": [1]},
                "seamgate: in.parquet: judging adds columns of these names: rename 'fuel' before\n",
            ),
        ],
    )
    def test_it_tells_columns(self, tmp_path: Path, table: Any, said: str) -> None:
        pq.write_table(pa.table(table), tmp_path / "in.parquet")
        ran = _check(tmp_path)
        assert (ran.returncode, ran.stderr) == (2, said)
        assert not _left(tmp_path)

    def test_it_tells_files(self, tmp_path: Path) -> None:
        assert _check(tmp_path).stderr == "seamgate: cannot read in.parquet: No such file or directory\n"
        (tmp_path / "in.parquet").write_text("no parquet")
        assert _check(tmp_path).stderr.startswith("seamgate: cannot read in.parquet: ")
        assert not _left(tmp_path)

    def test_a_full_disk_leaves_what_was_there(self, tmp_path: Path) -> None:
        outputs = [json.dumps({"sku": secrets.token_hex(30_000)}) for _ in range(300)]
        pq.write_table(pa.table({"text": outputs}), tmp_path / "in.parquet")
        (tmp_path / "out.parquet").write_text("before")
        # No file may be longer: the memory of a sandbox is not, and what is written is.
        most = 16 * 1024 * 1024
        ran = _check(tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        assert ran.returncode == 2
        assert "cannot write" in ran.stderr
        assert "File too large" in ran.stderr
        assert _left(tmp_path) == ["out.parquet"]
        assert (tmp_path / "out.parquet").read_text() == "before"

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_leaves_nothing(self, tmp_path: Path, number: signal.Signals) -> None:
        pq.write_table(pa.table({"text": ["{}"] * 1_000_000}), tmp_path / "in.parquet")
        with subprocess.Popen(_command(tmp_path), cwd=tmp_path, stderr=subprocess.PIPE) as process:
            until = time.monotonic() + 60
            while not _left(tmp_path) and time.monotonic() < until:
                time.sleep(0.02)
            assert _left(tmp_path)
            process.send_signal(number)
            assert process.wait(60) == 128 + number
        assert not _left(tmp_path)


PROFILE = {"agent": "x", "tools": [{"name": "look", "effect": "read", "permit": "allow"}]}


def _export(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", "from seamgate._command import main; main()"]
    return subprocess.run(
        [*program, "runs", "export", "runs", *more], cwd=folder, capture_output=True, text=True, check=False
    )


@native_only
class TestExportRuns:
    def _play(self, folder: Path) -> None:
        """A run with two calls."""
        gate = Gate()
        gate.register_profile(PROFILE)
        started = {
            "type": "started",
            "at": 1_790_000_000_000,
            "run": "r1",
            "principal": "joe",
            "nonce": "c0ffee00c0ffee00",
        }
        run, _ = gate.start(folder / "runs" / "r1", "x", started)
        for number in (1, 2):
            run.send(
                {
                    "type": "call",
                    "at": 1_790_000_000_000 + number,
                    "tool": "look",
                    "arguments": {"of": f"a\u2028{number}"},
                }
            )

    def test_it_writes_the_rows_of_the_other_format(self, tmp_path: Path) -> None:
        self._play(tmp_path)
        ran = _export(tmp_path, "--parquet", "calls.parquet")
        assert (ran.returncode, ran.stderr) == (0, "seamgate: 2 calls written to calls.parquet\n")
        written = pq.read_table(tmp_path / "calls.parquet")
        assert written.schema.field("decided_at").type == pa.timestamp("ms", tz="UTC")
        lines = [json.loads(line) for line in _export(tmp_path).stdout.split("\n") if line]
        assert written.schema.names == list(lines[0])
        for row, line in zip(written.to_pylist(), lines, strict=True):
            row["decided_at"] = round(row["decided_at"].timestamp() * 1000)
            assert row == line
        assert (tmp_path / "calls.parquet").stat().st_mode & 0o777 == 0o600
        assert sorted(path.name for path in tmp_path.iterdir()) == ["calls.parquet", "runs"]

    def test_where_it_fails_the_file_is_as_it_was(self, tmp_path: Path) -> None:
        self._play(tmp_path)
        (tmp_path / "folder").mkdir()
        ran = _export(tmp_path, "--parquet", "folder")
        assert ran.returncode == 2
        assert ran.stderr.endswith("/folder: it is no file\n")
        ran = _export(tmp_path, "--parquet", "missing/calls.parquet")
        assert ran.returncode == 2
        assert ran.stderr.endswith("/missing/calls.parquet: No such file or directory\n")
