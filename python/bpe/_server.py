"""A `bpe serve` that answers through a pipe: docs/serve.md."""

from __future__ import annotations

import array
import json
import struct
import subprocess
import sys
import tempfile
from typing import IO, Any, Iterator, Sequence

from ._executable import BpeError, find_executable, message_of

# Kinds of requests and the status of answers.
ENCODE, ENCODE_AS_TEXT, DECODE = 0, 1, 2
_DONE = 0
#: A batch is sent in requests of about this size, so that neither side holds much.
_REQUEST_BYTES = 1 << 24
_REQUEST_ITEMS = 1 << 16
#: `bpe serve` refuses more in one request.
_TEXT_BYTES_MAX = 1 << 30


class Server:
    """The process. One thread at a time may ask it; after an error that is no BpeError it has to be closed."""

    #: What it says of its tokenizer.
    description: dict[str, Any]
    process: subprocess.Popen[bytes]
    _errors: IO[bytes]

    def __init__(self, path: str, options: Sequence[str]) -> None:
        self._errors = tempfile.TemporaryFile()
        try:
            self.process = subprocess.Popen(
                [find_executable(), "serve", f"--tokenizer={path}", "--quiet", *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                # Ctrl-C is for the program that uses the tokenizer, not for the tokenizer.
                start_new_session=sys.platform != "win32",
            )
        except BaseException:
            self._errors.close()
            raise
        try:
            self.description = json.loads(self._answer()[0])
        except BaseException:
            self.close()
            raise

    def ask(self, kind: int, items: Sequence[bytes]) -> list[bytes]:
        """The answers to the items of a request. Raises BpeError where it is refused, and where the process has ended."""
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(struct.pack(f"<{2 + len(items)}I", kind, len(items), *map(len, items)))
            stdin.writelines(items)
            stdin.flush()
        except BrokenPipeError:
            raise self._gone() from None
        return self._answer()

    def _answer(self) -> list[bytes]:
        status, count = struct.unpack("<2I", self._read(8))
        sizes = struct.unpack(f"<{count}I", self._read(4 * count))
        items = [self._read(size) for size in sizes]
        if status != _DONE:
            raise BpeError(items[0].decode("utf-8"))
        return items

    def _read(self, size: int) -> bytes:
        assert self.process.stdout is not None
        data: bytes = self.process.stdout.read(size)
        if len(data) < size:
            raise self._gone()
        return data

    def _gone(self) -> BpeError:
        self.process.wait()
        self._errors.seek(0)
        return BpeError(message_of(self._errors.read().decode("utf-8", "replace")))

    def close(self) -> None:
        """Ends the process."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        self.process.terminate()
        self.process.wait()
        self._errors.close()


def requests(items: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Items in order, as many at a time as make a request."""
    first = size = 0
    for i, item in enumerate(items):
        if i > first and (size + len(item) > _REQUEST_BYTES or i - first >= _REQUEST_ITEMS):
            yield items[first:i]
            first, size = i, 0
        size += len(item)
    if first < len(items):
        yield items[first:]


def utf8(text: str) -> bytes:
    """A text as an item of a request."""
    if not isinstance(text, str):
        raise TypeError(f"a text has to be a string, found {type(text).__name__}")
    data = text.encode("utf-8")
    if len(data) > _TEXT_BYTES_MAX:
        raise BpeError(f"a text of {len(data)} bytes; {_TEXT_BYTES_MAX} is the limit. Use encode_file")
    return data


def packed(ids: Sequence[int]) -> bytes:
    """Ids as an item of a request."""
    numbers = array.array("I", ids)
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers.tobytes()


def unpacked(item: bytes) -> list[int]:
    """The ids of an item of an answer."""
    numbers = array.array("I", item)
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers.tolist()
