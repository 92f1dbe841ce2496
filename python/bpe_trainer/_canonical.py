"""Finds where ids differ from the canonical ids: those that encoding the decoded text gives.

The library does the same in src/tokenizer/canonical-ids.ts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable, Union

#: ``(start, end, canonical_start, canonical_end)``: given ids ``[start, end)`` correspond to canonical ids
#: ``[canonical_start, canonical_end)``.
Span = tuple[int, int, int, int]


def first_difference(given: Sequence[int], canonical: Sequence[int]) -> Union[int, None]:
    """Returns the index of the first id that differs, or the length of the shorter list; None if both are equal."""
    for i, (id, other) in enumerate(zip(given, canonical)):
        if id != other:
            return i
    return None if len(given) == len(canonical) else min(len(given), len(canonical))


def spans(given: Sequence[int], canonical: Sequence[int], size: Callable[[int], int], is_same_text: bool) -> list[Span]:
    """The shortest spans of the two lists that differ in ids but have the same bytes.

    If the two lists decode to different texts, because decoded text is normalized again, there is one span: all between
    their common start and their common end.
    """
    if not is_same_text:
        return _differing_middle(given, canonical)
    found: list[Span] = []
    i = j = 0
    while i < len(given) or j < len(canonical):
        if i < len(given) and j < len(canonical) and given[i] == canonical[j]:
            i, j = i + 1, j + 1
            continue
        end, canonical_end = _span_ends(given, canonical, size, i, j)
        found.append((i, end, j, canonical_end))
        i, j = end, canonical_end
    return found


def _span_ends(given: Sequence[int], canonical: Sequence[int], size: Callable[[int], int], i: int, j: int) -> tuple[int, int]:
    """Where the shortest spans from ``i`` and ``j`` on end that have the same bytes; the ends of both lists if there are none."""
    lead = 0
    while True:
        is_given_next = lead <= 0
        if i == len(given) if is_given_next else j == len(canonical):
            return len(given), len(canonical)
        if is_given_next:
            lead, i = lead + size(given[i]), i + 1
        else:
            lead, j = lead - size(canonical[j]), j + 1
        if lead == 0:
            return i, j


def _differing_middle(given: Sequence[int], canonical: Sequence[int]) -> list[Span]:
    start = first_difference(given, canonical)
    if start is None:
        return []
    end, canonical_end = len(given), len(canonical)
    while end > start and canonical_end > start and given[end - 1] == canonical[canonical_end - 1]:
        end, canonical_end = end - 1, canonical_end - 1
    return [(start, end, start, canonical_end)]
