"""Reads receipts with the libraries of others: `pycose`, `cwt`, `securesystemslib` and `in-toto-attestation`.

The receipt is one of the run that `seamgate demo` makes. `docs/recipes/receipt_signature.py` verifies its signature, too.
"""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile

import cbor2
from cwt import COSE, COSEKey
from google.protobuf.json_format import ParseDict
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as Message
from pycose.keys import OKPKey
from pycose.keys.curves import Ed25519
from pycose.messages import CoseMessage
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEAMGATE = ROOT / "target/release/seamgate"

sys.path.insert(0, str(ROOT / "docs/recipes"))
import receipt_signature  # noqa: E402


def seamgate(*arguments, status=0, cwd=None):
    ended = subprocess.run([SEAMGATE, *arguments], capture_output=True, text=True, check=False, cwd=cwd)
    assert ended.returncode == status, (arguments, ended.returncode, ended.stderr)
    return ended.stdout


def changed(file: bytes, at: int) -> bytes:
    return file[:at] + bytes([file[at] ^ 1]) + file[at + 1 :]


def is_refused(read, *arguments) -> bool:
    """Returns whether a reader raises or returns a negative result."""
    try:
        return not read(*arguments)
    except Exception:  # Each library has errors of its own.
        return True


def by_pycose(file: bytes, key: bytes) -> bool:
    message = CoseMessage.decode(file)
    message.key = OKPKey(crv=Ed25519, x=key)
    return message.verify_signature()


def by_cwt(file: bytes, key: bytes) -> bool:
    # Of the key: its type OKP, its curve Ed25519, its algorithm EdDSA, and its identifier.
    cose_key = COSEKey.new({1: 1, -1: 6, -2: key, 3: -8, 2: key})
    protected, _, payload = COSE.new().decode_with_headers(file, cose_key)
    return protected[15][2] == json.loads(payload)["run"]


def check_receipt(file: bytes, key: bytes, run: str):
    assert by_pycose(file, key) and by_cwt(file, key)
    signed = receipt_signature.verify(file, key)
    assert signed["run"] == run, signed
    # A change of what is signed: the payload begins with the version.
    other = changed(file, file.index(b'{"receipt":') + 3)
    for read in by_pycose, by_cwt, receipt_signature.verify:
        assert is_refused(read, other, key), read
    other = changed(file, file.index(b'"event":') + 3)
    assert is_refused(receipt_signature.verify, other, key)
    # The message is in the deterministic encoding: another library writes the same bytes.
    assert cbor2.dumps(cbor2.loads(file)) == file


def check_statement(text: str, public: str, file: bytes, subject: str):
    envelope = Envelope.from_dict(json.loads(text))
    key = SSlibKey(public, "ed25519", "ed25519", {"public": base64.urlsafe_b64decode(public + "==").hex()})
    assert list(envelope.verify([key], 1)) == [public]
    other = Envelope(envelope.payload + b" ", envelope.payload_type, envelope.signatures)
    try:
        other.verify([key], 1)
        raise AssertionError("a changed statement verifies")
    except VerificationError:
        pass
    message = ParseDict(json.loads(envelope.payload), Message())
    statement = Statement.copy_from_pb(message)
    statement.validate()
    assert [one.name for one in statement.pb.subject] == [subject]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        demo = subprocess.run(
            [SEAMGATE, "demo"], capture_output=True, text=True, check=True, env={"TMPDIR": name, "PATH": "/usr/bin:/bin"}
        )
        run = next(folder.glob("seamgate-demo-*/run"))
        public = seamgate("approve", "--new-key", folder / "key.pem").strip()
        key = base64.urlsafe_b64decode(public + "==")
        assert "exit status 0" in demo.stdout
        receipt = folder / "run.receipt"
        seamgate("receipt", run, "-o", receipt, "--key-file", folder / "key.pem", "--issuer", "https://operator.example")
        report = json.loads(seamgate("receipt", "verify", receipt, "--key", public, "--json"))
        assert report["ok"] and report["whole"], report
        file = receipt.read_bytes()
        check_receipt(file, key, report["run"])

        made = folder / "change.patch"
        made.write_text("what the run made\n")
        statement = folder / "change.intoto.json"
        seamgate("attest", receipt, made, "-o", statement, "--key-file", folder / "key.pem")
        check_statement(statement.read_text(), public, file, made.name)
        seamgate("attest", "verify", statement, made, "--receipt", receipt, "--key", public)
        made.write_text("something else\n")
        seamgate("attest", "verify", statement, made, "--receipt", receipt, "--key", public, status=1)
    print("receipts: read by pycose, cwt and 62 lines of Python; statements by securesystemslib and in-toto-attestation")


if __name__ == "__main__":
    main()
