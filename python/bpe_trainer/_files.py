"""Encodes files of plain text in this process. The executable encodes all others, because it knows their formats."""

from __future__ import annotations

import codecs
import os
import re
import stat
from _thread import allocate_lock
from typing import Any, Callable, NamedTuple, Sequence, Union

#: The number of leading bytes by which the executable recognizes what a file contains.
_HEAD_BYTES = 1 << 13
#: How many bytes to read at once: PART_BYTES of native/python.c, and some more to find a safe cut.
_READ_BYTES = (1 << 18) + (1 << 12)
#: How many consecutive parts one thread usually encodes: PARTS_OF_LANE of native/python.c. Another number would give
#: the same ids, but more slowly.
_PARTS_OF_LANE = 8
#: If no safe cut is found, twice as many bytes are read. If that would be more than this, the executable encodes the
#: file.
_WHOLE_BYTES = 1 << 26
#: Matches the names of files that may contain records.
_RECORDS = re.compile(r"\.(json|jsonl|ndjson|parquet)(\.\w+)?$", re.IGNORECASE)
#: Matches the first bytes of files that may be records, or not text (src/corpus/content.ts). Binary content is
#: recognized by control characters.
_OTHER = re.compile(rb"(\xef\xbb\xbf)?\s*[{\[]|>|%PDF-|#bpe-counts|[^\0]*[\0-\x08\x0b\x0e-\x1f]", re.ASCII)


class Unfit(Exception):
    """Raised for a file that the executable must encode."""


class _File(NamedTuple):
    path: str
    size: int
    state: tuple[int, ...]


class Reading:
    """Reads files, and passes them part by part to a batch of the native module. Several threads do that in turns.

    Raises Unfit if a file is not plain text, or changes meanwhile. No file stays open between parts, so that Ctrl-C leaves
    nothing to close.
    """

    #: The batch of the native module.
    batch: Any

    def __init__(self, paths: Sequence[str], end_id: int) -> None:
        """``end_id`` is appended to the ids of each file, unless it is -1."""
        self._files = [_check_file(path) for path in paths]
        self.size = sum(file.size for file in self._files)
        self._end_id = end_id
        self._lock = allocate_lock()
        #: The index of the current file, and the position in it.
        self._turn = self._at = 0

    def work(self, may_continue: Callable[[], bool]) -> None:
        while may_continue() and self._add():
            self.batch.work()
        while may_continue() and self.batch.work():
            pass

    def _add(self) -> bool:
        """Adds the parts that one thread encodes next. Returns False if none is left."""
        with self._lock:
            for number in range(_PARTS_OF_LANE):
                if self._turn == len(self._files):
                    return number > 0
                file, wanted, taken = self._files[self._turn], _READ_BYTES, 0
                while not taken:
                    if wanted > _WHOLE_BYTES:
                        raise Unfit
                    data = _read_at(file, self._at, min(wanted, file.size - self._at))
                    taken = self.batch.add(data, self._at + len(data) == file.size, self._end_id)
                    wanted *= 2
                self._at += taken
                if self._at == file.size:
                    self._turn, self._at = self._turn + 1, 0
        return True


def _read_at(file: _File, at: int, size: int) -> bytes:
    with open(file.path, "rb", 0) as opened:
        opened.seek(at)
        data: bytes = opened.read(size)
        while len(data) < size:
            more = opened.read(size - len(data))
            if not more:
                raise Unfit
            data += more
        if _state(opened.fileno()) != file.state:
            raise Unfit
    return data


def _state(file: Union[str, int]) -> tuple[int, ...]:
    found = os.stat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_size == 0:
        raise Unfit
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _check_file(path: str) -> _File:
    if not isinstance(path, str) or path == "-" or _RECORDS.search(path):
        raise Unfit
    try:
        path.encode("utf-8")
        state = _state(path)
        with open(path, "rb", 0) as file:
            head = file.read(_HEAD_BYTES)
        # The head of a longer file may end within a character.
        codecs.utf_8_decode(head, "strict", state[2] <= _HEAD_BYTES)
    except (OSError, ValueError):
        raise Unfit from None
    if _OTHER.match(head):
        raise Unfit
    return _File(path, state[2], state)
