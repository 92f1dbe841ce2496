"""Texts in segments, of which some are trusted (src/kernel/text/edges.ts)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, Union

from ._arguments import refuse, refuse_no_list

#: A part of a text, and whether special tokens within it become their ids.
Segment = tuple[Union[str, bytes], bool]


def read_segments(given: Iterable[Segment]) -> list[tuple[bytes, bool]]:
    """Checks the segments, and returns their bytes and whether they are trusted."""
    refuse_no_list("segments", given, "a list of pairs (text, is_trusted)")
    return [_read_segment(i, segment) for i, segment in enumerate(given)]


def _read_segment(i: int, segment: Any) -> tuple[bytes, bool]:
    if not isinstance(segment, (tuple, list)) or len(segment) != 2:
        refuse(f"segments[{i}]", "a pair (text, is_trusted)", segment)
    text, is_trusted = segment
    if not isinstance(text, (str, bytes)):
        refuse(f"segments[{i}]: the text", "a string", text)
    if not isinstance(is_trusted, bool):
        refuse(f"segments[{i}]: is_trusted", "a bool", is_trusted)
    return text.encode("utf-8") if isinstance(text, str) else text, is_trusted


def pack_segments(segments: Iterable[tuple[bytes, bool]]) -> bytes:
    """Returns segments as the native module reads them: 64 bits each, with the end and whether it is trusted.

    Empty segments are left out.
    """
    end = 0
    numbers = array("Q")
    for data, is_trusted in segments:
        end += len(data)
        if data:
            numbers.append(end << 1 | is_trusted)
    return numbers.tobytes()
