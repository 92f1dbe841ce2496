"""Where there is no native module, a `bpe serve` encodes, through a pipe: docs/serve.md. It also saves."""

from __future__ import annotations

import array
import os
import struct
import sys
from _thread import RLock
from typing import Iterator, Sequence

from ._executable import BpeError, Run, _undisturbed, message_of, when_dropped
from ._source import Place, Source

# Kinds of requests and the status of answers.
ENCODE, ENCODE_AS_TEXT, SAVE, CUT = 0, 1, 3, 4
#: Added to those that encode.
_OFFSETS_IN_BYTES, _OFFSETS_IN_CHARACTERS = 16, 32
_DONE = 0
#: A batch is sent in requests of about this size, so that neither side holds much.
_REQUEST_BYTES = 1 << 24
_REQUEST_ITEMS = 1 << 16
#: `bpe serve` refuses more in one request.
_TEXT_BYTES_MAX = 1 << 30
#: The head of a request or an answer.
_HEAD = struct.Struct("<2I")
#: How `bpe` ends by signals that it serves: SIGHUP, SIGINT, SIGTERM.
_SERVED_SIGNALS = {128 + number: number for number in (1, 2, 15)}


class Server:
    """The process. One thread at a time may ask it. Where `is_between` is False, an answer is still in its pipe, or lost."""

    def __init__(self, source: Source, path: str) -> None:
        self._source = source
        self.process = Run(
            ["serve", f"--tokenizer={path}", "--quiet", *source.options], takes_input=True, answers=True
        )
        self.is_between = False

    def start(self) -> None:
        """BpeError where it is not the tokenizer that was loaded."""
        try:
            self.process.start()
            assert self.process.stdout is not None
            self._receive = self.process.stdout.read
            self._unread = bytearray()
            import json

            self._source.agree(json.loads(self._answer()[0])["fingerprint"])
        except BaseException:
            _undisturbed(self.close)
            raise

    def ask_once(self, kind: int, items: Sequence[bytes]) -> list[bytes]:
        """Starts it, asks it and ends it."""
        try:
            self.start()
            answer = self.ask(kind, items)
            self.close()
        except BaseException:
            _undisturbed(self.close)
            raise
        return answer

    def ask(self, kind: int, items: Sequence[bytes]) -> list[bytes]:
        """The answers to the items of a request. Raises BpeError where it is refused, or has ended."""
        self.is_between = False
        try:
            self.process.write(struct.pack(f"<{2 + len(items)}I", kind, len(items), *map(len, items)))
            self.process.write(items[0] if len(items) == 1 else b"".join(items))
        except (OSError, ValueError):
            raise self._ended() from None
        return self._answer()

    def _answer(self) -> list[bytes]:
        status, count = _HEAD.unpack(self._read(_HEAD.size))
        items = [self._read(size) for size in struct.unpack(f"<{count}I", self._read(4 * count))]
        self.is_between = True
        if status != _DONE:
            raise BpeError(items[0].decode("utf-8"))
        return items

    def _read(self, size: int) -> bytes:
        """So many bytes, whatever the pipe holds."""
        while len(self._unread) < size:
            try:
                part = self._receive(max(size - len(self._unread), 1 << 16))
            except (OSError, ValueError):
                part = b""
            if not part:
                raise self._ended()
            self._unread += part
        data = bytes(self._unread[:size])
        del self._unread[:size]
        return data

    def _ended(self) -> BpeError:
        process = self.process
        exit_code = process.end()
        try:
            said = process.stderr.read().decode("utf-8", "replace") if process.is_ours else ""
        except (OSError, ValueError):
            said = ""
        if "bpe: error: " in said:
            return BpeError(process.plain(message_of(said)))
        number = -exit_code if exit_code < 0 else _SERVED_SIGNALS.get(exit_code)
        if number is None:
            return BpeError(said.strip() or "bpe ended without a word")
        import signal

        return BpeError(f"bpe was ended by signal {number} ({signal.Signals(number).name})")

    def close(self) -> None:
        """Ends the process, within 2 s also where it is stopped."""
        self.is_between = False  # Its pipes get other numbers, should this be interrupted.
        self.process.terminate()
        self.process.close_pipes()
        self.process.end()


