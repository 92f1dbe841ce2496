"""Encoding and decoding: a `bpe serve` of its own answers through a pipe, for as long as the tokenizer lives.

A training loads this module while the executable works: what its process and other packages need is loaded later.
"""

from __future__ import annotations

import os
import weakref
from _thread import LockType, allocate_lock  # The module threading takes as long to load as Python to start.

from ._executable import BpeError, Run, message_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import tempfile
    from typing import Any, Iterable, Iterator, Mapping, Sequence, Union

    import numpy
    import tiktoken
    import tokenizers

    from ._server import Server

#: The file of a tokenizer that was trained with superwords="boundless".
_OPERATIONS = "operations.txt"


class Tokenizer:
    """A byte-level BPE tokenizer, exact to the program its files come from. Threads may share it; they take turns."""

    _path: str
    _options: list[str]
    _lock: LockType
    #: Its process, once it has started.
    _servers: list[Server]
    _end: weakref.finalize[Any, Any]

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
        self = cls._of(os.fsdecode(path), None, options)
        self._description()
        return self

    @classmethod
    def _of(
        cls, path: str, kept: Union["tempfile.TemporaryDirectory[str]", None], options: Sequence[str] = ()
    ) -> "Tokenizer":
        """A tokenizer whose process starts with its first use."""
        self = object.__new__(cls)
        self._path = path
        self._options = list(options)
        self._lock = allocate_lock()
        self._servers = []
        self._end = weakref.finalize(self, _close, self._servers, kept)
        return self

    def _server(self) -> Server:
        """Its process, started where it is not; what it cannot load raises BpeError. The lock is the caller's."""
        if not self._end.alive:
            raise BpeError("the tokenizer is closed")
        if not self._servers:
            from ._server import Server

            self._servers.append(Server(self._path, self._options))
        return self._servers[0]

    def _description(self) -> dict[str, Any]:
        with self._lock:
            return self._server().description

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, special ones among them."""
        return int(self._description()["tokenCount"])

    @property
    def id_limit(self) -> int:
        """One more than the largest id."""
        return int(self._description()["idLimit"])

    @property
    def special_tokens(self) -> dict[str, int]:
        """The ids of the special tokens, by their text."""
        return dict(self._description()["specialTokens"])

    def encode(self, text: str, *, special_tokens_as_text: bool = False) -> list[int]:
        """The ids of a text. Special tokens in it become their ids, unless they are to be encoded as the text they are."""
        return self.encode_batch([text], special_tokens_as_text=special_tokens_as_text)[0]

    def encode_batch(self, texts: Sequence[str], *, special_tokens_as_text: bool = False) -> list[list[int]]:
        """The ids of each text."""
        from . import _server

        kind = _server.ENCODE_AS_TEXT if special_tokens_as_text else _server.ENCODE
        ids: list[list[int]] = []
        for request in _server.requests([_server.utf8(text) for text in texts]):
            ids += [_server.unpacked(item) for item in self._ask(kind, request)]
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
        import tempfile

        import numpy

        paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
        with tempfile.TemporaryDirectory(prefix="bpe-") as home:
            output = os.path.join(home, "ids.npy")
            arguments = ["encode", f"--tokenizer={self._path}", f"--output={output}", "--quiet", *self._options]
            arguments += [] if append_token is None else [f"--append-token={append_token}"]
            arguments += [] if workers is None else [f"--workers={workers}"]
            run = Run([*arguments, "--", *(os.fspath(path) for path in paths)])
            try:
                stderr = run.stderr.read()
                exit_code = run.wait()
            except BaseException:
                run.stop()
                raise
            finally:
                run.close()
            if exit_code != 0:
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
        from . import _server

        out: list[bytes] = []
        for request in _server.requests([_server.packed(ids) for ids in batch]):
            out += self._ask(_server.DECODE, request)
        return out

    def save(self, directory: Union[str, "os.PathLike[str]"]) -> None:
        """Copies the files of the tokenizer to a directory, which is made.

        Raises BpeError where its files do not hold all of it: a pattern or special tokens were given to ``load``, or
        the path named one file of several.
        """
        import shutil

        if self._options or os.path.basename(self._path) == "vocab.json":
            raise BpeError(f'"{self._path}" alone is not the whole tokenizer, so it cannot be saved')
        if os.path.isdir(self._path):
            shutil.copytree(self._path, directory, dirs_exist_ok=True)
        else:
            os.makedirs(directory, exist_ok=True)
            shutil.copy(self._path, directory)

    def to_hf(self) -> "tokenizers.Tokenizer":
        """The same tokenizer of HF's package ``tokenizers``, where that can express it."""
        import tokenizers

        self._refuse_boundless("tokenizers")
        path = os.path.join(self._path, "tokenizer.json") if os.path.isdir(self._path) else self._path
        if path.endswith(".json") and os.path.isfile(path):
            return tokenizers.Tokenizer.from_file(path)
        raise BpeError(f'"{self._path}" has no tokenizer.json')

    def to_tiktoken(self) -> "tiktoken.Encoding":
        """The same tokenizer of OpenAI's package ``tiktoken``, where its kind of file can express it."""
        import json

        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        self._refuse_boundless("tiktoken")
        record = os.path.join(self._path, "training.json")
        names = os.listdir(self._path) if os.path.isfile(record) else []
        ranks = next((name for name in sorted(names) if name.endswith(".tiktoken")), None)
        if ranks is None:
            raise BpeError(f'"{self._path}" has no file for tiktoken: its ids or its pattern are of another kind')
        with open(record, encoding="utf-8") as file:
            options = json.load(file)["options"]
        pattern = options["pattern"]
        if not isinstance(pattern["regex"], str):
            raise BpeError("tiktoken has one regular expression for a pattern, and this one has several")
        if pattern["name"] is None and (options["compat"] == "huggingface" or "newTokens" in options):
            # HF's regex engine reads some expressions otherwise than tiktoken's: `\w` and `\s` are two.
            raise BpeError("its pattern is written for HF's regex engine, and tiktoken has another one")
        return tiktoken.Encoding(
            name=os.path.basename(os.path.abspath(self._path)),
            pat_str=pattern["regex"],
            mergeable_ranks=load_tiktoken_bpe(os.path.join(self._path, ranks)),
            special_tokens=self.special_tokens,
        )

    def _refuse_boundless(self, package: str) -> None:
        """Raises BpeError where the tokenizer has supermerges: merges alone would give other ids."""
        if os.path.basename(self._path) == _OPERATIONS or os.path.isfile(os.path.join(self._path, _OPERATIONS)):
            raise BpeError(f'"{self._path}" is a boundless tokenizer, and {package} has no merges of whole pretokens')

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
            server = self._server()
            try:
                return server.ask(kind, items)
            except BpeError:
                raise
            except BaseException:
                # Half a request is sent, or half an answer taken: the rest would be read as the next one.
                self._end()
                raise


def _close(servers: "list[Server]", kept: Union["tempfile.TemporaryDirectory[str]", None]) -> None:
    for server in servers:
        server.close()
    if kept is not None:
        kept.cleanup()
