"""What a model answered: text, or the response or the stream of a client that is well known.

Clients are recognized by what their objects have, so none of their packages is imported. Each client is a module with
the same two functions: `reply` reads a whole response, and `chunk` reads a piece of a stream. Both return `None` for
what is not theirs.
"""

from __future__ import annotations

from ._reading import said
from ._said import Piece, Said
from ._streams import Told, pieces, pieces_async

__all__ = ["Piece", "Said", "Told", "pieces", "pieces_async", "said"]
