"""Texts cut by their tokens, and ids decoded as they come. The rules are those of the library (src/tokenizer/text-cuts.ts)."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from operator import index
from typing import Any, Callable, Iterator, Literal, Sequence, Union

from ._executable import BpeError

Part = tuple[int, int]


class TextCuts:
    """A text with its tokens, to be cut into parts that are encoded on their own. Positions are bytes of the text.

    A part begins and ends where a token of the text does, moved to a whole character. Cutting may give it more ids than it
    has tokens of the text: "it'll" is "it" and "'ll", and "it'l" has three. So its ids are counted, and it has fewer tokens
    if they are too many; if not even one token fits, fewer characters.
    """

    def __init__(self, text: str, starts: Sequence[int], changes: Sequence[int], count: Callable[[str, int], int]) -> None:
        """``changes`` are where stretches begin and end, in turn, that a normal form changes as a whole."""
        self.data = text.encode("utf-8")
        self._starts, self._changes, self._count = starts, changes, count

    def end_of_part(self, start: int, limit: int) -> int:
        """The end of the longest part from ``start`` on that has at most ``limit`` ids; ``start`` if no character fits."""
        starts = self._starts
        first = self._token_at(start)
        last = min(len(starts) - 1, first + limit)
        for after in range(last, first, -1):
            end = self._before(starts[after])
            if end > start and self._fits(start, end, limit):
                return end

        # Not even the first token fits: as many of its characters as do. A changed stretch is parted if it is all there is.
        def before(position: int) -> int:
            end = self._before(position)
            return end if end > start else self._character(position)[0]

        behind_first = self._behind(starts[self._token_over(start) + 1])
        end = before(min(behind_first, self._character(starts[last])[1]))
        while end > start and not self._fits(start, end, limit):
            end = before(end - 1)
        return max(start, end)

    def start_of_last_part(self, limit: int) -> int:
        """Where the longest part begins that ends with the text and has at most ``limit`` ids; its end if none fits."""
        starts, size = self._starts, len(self.data)
        tokens = len(starts) - 1
        for first in range(tokens - limit, tokens):
            start = self._behind(starts[first])
            if start < size and self._fits(start, size, limit):
                return start

        def behind(position: int) -> int:
            start = self._behind(position)
            return start if start < size else self._character(position)[1]

        start = behind(max(self._before(starts[tokens - 1]), self._character(starts[tokens - limit])[0]))
        while start < size and not self._fits(start, size, limit):
            start = behind(start + 1)
        return start

    def parts(self, limit: int, overlap: int) -> Iterator[Part]:
        start = end = 0
        while end < len(self.data):
            start, end = self._next_part(start, end, limit, overlap)
            yield start, end

    def slice(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8")

    def _next_part(self, start: int, end: int, limit: int, overlap: int) -> Part:
        behind = self._token_at(end)
        for shared in range(min(overlap, behind), 0, -1):
            begin = self._behind(self._starts[behind - shared])
            if begin <= start or begin >= end:
                continue
            to = self.end_of_part(begin, limit)
            if to > end:
                return begin, to
        to = self.end_of_part(end, limit)
        if to > end:
            return end, to
        character = self.slice(end, self._character(end + 1)[1])
        tokens = self._count(character, -1)
        raise BpeError(f"{character!r} at byte {end} has {tokens} tokens: more than size, which is {limit}")

    def _fits(self, start: int, end: int, limit: int) -> bool:
        return self._count(self.slice(start, end), limit) <= limit

    def _token_over(self, position: int) -> int:
        """The token that has the byte there."""
        return bisect_right(self._starts, position) - 1

    def _token_at(self, position: int) -> int:
        """The first token that ends behind a position, or begins there; behind the last one at the text's end."""
        token = self._token_over(position)
        # A space that is put before the text may be a token that has none of it.
        while token > 0 and self._starts[token] == position == self._starts[token - 1]:
            token -= 1
        return token

    def _around(self, position: int) -> Part:
        """What is not parted at a position unless it has to be: a stretch that changes as a whole, or a character."""
        change = bisect_right(self._changes, position)
        if change % 2 == 1 and self._changes[change - 1] < position:
            return self._changes[change - 1], self._changes[change]
        return self._character(position)

    def _character(self, position: int) -> Part:
        """The character that a position is in; between two, that position."""
        start = end = position
        while 0 < start < len(self.data) and self.data[start] & 0xC0 == 0x80:
            start -= 1
        while end < len(self.data) and self.data[end] & 0xC0 == 0x80:
            end += 1
        return start, end

    def _before(self, position: int) -> int:
        """The last position up to this one where the text may be cut."""
        return self._around(position)[0]

    def _behind(self, position: int) -> int:
        return self._around(position)[1]


def truncated(cuts: TextCuts, limit: int, keep: Literal["start", "end"]) -> str:
    if keep == "end":
        return cuts.slice(cuts.start_of_last_part(limit), len(cuts.data))
    return cuts.slice(0, cuts.end_of_part(0, limit))


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
