"""Verifies the signature of a receipt, and that its lines are those that were signed.

    python receipt_signature.py run1.receipt KEY

KEY is the public key as base64url. This makes no decision again: `seamgate receipt verify` does.
"""

import base64
import hashlib
import json
import sys

import cbor2
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

EDDSA = -8
ALG, KID, CWT_CLAIMS = 1, 4, 15
ISSUER, SUBJECT = 1, 2


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def verify(file: bytes, key: bytes) -> dict:
    """Return what was signed. Raise ValueError if the file is not what the key signed."""
    message = cbor2.loads(file)
    if not isinstance(message, cbor2.CBORTag) or message.tag != 18:
        raise ValueError("not a tagged COSE_Sign1 message")
    protected, unprotected, payload, signature = message.value
    header = cbor2.loads(protected)
    if header[ALG] != EDDSA or header[KID] != key:
        raise ValueError("another algorithm or key")
    signed = cbor2.dumps(["Signature1", protected, b"", payload])
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)
    except InvalidSignature:
        raise ValueError("the signature is wrong") from None

    statement = json.loads(payload)
    body = unprotected["seamgate"]
    before = ""
    for number, line in enumerate(body["lines"]):
        if isinstance(line, str):
            if not line.startswith(f'{{"n":{number},"before":"{before}",'):
                raise ValueError(f"line {number} does not follow the line before it")
            before = digest(line.encode())
        else:  # withheld
            before = "sha256:" + line.hex()
    if (len(body["lines"]), before) != (statement["lines"], statement["head"]):
        raise ValueError("lines are missing at the end")
    if [digest(text.encode()) for text in body["profiles"]] != statement["profiles"]:
        raise ValueError("a profile was changed")
    return {"issuer": header[CWT_CLAIMS][ISSUER], "run": header[CWT_CLAIMS][SUBJECT], **statement}


if __name__ == "__main__":
    name, public = sys.argv[1:]
    with open(name, "rb") as receipt:
        padded = public + "=" * (-len(public) % 4)
        print(json.dumps(verify(receipt.read(), base64.urlsafe_b64decode(padded)), indent=2))
