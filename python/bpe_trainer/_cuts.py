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

        def fits(end: int) -> bool:
            return end <= start or self._fits(start, end, limit)

        end = _longest(last - first, lambda i: self._before(starts[last - i]), fits)
        if end > start:
            return end

        # Not even the first token fits: as many of its characters as do. A changed stretch is parted if it is all there is.
        def before(position: int) -> int:
            end = self._before(position)
            return end if end > start else self._character(position)[0]

        behind_first = self._behind(starts[self._token_over(start) + 1])
        top = min(behind_first, self._character(starts[last])[1])
        return max(start, _longest(top - start, lambda i: before(top - i), fits))

    def start_of_last_part(self, limit: int) -> int:
        """Where the longest part begins that ends with the text and has at most ``limit`` ids; its end if none fits."""
        starts, size = self._starts, len(self.data)
        tokens = len(starts) - 1

        def fits(start: int) -> bool:
            return start >= size or self._fits(start, size, limit)

        start = _longest(limit, lambda i: self._behind(starts[tokens - limit + i]), fits)
        if 0 <= start < size:
            return start

        def behind(position: int) -> int:
            start = self._behind(position)
            return start if start < size else self._character(position)[1]

        low = max(self._before(starts[tokens - 1]), self._character(starts[tokens - limit])[0])
        start = _longest(size - low, lambda i: behind(low + i), fits)
        return start if start >= 0 else size

    def parts(self, limit: int, overlap: int) -> Iterator[Part]:
        start = end = 0
        while end < len(self.data):
            start, end = self._next_part(start, end, limit, overlap)
            yield start, end

    def slice(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8")

    def _next_part(self, start: int, end: int, limit: int, overlap: int) -> Part:
        behind = self._token_at(end)
        shared, tried = min(overlap, behind), 0
        while shared > 0:
            begin = self._behind(self._starts[behind - shared])
            if start < begin < end:
                to = self.end_of_part(begin, limit)
                if to > end:
                    return begin, to
                tried += 1
            shared = shared - 1 if tried < _TRIED else shared // 2
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


#: How many edges are tried one by one. Another number gives other parts only where one does not fit and a longer one does.
_TRIED = 16


def _longest(count: int, edge: Callable[[int], int], fits: Callable[[int], bool]) -> int:
    """The first edge that fits, of those of ``count`` parts, each no longer than the one before; -1 where none does.

    To try one costs as much as its part is long. So after some that do not fit, the distance doubles from one to the next, and
    what fits then is made longer by halves of the last distance.
    """
    failed, i, step, tries, tried = -1, 0, 1, 0, -1
    while i < count:
        at = edge(i)
        if at != tried:
            if fits(at):
                break
            tries, tried = tries + 1, at
            step *= 1 if tries < _TRIED else 2
        if i == count - 1:
            return -1
        failed, i = i, min(i + step, count - 1)
    while i - failed > 1:
        middle = (failed + i) // 2
        if fits(edge(middle)):
            i = middle
        else:
            failed = middle
    return edge(i) if i < count else -1


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
