"""Ids decoded as they come."""

from __future__ import annotations

import codecs
from operator import index
from typing import Any, Callable, Sequence, Union


class StreamDecoder:
    """Decodes ids as they come, to text that can be shown at once: never half a character.

    What ``push`` and ``end`` give, joined, is what ``decode`` gives of all ids.
    """

    def __init__(self, decode: Callable[[Sequence[int]], bytes]) -> None:
        self._decode = decode
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, ids: Union[int, Sequence[int]]) -> str:
        """Takes the next id, or several; the text that is certain now. An id without a token raises BpeError, and then none
        of these is taken."""
        try:
            given: Any = [index(ids)]  # type: ignore[arg-type]
        except TypeError:
            given = ids
        return self._decoder.decode(self._decode(given))

    def end(self) -> str:
        """The rest of the text: a replacement character if it ends within a character, else nothing."""
        rest = self._decoder.decode(b"", True)
        self._decoder.reset()
        return rest
