"""Contracts on disk."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from seamgate import FileError, Gate, read_contract


def test_schemas_are_put_in_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.contract.json").write_text(
        ' {"agent" : "a","schema":"a.schema.json","resources":{ "urn:b":"./sub/b.json","urn:c":{"x": [1.50]} } }\n'
    )
    (tmp_path / "a.schema.json").write_text('\ufeff{ "maximum": 1.50, "const": ' + "9" * 5000 + " }\n")
    (tmp_path / "sub/b.json").write_text("true")
    expected = (
        '{"agent":"a","schema":{ "maximum": 1.50, "const": '
        + "9" * 5000
        + ' },"resources":{"urn:b":true,"urn:c":{"x": [1.50]}}}'
    )
    assert read_contract(tmp_path / "a.contract.json") == expected
    assert read_contract(str(tmp_path / "a.contract.json")) == expected


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../secret.json", "is not a path of a file in the folder of the file that names it"),
        ("/etc/hostname", "is not a path of a file in the folder of the file that names it"),
        ("deeper/../../secret.json", "is not a path of a file in the folder of the file that names it"),
        ("", "is not a path of a file in the folder of the file that names it"),
        ("nul\\u0000l", "is not a path of a file in the folder of the file that names it"),
        ("missing.json", "cannot be read: No such file or directory"),
        ("link.json", "leads out of the folder of the file that names it"),
        ("deeper/secret.json", "leads out of the folder of the file that names it"),
        ("loop.json", "cannot be read: "),
        ("bytes.json", "cannot be read: is not UTF-8 at byte 1"),
        ("broken.json", "is not JSON"),
    ],
)
def test_no_path_leads_out_of_the_folder(tmp_path: Path, path: str, why: str) -> None:
    folder = tmp_path / "sub"
    folder.mkdir()
    (tmp_path / "secret.json").write_text("{}")
    (folder / "link.json").symlink_to("../secret.json")
    (folder / "deeper").symlink_to("..")
    (folder / "loop.json").symlink_to("loop.json")
    (folder / "bytes.json").write_bytes(b'"\xff"')
    (folder / "broken.json").write_text("{},{}")
    contract = folder / "a.contract.json"
    for member, text in [
        ("schema", f'{{"agent":"a","schema":"{path}"}}'),
        ("jtd", f'{{"agent":"a","jtd":"{path}"}}'),
        ("resources.urn:x", f'{{"agent":"a","schema":true,"resources":{{"urn:x":"{path}"}}}}'),
    ]:
        contract.write_text(text)
        with pytest.raises(FileError) as raised:
            read_contract(contract)
        assert f"`{member}` names " in str(raised.value)
        assert why in str(raised.value)


def test_what_is_no_contract_is_left_to_the_component(tmp_path: Path, gate: Gate) -> None:
    contract = tmp_path / "a.contract.json"
    for text in ("[1", '{"agent":"a","schema":1}', '{"agent":"a","schema":NaN}', "[" * 100_000):
        contract.write_text(text)
        assert read_contract(contract) == text


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"none\.contract\.json: No such file or directory"):
        read_contract(tmp_path / "none.contract.json")
    (tmp_path / "bytes.contract.json").write_bytes(b"{\xff}")
    with pytest.raises(FileError, match="is not UTF-8 at byte 1"):
        read_contract(tmp_path / "bytes.contract.json")


MOST = 8 * 1024 * 1024


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_what_a_contract_names_is_a_file_of_bounded_size(tmp_path: Path) -> None:
    contract = tmp_path / "a.contract.json"
    contract.write_text('{"agent":"a","schema":"other"}')
    other = tmp_path / "other"
    os.mkfifo(other)
    with pytest.raises(FileError, match="must be a regular file"):
        read_contract(contract)
    other.unlink()
    other.write_bytes(b" " * (MOST + 1))
    with pytest.raises(FileError, match=f"has {MOST + 1} bytes; the limit is {MOST}"):
        read_contract(contract)
    other.write_bytes(b" " * (MOST - 4) + b"true")
    assert read_contract(contract) == '{"agent":"a","schema":true}'
    # A short contract can name it many times.
    other.write_bytes(b'"' + b"x" * (MOST - 2) + b'"')
    resources = ",".join(f'"urn:{number}":"other"' for number in range(1000))
    contract.write_text(f'{{"agent":"a","schema":{{}},"resources":{{{resources}}}}}')
    with pytest.raises(FileError, match="has more than 33554432 bytes with the files that it names"):
        read_contract(contract)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_contract_may_be_a_pipe_and_is_bounded_too(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=f"has more than {MOST} bytes; the limit is {MOST}"):
        read_contract("/dev/zero")
    pipe = tmp_path / "a.contract.json"
    os.mkfifo(pipe)
    text = '{"agent":"a","schema":true}'
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    assert read_contract(pipe) == text
    writer.join()
