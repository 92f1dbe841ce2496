"""Encoding and decoding: a `bpe serve` of its own answers through a pipe, for as long as the tokenizer lives."""

from __future__ import annotations

import array
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Iterable, Iterator, Mapping, Sequence, Union

from ._executable import BpeError, message_of, start

if TYPE_CHECKING:
    import numpy
    import tiktoken
    import tokenizers

# Kinds of requests and the status of answers: docs/serve.md.
_ENCODE, _ENCODE_AS_TEXT, _DECODE = 0, 1, 2
_DONE = 0
#: A batch is sent in requests of about this size, so that neither side holds much.
_REQUEST_BYTES = 1 << 24
_REQUEST_ITEMS = 1 << 16
#: `bpe serve` refuses more in one request.
_TEXT_BYTES_MAX = 1 << 30


class Tokenizer:
    """A byte-level BPE tokenizer, exact to the program its files come from. Threads may share it; they take turns."""

    _path: Path
    _options: list[str]
    _lock: threading.Lock
    #: The process and its stderr, once it has started.
    _served: list[tuple[subprocess.Popen[bytes], BinaryIO]]
    _errors: BinaryIO
    _process: subprocess.Popen[bytes]
    _end: weakref.finalize[Any, Any]
    _description: dict[str, Any]

    def __init__(self) -> None:
        raise TypeError("use bpe.train(...) or bpe.Tokenizer.load(path)")

    @classmethod
    def load(
        cls,
        path: Union[str, "os.PathLike[str]"],
        *,
        pattern: Union[str, None] = None,
        special_tokens: Union[Mapping[str, int], None] = None,
    ) -> "Tokenizer":
        """Loads a directory of `bpe train`, HF's tokenizer.json, GPT-2's files, tiktoken's ranks, Mistral's tekken.json.

        ``pattern`` and ``special_tokens`` are for files that do not hold them. What cannot be reproduced exactly raises
        BpeError.
        """
        options = [] if pattern is None else [f"--pattern={pattern}"]
        options += [f"--special-token={text}={id}" for text, id in (special_tokens or {}).items()]
        return cls._of(Path(path), None, options)._started()

    @classmethod
    def _of(
        cls, path: Path, kept: Union["tempfile.TemporaryDirectory[str]", None], options: Sequence[str] = ()
    ) -> "Tokenizer":
        """A tokenizer whose process starts with its first use."""
        self = object.__new__(cls)
        self._path = path
        self._options = list(options)
        self._lock = threading.Lock()
        self._served = []
        self._end = weakref.finalize(self, _close, self._served, kept)
        return self

    def _started(self) -> "Tokenizer":
        """The same, with its process; what it cannot load raises BpeError."""
        with self._lock:
            self._start()
        return self

    def _start(self) -> None:
        if not self._end.alive:
            raise BpeError("the tokenizer is closed")
        if self._served:
            return
        self._errors = tempfile.TemporaryFile()
        self._process = start(
            ["serve", f"--tokenizer={self._path}", "--quiet", *self._options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # Ctrl-C is for the program that uses the tokenizer, not for the tokenizer.
            **({"start_new_session": True} if sys.platform != "win32" else {}),
        )
        self._served.append((self._process, self._errors))
        self._description = json.loads(self._answer()[0])

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, special ones among them."""
        return int(self._started()._description["tokenCount"])

    @property
    def id_limit(self) -> int:
        """One more than the largest id."""
        return int(self._started()._description["idLimit"])

    @property
    def special_tokens(self) -> dict[str, int]:
        """The ids of the special tokens, by their text."""
        return dict(self._started()._description["specialTokens"])

    def encode(self, text: str, *, special_tokens_as_text: bool = False) -> list[int]:
        """The ids of a text. Special tokens in it become their ids, unless they are to be encoded as the text they are."""
        return self.encode_batch([text], special_tokens_as_text=special_tokens_as_text)[0]

    def encode_batch(self, texts: Sequence[str], *, special_tokens_as_text: bool = False) -> list[list[int]]:
        """The ids of each text."""
        kind = _ENCODE_AS_TEXT if special_tokens_as_text else _ENCODE
        ids: list[list[int]] = []
        for request in _requests([_utf8(text) for text in texts]):
            ids += [_numbers(item) for item in self._ask(kind, request)]
        return ids

    def encode_iterable(self, texts: Iterable[str]) -> Iterator[int]:
        """The ids of one text that comes in parts, such as the lines of an open file; each part is encoded by itself."""
        for text in texts:
            yield from self.encode(text)

    def encode_file(
        self,
        files: Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]],
        *,
        append_token: Union[str, None] = None,
        workers: Union[int, None] = None,
    ) -> "numpy.ndarray[Any, Any]":
        """The ids of files, one after the other, as a numpy array: uint16 if every id fits, else uint32."""
        import numpy

        paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
        with tempfile.TemporaryDirectory(prefix="bpe-") as home:
            output = os.path.join(home, "ids.npy")
            arguments = ["encode", f"--tokenizer={self._path}", f"--output={output}", "--quiet", *self._options]
            arguments += [] if append_token is None else [f"--append-token={append_token}"]
            arguments += [] if workers is None else [f"--workers={workers}"]
            process = start([*arguments, "--", *(os.fspath(path) for path in paths)], stderr=subprocess.PIPE)
            try:
                _, stderr = process.communicate()
            except BaseException:
                process.terminate()
                process.wait()
                raise
            if process.returncode != 0:
                raise BpeError(message_of(stderr.decode("utf-8", "replace")))
            ids: "numpy.ndarray[Any, Any]" = numpy.load(output)
            return ids

    def decode(self, ids: Sequence[int], *, errors: str = "replace") -> str:
        """The text of ids; ``errors`` is for bytes that are not UTF-8, as in ``bytes.decode``."""
        return self.decode_bytes(ids).decode("utf-8", errors)

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The bytes of ids. An id without a token raises BpeError."""
        return self.decode_batch_bytes([ids])[0]

    def decode_batch(self, batch: Sequence[Sequence[int]], *, errors: str = "replace") -> list[str]:
        """The text of each."""
        return [some.decode("utf-8", errors) for some in self.decode_batch_bytes(batch)]

    def decode_batch_bytes(self, batch: Sequence[Sequence[int]]) -> list[bytes]:
        """The bytes of each."""
        out: list[bytes] = []
        for request in _requests([_packed(ids) for ids in batch]):
            out += self._ask(_DECODE, request)
        return out

    def save(self, directory: Union[str, "os.PathLike[str]"]) -> None:
        """Copies the files of the tokenizer to a directory, which is made.

        Raises BpeError where its files do not hold all of it: a pattern or special tokens were given to ``load``, or
        the path named one file of several.
        """
        if self._options or self._path.name == "vocab.json":
            raise BpeError(f'"{self._path}" alone is not the whole tokenizer, so it cannot be saved')
        if self._path.is_dir():
            shutil.copytree(self._path, directory, dirs_exist_ok=True)
        else:
            os.makedirs(directory, exist_ok=True)
            shutil.copy(self._path, directory)

    def to_hf(self) -> "tokenizers.Tokenizer":
        """The same tokenizer of HF's package ``tokenizers``."""
        import tokenizers

        path = self._path / "tokenizer.json" if self._path.is_dir() else self._path
        if path.name.endswith(".json") and path.is_file():
            return tokenizers.Tokenizer.from_file(str(path))
        raise BpeError(f'"{self._path}" has no tokenizer.json')

    def to_tiktoken(self) -> "tiktoken.Encoding":
        """The same tokenizer of OpenAI's package ``tiktoken``, where its kind of file can express it."""
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        record = self._path / "training.json"
        ranks = next(self._path.glob("*.tiktoken"), None) if self._path.is_dir() else None
        if ranks is None or not record.is_file():
            raise BpeError(f'"{self._path}" has no file for tiktoken: its ids or its pattern are of another kind')
        options = json.loads(record.read_text("utf-8"))["options"]
        pattern = options["pattern"]
        if not isinstance(pattern["regex"], str):
            raise BpeError("tiktoken has one regular expression for a pattern, and this one has several")
        if options["compat"] == "huggingface" and pattern["name"] is None:
            # HF's regex engine reads some expressions otherwise than tiktoken's: `\w` and `\s` are two.
            raise BpeError("its pattern is written for HF's regex engine, and tiktoken has another one")
        return tiktoken.Encoding(
            name=self._path.name,
            pat_str=pattern["regex"],
            mergeable_ranks=load_tiktoken_bpe(str(ranks)),
            special_tokens=self.special_tokens,
        )

    def close(self) -> None:
        """Ends the process behind it; so does the garbage collector."""
        self._end()

    def __enter__(self) -> "Tokenizer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<bpe.Tokenizer of {self.vocab_size} tokens>"

    def _ask(self, kind: int, items: Sequence[bytes]) -> list[bytes]:
        with self._lock:
            self._start()
            stdin = self._process.stdin
            assert stdin is not None
            try:
                stdin.write(struct.pack(f"<{2 + len(items)}I", kind, len(items), *map(len, items)))
                stdin.writelines(items)
                stdin.flush()
            except BrokenPipeError:
                raise self._gone() from None
            except BaseException:
                # Half a request is sent: the next one would be read as its rest.
                self._end()
                raise
            return self._answer()

    def _answer(self) -> list[bytes]:
        try:
            status, count = struct.unpack("<2I", self._read(8))
            sizes = struct.unpack(f"<{count}I", self._read(4 * count))
            items = [self._read(size) for size in sizes]
        except BpeError:
            raise
        except BaseException:
            # What is still to come would be taken for the next answer.
            self._end()
            raise
        if status != _DONE:
            raise BpeError(items[0].decode("utf-8"))
        return items

    def _read(self, size: int) -> bytes:
        assert self._process.stdout is not None
        data: bytes = self._process.stdout.read(size)
        if len(data) < size:
            raise self._gone()
        return data

    def _gone(self) -> BpeError:
        self._process.wait()
        self._errors.seek(0)
        return BpeError(message_of(self._errors.read().decode("utf-8", "replace")))


def _close(
    served: "list[tuple[subprocess.Popen[bytes], BinaryIO]]",
    kept: Union["tempfile.TemporaryDirectory[str]", None],
) -> None:
    for process, errors in served:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        process.terminate()
        process.wait()
        errors.close()
    if kept is not None:
        kept.cleanup()


def _utf8(text: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"a text has to be a string, found {type(text).__name__}")
    data = text.encode("utf-8")
    if len(data) > _TEXT_BYTES_MAX:
        raise BpeError(f"a text of {len(data)} bytes; {_TEXT_BYTES_MAX} is the limit. Use encode_file")
    return data


def _packed(ids: Sequence[int]) -> bytes:
    numbers = array.array("I", ids)
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers.tobytes()


def _numbers(data: bytes) -> list[int]:
    numbers = array.array("I", data)
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers.tolist()


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
