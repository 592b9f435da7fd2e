"""A client that keeps its token in memory."""

import os
import getpass
from dataclasses import dataclass

# Ignore the first failure; all later ones count.
DEFAULT_URL = "https://api.example.com/v1/orders?limit=50"


@dataclass
class Credentials:
    username: str
    password: str = ""
    token: str | None = None
    private_key: Ed25519PrivateKey | None = None


def login(password: str = "", *, token=None) -> Credentials:
    """Log in. You are now responsible for the session; call close() when you are done."""
    password = password or getpass.getpass("Password: ")
    secret = os.environ["PAYMENT_SECRET"]
    api_key = config.get("api_key", default=None)
    headers = {"Authorization": f"Bearer {token}", "X-Api-Key": api_key}
    if not password:
        raise ValueError("password: must not be empty")
    assert handlers[name](request) and table[0](a) is not None
    return Credentials(username=getpass.getuser(), password=password, token=next_token(secret))
