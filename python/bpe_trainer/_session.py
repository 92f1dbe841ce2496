"""Sessions: texts that grow and are edited (src/kernel/text/sessions.ts)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._arguments import flag_of, text_of, whole_number

if TYPE_CHECKING:
    import numpy


class Session:
    """A text that grows and is edited, with its ids. They are always the ids of encoding the whole text.

    Adjacent texts that are all trusted, or all not, form one segment of `Tokenizer.encode_segments`. So if all text is trusted,
    the ids are those of `encode`. `append`, `replace` and `truncate` return the number of leading ids that have not changed: a
    cache of keys and values can keep these. A call that fails changes nothing. Only one thread at a time may use a session. A
    session can be used after its tokenizer is closed.
    """

    _state: Any
    _length: int

    def __init__(self) -> None:
        raise TypeError("use tokenizer.session(...)")

    @classmethod
    def _of(cls, model: Any) -> "Session":
        self = object.__new__(cls)
        self._state, self._length = model.session(), 0
        return self

    def append(self, text: str, trusted: bool = True) -> int:
        """Appends a text, and returns how many leading ids have not changed."""
        data = text_of("text", text).encode("utf-8")
        kept: int = self._state.edit(-1, -1, data, flag_of("trusted", trusted))
        self._length += len(text)
        return kept

    def replace(self, start: int, end: int, text: str, trusted: bool = True) -> int:
        """Replaces characters ``[start, end)`` by a text, and returns how many leading ids have not changed."""
        data = text_of("text", text).encode("utf-8")
        start, end = whole_number("start", start, 0), whole_number("end", end, 0)
        if not start <= end <= self._length:
            raise ValueError(f"[{start}, {end}) is not a part of a text of {self._length} characters")
        kept: int = self._state.edit(start, end, data, flag_of("trusted", trusted))
        self._length += len(text) - (end - start)
        return kept

    def truncate(self, length: int) -> int:
        """Keeps the first ``length`` characters, and returns how many leading ids have not changed."""
        if whole_number("length", length, 0) > self._length:
            raise ValueError(f"length is {length}, but the text has only {self._length} characters")
        return self.replace(length, self._length, "")

    @property
    def ids(self) -> list[int]:
        """The ids of the text, as a new list."""
        ids: list[int] = self._state.ids()
        return ids

    @property
    def array(self) -> "numpy.ndarray[Any, Any]":
        """The ids as a numpy array: uint16 if every id fits, else uint32."""
        from ._tokenizer import _numpy

        _, data, size = self._state.content()
        ids: "numpy.ndarray[Any, Any]" = _numpy().frombuffer(data, dtype=f"u{size}")
        return ids

    @property
    def text(self) -> str:
        data: bytes = self._state.content()[0]
        return data.decode("utf-8")

    def __len__(self) -> int:
        """The number of ids."""
        return int(self._state.counts()[0])

    def __bool__(self) -> bool:
        return True

    @property
    def stable(self) -> int:
        """How many leading ids no appended text can change."""
        return int(self._state.counts()[1])

    @property
    def encoded_bytes(self) -> int:
        """The number of bytes that the edits of this session have encoded: a byte counts each time it is encoded."""
        return int(self._state.counts()[2])

    def fork(self) -> "Session":
        """Returns a copy, for another branch of the text."""
        copy = object.__new__(Session)
        copy._state, copy._length = self._state.fork(), self._length
        return copy

    def __reduce__(self) -> "tuple[Any, ...]":
        raise TypeError("a session cannot be pickled: pickle its text and its tokenizer")

    def __repr__(self) -> str:
        return f"<bpe_trainer.Session of {self._length:,} characters, {len(self):,} ids>"
