"""Decodes ids as they arrive."""

from __future__ import annotations

import codecs
from operator import index
from typing import Any, Callable, Sequence, Union


class StreamDecoder:
    """Decodes ids as they arrive, into text that can be shown at once: never half a character.

    The joined results of ``push`` and ``end`` are what ``decode`` returns for all ids.
    """

    def __init__(self, decode: Callable[[Sequence[int], bool], tuple[bytes, bool]]) -> None:
        """``decode(ids, is_first)`` returns the bytes of ids, and whether some of the ids are decoded at all."""
        self._decode = decode
        self._is_first = True
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, ids: Union[int, Sequence[int]]) -> str:
        """Takes the next id, or several, and returns the text that is certain now.

        Raises BpeError for an id without a token; then none of these ids is taken.
        """
        try:
            given: Any = [index(ids)]  # type: ignore[arg-type]
        except TypeError:
            given = ids
        data, has_ids = self._decode(given, self._is_first)
        self._is_first = self._is_first and not has_ids
        return self._decoder.decode(data)

    def end(self) -> str:
        """Returns the rest of the text: a replacement character if it ends within a character, otherwise nothing."""
        rest = self._decoder.decode(b"", True)
        self._decoder.reset()
        self._is_first = True
        return rest