class _Children:
    """The process that this one has, if it has started, and the lock of who asks it. A forked process has its own."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.servers: list[Server] = []
        self.is_asked = False


class Child:
    """Encodes as a Model of the native module does, with a process of its own. Threads take turns.

    Where the process is killed, the call that finds it raises BpeError, and the next one starts another.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        #: By the number of this process.
        children = self._children = dict[int, _Children]()
        self._end = when_dropped(self, lambda: _close(children))
        self._is_closed = False

    def _ask(self, kind: int, items: Sequence[bytes]) -> list[bytes]:
        mine = self._children.setdefault(os.getpid(), _Children())
        with mine.lock:
            if self._is_closed:
                raise BpeError("the tokenizer is closed")
            if mine.is_asked:
                # The handler of a signal, in the middle of a call: it has a process of its own.
                with Place(self._source, is_checked=False) as path:
                    return Server(self._source, path).ask_once(kind, items)
            while mine.servers and not mine.servers[0].is_between:
                # Ctrl-C may strike anywhere: the rest of an answer would be read as the next one.
                mine.servers[0].close()
                del mine.servers[0]
            if not mine.servers:
                with Place(self._source, is_checked=False) as path:
                    mine.servers.append(Server(self._source, path))
                    mine.servers[0].start()
            try:
                mine.is_asked = True
                return mine.servers[0].ask(kind, items)
            finally:
                mine.is_asked = False

    def _batches(self, kind: int, texts: Sequence[str]) -> Iterator[list[int]]:
        for request in _requests([_utf8(text) for text in texts]):
            yield from map(_unpacked, self._ask(kind, request))

    def encode(self, text: str, as_text: bool) -> list[int]:
        return _unpacked(self._ask(ENCODE_AS_TEXT if as_text else ENCODE, [_utf8(text)])[0])

    def count(self, text: str, limit: int, as_text: bool) -> int:
        count = len(self.encode(text, as_text))
        return count if limit < 0 else min(count, limit + 1)

    def starts(self, text: str, limit: int, as_text: bool) -> tuple[list[int], list[int]]:
        """Of a tokenizer that changes text it raises BpeError."""
        _, spans = self.encode_with_offsets(text, False, as_text)
        return [start for start, _ in spans] + [len(text.encode("utf-8"))], []

    def encode_batch(self, texts: Sequence[str], as_text: bool) -> list[list[int]]:
        return list(self._batches(ENCODE_AS_TEXT if as_text else ENCODE, texts))

    def encode_with_offsets(
        self, text: str, in_characters: bool, as_text: bool
    ) -> tuple[list[int], list[tuple[int, int]]]:
        kind = (_OFFSETS_IN_CHARACTERS if in_characters else _OFFSETS_IN_BYTES) + (ENCODE_AS_TEXT if as_text else ENCODE)
        numbers = next(self._batches(kind, [text]))
        count = len(numbers) // 3
        return numbers[:count], list(zip(numbers[count : 2 * count], numbers[2 * count :]))

    def close(self) -> None:
        """Ends the process. A call of another thread ends with an error."""
        mine = self._children.setdefault(os.getpid(), _Children())
        self._is_closed = True
        for server in list(mine.servers):
            server.process.terminate()
            server.process.end()
        with mine.lock:
            self._end()


def _close(children: "dict[int, _Children]") -> None:
    """Those of a parent process only have their pipes closed."""
    for each in list(children.values()):
        for server in each.servers:
            server.close()


def _requests(items: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Items in order, as many at a time as make a request."""
    first = size = 0
    for i, item in enumerate(items):
        if i > first and (size + len(item) > _REQUEST_BYTES or i - first >= _REQUEST_ITEMS):
            yield items[first:i]
            first, size = i, 0
        size += len(item)
    if first < len(items):
        yield items[first:]


def _utf8(text: str) -> bytes:
    """A text as an item of a request."""
    if not isinstance(text, str):
        raise TypeError(f"a text must be a string, found {type(text).__name__}")
    data = text.encode("utf-8")
    if len(data) > _TEXT_BYTES_MAX:
        raise BpeError(f"a text of {len(data)} bytes; {_TEXT_BYTES_MAX} is the limit. Use encode_file")
    return data


def _unpacked(item: bytes) -> list[int]:
    """The ids of an item of an answer."""
    numbers = array.array("I", item)
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers.tolist()


__all__ = ["CUT", "Child", "SAVE", "Server"]
