"""Answers of models: text, or the responses and streams of common clients.

Clients are recognized by the attributes of their objects, so none of their packages is imported. Each client is a
module with the same two functions: `reply` reads a whole response, and `chunk` reads a piece of a stream. Both return
`None` for an object of another client.
"""

from __future__ import annotations

from ._reading import said
from ._said import Piece, Said
from ._streams import Told, pieces, pieces_async

__all__ = ["Piece", "Said", "Told", "pieces", "pieces_async", "said"]
