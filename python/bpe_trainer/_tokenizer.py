"""Encoding and decoding: a `bpe serve` of its own answers through a pipe, for as long as the tokenizer lives.

A training loads this module while the executable works: what its process and other packages need is loaded later.
"""

from __future__ import annotations

import os
import weakref
from _thread import LockType, allocate_lock  # The module threading takes as long to load as Python to start.
from operator import index
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Literal, Mapping, Sequence, TypedDict, TypeVar
from typing import Union

from ._executable import BpeError, Home, Later, Run, message_of, on_fork
from ._server import DECODE, ENCODE, ENCODE_AS_TEXT, OFFSETS, SAVE, TABLE, Ended, Server
from ._server import packed, requests, unpacked, utf8

if TYPE_CHECKING:
    from typing import overload

    import numpy
    import tiktoken
    import tokenizers
else:
    numpy, tiktoken, tokenizers = Later("numpy"), Later("tiktoken"), Later("tokenizers")

T = TypeVar("T")
#: Path and content of each file of a tokenizer that has no place.
Files = tuple[tuple[str, bytes], ...]
#: Where each token of a text begins and ends in it.
Spans = list[tuple[int, int]]
Unit = Literal["characters", "bytes"]


class _Encoded(TypedDict):
    input_ids: list[int]
    attention_mask: list[int]


class Encoded(_Encoded, total=False):
    """What a call gives for a text. `offset_mapping` is there on request."""

    offset_mapping: Spans


class _EncodedBatch(TypedDict):
    input_ids: list[list[int]]
    attention_mask: list[list[int]]


class EncodedBatch(_EncodedBatch, total=False):
    """The same for several."""

    offset_mapping: list[Spans]


_RECORD = "training.json"
#: The files that a directory is loaded from.
_NAMES = (
    *("tokenizer.json", "vocab.json", "merges.txt"),
    *("tokenizer.tiktoken", "tekken.json", "tokenizer.model", _RECORD),
)
#: What a record says of its run alone. Without it, two trainings of one tokenizer are pickled alike.
_OF_THE_RUN = ("command", "arguments", "workingDirectory", "startedAt", "timings", "peakMemoryBytes")
#: `encode_iterable` sends so much text at a time: most of what large requests give, in little memory.
_GATHERED_BYTES = 1 << 15


class Tokenizer:
    """A byte-level BPE tokenizer, exact to the program its files come from. Threads may share it; they take turns.

    A forked child has a process of its own behind it. A tokenizer can be pickled: as its path and the checksum of what is
    there, or, if it has no place of its own, with its files.
    """

    #: Where its files are, from the root. Of one that was unpickled with its files: their names in no directory.
    _path: str
    _options: list[str]
    #: What its files go with, or they themselves; where they have a place of their own, neither.
    _home: Union[Home, None]
    _files: Union[Files, None]
    #: What `look_at` saw when they were made, or loaded last.
    _seen: Union[tuple[object, ...], None]
    _lock: LockType
    _owner: int
    #: Its process, once it has started, and what it said of the tokenizer.
    _servers: list[Server]
    _facts: Union[dict[str, Any], None]
    #: What every process behind it has to find: a checksum.
    _fingerprint: Union[str, None]
    _known: Union[_Vocabulary, None]
    #: A `weakref.finalize`, which closes it.
    _end: Any

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
        if special_tokens is not None and not hasattr(special_tokens, "items"):
            raise TypeError(f"special_tokens must be a dict of ids by text, found {type(special_tokens).__name__}")
        options += [f"--special-token={text}={id}" for text, id in (special_tokens or {}).items()]
        self = cls._of(os.fsdecode(path), None, options)
        self._description()
        return self

    @classmethod
    def _of(
        cls,
        path: str,
        home: Union[Home, None],
        options: Sequence[str] = (),
        *,
        files: Union[Files, None] = None,
        fingerprint: Union[str, None] = None,
        seen: Union[tuple[object, ...], None] = None,
    ) -> "Tokenizer":
        """A tokenizer whose process starts with its first use. ``home`` is a directory that goes with it."""
        self = object.__new__(cls)
        # The process may start, or start again, when this one has gone to another directory.
        self._path = path if files is not None or os.path.isabs(path) else os.path.join(os.getcwd(), path)
        self._options = list(options)
        self._home, self._files, self._fingerprint, self._seen = home, files, fingerprint, seen
        self._facts = self._known = None
        self._lock = allocate_lock()
        self._owner = os.getpid()
        self._servers = []
        self._end = weakref.finalize(self, _close, self._servers)
        on_fork(self)
        return self

    def _forked(self) -> None:
        """In a forked child: the process is the parent's, and so is the thread that may hold the lock."""
        self._owner = os.getpid()
        self._lock = allocate_lock()
        for server in self._servers:
            server.process.close_pipes()
        self._servers.clear()

    def _use(self, work: Callable[[Server], T]) -> T:
        """Has the process do something. Where it was killed it is started again, once."""
        if self._owner != os.getpid():
            # It was forked, and not by Python, which would have told.
            self._forked()
        again = False
        with self._lock:
            while True:
                try:
                    return work(self._server())
                except Ended as error:
                    self._drop()
                    if not self._end.alive:
                        raise BpeError("the tokenizer is closed") from None
                    if error.is_its_own:
                        raise
                    if again:
                        raise BpeError(f"{error}, and so was the one that was started in its place") from None
                    again = True
                except BpeError:
                    raise
                except BaseException:
                    # Half a request is sent, or half an answer taken: the rest would be read as the next one.
                    self._drop()
                    raise

    def _server(self) -> Server:
        """Its process, started where it is not; what it cannot load raises BpeError. The lock is the caller's."""
        if not self._end.alive:
            raise BpeError("the tokenizer is closed")
        if self._servers and not self._servers[0].is_between:
            # Ctrl-C may strike anywhere, also where a call believes that it is done.
            self._drop()
        if self._servers:
            return self._servers[0]
        with _Place(self, is_checked=False) as path:
            seen = look_at(path) if self._files is None else None
            if self._fingerprint is None and self._seen not in (None, seen):
                raise self._is_another()
            server = Server(path, self._options)
            self._servers.append(server)
            self._fingerprint = self._fingerprint or server.description["fingerprint"]
            if self._fingerprint != server.description["fingerprint"] or (seen and seen != look_at(path)):
                self._drop()
                raise self._is_another()
        self._facts, self._seen = server.description, seen
        return server

    def _is_another(self) -> BpeError:
        return BpeError(f'"{self._path}" is another tokenizer by now; bpe.Tokenizer.load loads it')

    def _drop(self) -> None:
        while self._servers:
            self._servers[-1].close()
            self._servers.pop()

    def _vocabulary(self) -> _Vocabulary:
        if self._known is None or not self._end.alive:
            self._known = _Vocabulary(*self._ask(TABLE, []))
        return self._known

    def _description(self) -> dict[str, Any]:
        if self._facts is None or not self._end.alive:
            self._use(lambda server: None)
        assert self._facts is not None
        return self._facts

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, special ones among them."""
        return int(self._description()["tokenCount"])

    @property
    def id_limit(self) -> int:
        """One more than the largest id."""
        return int(self._description()["idLimit"])

    def __len__(self) -> int:
        return self.vocab_size

    def __bool__(self) -> bool:
        return True

    @property
    def special_tokens(self) -> dict[str, int]:
        """The ids of the special tokens, by their text."""
        return dict(self._description()["specialTokens"])

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """The tokens that have roles, as ``transformers`` names these: {"eos_token": "<|endoftext|>"}. As its files say."""
        return dict(self._description()["roles"])

    @property
    def bos_token_id(self) -> Union[int, None]:
        return self._id_of_role("bos_token")

    @property
    def eos_token_id(self) -> Union[int, None]:
        return self._id_of_role("eos_token")

    @property
    def pad_token_id(self) -> Union[int, None]:
        return self._id_of_role("pad_token")

    @property
    def unk_token_id(self) -> Union[int, None]:
        return self._id_of_role("unk_token")

    def _id_of_role(self, role: str) -> Union[int, None]:
        text = self.special_tokens_map.get(role)
        return None if text is None else self.token_to_id(text)

    def get_vocab(self) -> dict[str, int]:
        """The ids of all tokens, special ones too, by their text as HF has it: in GPT-2's characters, `Ġthe` for ` the`."""
        return dict(self._vocabulary().ids)

    def token_to_id(self, token: str) -> Union[int, None]:
        """The id of a token of `get_vocab`; None if there is none."""
        if not isinstance(token, str):
            raise TypeError(f"a token must be a string as get_vocab has it, found {type(token).__name__}")
        return self._vocabulary().ids.get(token)

    def id_to_token(self, id: int) -> Union[str, None]:
        """The token of `get_vocab` with this id; None if there is none."""
        return self._vocabulary().spelled(index(id))

    def token_bytes(self, id: int) -> bytes:
        """The bytes of the token with this id, of a special one those of its text. An id without a token raises BpeError."""
        found = self._vocabulary().bytes_of(index(id))
        if not found:
            raise BpeError(f"id {id} stands for no token")
        return found

    def encode(
        self, text: str, *, add_special_tokens: bool = False, special_tokens_as_text: bool = False
    ) -> list[int]:
        """The ids of a text. Special tokens in it become their ids, unless they are to be encoded as the text they are.

        ``add_special_tokens`` puts those around it that tokenizer.json puts there, such as bos.
        """
        before, after = self._around(add_special_tokens)
        kind = ENCODE_AS_TEXT if special_tokens_as_text else ENCODE
        ids = unpacked(self._ask(kind, [utf8(text)])[0])
        return [*before, *ids, *after] if add_special_tokens else ids

    def encode_batch(
        self, texts: Sequence[str], *, add_special_tokens: bool = False, special_tokens_as_text: bool = False
    ) -> list[list[int]]:
        """The ids of each text, as by `encode`."""
        _refuse_text(texts, "texts", "encode")
        before, after = self._around(add_special_tokens)
        kind = ENCODE_AS_TEXT if special_tokens_as_text else ENCODE
        batch: list[list[int]] = []
        for request in requests([utf8(text) for text in texts]):
            batch += [unpacked(item) for item in self._ask(kind, request)]
        return [[*before, *ids, *after] for ids in batch] if add_special_tokens else batch

    def encode_with_offsets(
        self,
        text: str,
        *,
        unit: Unit = "characters",
        add_special_tokens: bool = False,
        special_tokens_as_text: bool = False,
    ) -> tuple[list[int], Spans]:
        """The ids of a text, and where the token of each begins and ends in it.

        In "characters" as HF has it: a token that has a part of a character has that character, what tokenizer.json trims
        is left out, and tokens around the text are at (0, 0). In "bytes" of UTF-8 the tokens follow each other without
        gaps. A tokenizer that normalizes text raises BpeError: its tokens are parts of another text.
        """
        return self._with_offsets([text], unit, add_special_tokens, special_tokens_as_text)[0]

    def _with_offsets(
        self, texts: Sequence[str], unit: Unit, add_special_tokens: bool, special_tokens_as_text: bool
    ) -> list[tuple[list[int], Spans]]:
        if unit not in OFFSETS:
            raise ValueError(f'unit is {unit!r}, and must be "characters" or "bytes"')
        before, after = self._around(add_special_tokens)
        kind = OFFSETS[unit] + (ENCODE_AS_TEXT if special_tokens_as_text else ENCODE)
        batch: list[tuple[list[int], Spans]] = []
        for request in requests([utf8(text) for text in texts]):
            for item in self._ask(kind, request):
                numbers = unpacked(item)
                count = len(numbers) // 3
                spans = zip(numbers[count : 2 * count], numbers[2 * count :])
                nowhere = (0, 0)
                batch.append(
                    (
                        [*before, *numbers[:count], *after],
                        [*(nowhere for _ in before), *spans, *(nowhere for _ in after)],
                    )
                )
        return batch

    if TYPE_CHECKING:

        @overload
        def __call__(  # type: ignore[overload-overlap]
            self,
            text: str,
            *,
            add_special_tokens: bool = ...,
            special_tokens_as_text: bool = ...,
            return_offsets_mapping: bool = ...,
        ) -> Encoded: ...
        @overload
        def __call__(
            self,
            text: Sequence[str],
            *,
            add_special_tokens: bool = ...,
            special_tokens_as_text: bool = ...,
            return_offsets_mapping: bool = ...,
        ) -> EncodedBatch: ...

    def __call__(
        self,
        text: Union[str, Sequence[str]],
        *,
        add_special_tokens: bool = True,
        special_tokens_as_text: bool = False,
        return_offsets_mapping: bool = False,
    ) -> Union[Encoded, EncodedBatch]:
        """What a tokenizer of ``transformers`` gives: a dict of ``input_ids`` and ``attention_mask``, of a text or of several.

        As there, special tokens such as bos are put around a text. ``return_offsets_mapping`` adds ``offset_mapping``: offsets
        in characters. Nothing is padded or cut off.
        """
        texts = [text] if isinstance(text, str) else text
        _refuse_text(texts, "texts", "encode")
        batch: EncodedBatch
        if return_offsets_mapping:
            both = self._with_offsets(texts, "characters", add_special_tokens, special_tokens_as_text)
            ids = [each for each, _ in both]
            batch = {"input_ids": ids, "attention_mask": _ones(ids), "offset_mapping": [spans for _, spans in both]}
        else:
            ids = self.encode_batch(
                texts, add_special_tokens=add_special_tokens, special_tokens_as_text=special_tokens_as_text
            )
            batch = {"input_ids": ids, "attention_mask": _ones(ids)}
        if not isinstance(text, str):
            return batch
        one: Any = {name: values[0] for name, values in batch.items()}  # type: ignore[index]
        encoded: Encoded = one
        return encoded

    def _around(self, is_wanted: bool) -> tuple[list[int], list[int]]:
        """The ids that tokenizer.json puts before a text, and behind it."""
        if not is_wanted:
            return [], []
        around = self._description()["around"]
        if isinstance(around, str):
            raise BpeError(f"special tokens cannot be added: {around}")
        return around["before"], around["after"]

    def encode_iterable(self, texts: Iterable[str]) -> Iterator[int]:
        """The ids of one text that comes in parts, such as the lines of an open file; each part is encoded by itself.

        The parts are taken as their ids are, a few at a time.
        """
        import itertools

        _refuse_text(texts, "texts", "encode")
        return itertools.chain.from_iterable(self._ids_of_parts(texts))

    def _ids_of_parts(self, texts: Iterable[str]) -> Iterator[Sequence[int]]:
        def ids() -> Iterator[Sequence[int]]:
            request, parts[:] = list(parts), []
            return map(unpacked, self._ask(ENCODE, request))

        parts: list[bytes] = []
        size, wanted = 0, 1
        try:
            for text in texts:
                part = utf8(text)
                parts.append(part)
                size += len(part) + 8
                if size >= wanted:
                    # The first part is not waited for: whoever looks at one line gets its ids.
                    size, wanted = 0, min(2 * size, _GATHERED_BYTES)
                    yield from ids()
        except Exception:
            # What came before the error has its ids.
            if parts:
                yield from ids()
            raise
        if parts:
            yield from ids()

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
        home = Home()
        with _Place(self) as place:
            output = os.path.join(home.name, "ids.npy")
            arguments = ["encode", f"--tokenizer={place}", f"--output={output}", "--quiet", *self._options]
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
            if exit_code < 0:
                raise BpeError(f"bpe was ended by signal {-exit_code}")
            if exit_code != 0:
                raise BpeError(run.plain(message_of(stderr.decode("utf-8", "replace"))))
            ids: "numpy.ndarray[Any, Any]" = numpy.load(output)
        return ids

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False, errors: str = "replace") -> str:
        """The text of ids; ``errors`` is for bytes that are not UTF-8, as in ``bytes.decode``."""
        return self.decode_batch([ids], skip_special_tokens=skip_special_tokens, errors=errors)[0]

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The bytes of ids. An id without a token raises BpeError."""
        return self.decode_batch_bytes([ids])[0]

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, skip_special_tokens: bool = False, errors: str = "replace"
    ) -> list[str]:
        """The text of each."""
        if skip_special_tokens:
            special = set(self._description()["specialTokens"].values())
            batch = [[id for id in ids if index(id) not in special] for ids in batch]
        return [some.decode("utf-8", errors) for some in self.decode_batch_bytes(batch)]

    def decode_batch_bytes(self, batch: Sequence[Sequence[int]]) -> list[bytes]:
        """The bytes of each."""
        out: list[bytes] = []
        for request in requests([packed(ids) for ids in batch]):
            out += self._ask(DECODE, request)
        return out

    def save(self, directory: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the files of the tokenizer into a directory, as a whole or not at all.

        It may be absent, empty, or the result of an earlier training, which is replaced. Raises BpeError for anything else,
        and where its files do not hold all of it: a pattern or special tokens were given to ``load``, or the path named one
        file of several.
        """
        with _Place(self) as path:
            place = os.path.join(os.getcwdb(), os.fsencode(directory))
            self._ask(SAVE, [place, os.fsencode(path)])

    def to_hf(self) -> "tokenizers.Tokenizer":
        """The same tokenizer of HF's package ``tokenizers``, where that can express it."""
        import tokenizers

        with _Place(self) as place:
            path = os.path.join(place, "tokenizer.json") if os.path.isdir(place) else place
            if path.endswith(".json") and os.path.isfile(path):
                return tokenizers.Tokenizer.from_file(path)
        raise BpeError(f'"{self._path}" has no tokenizer.json')

    def to_tiktoken(self) -> "tiktoken.Encoding":
        """The same tokenizer of OpenAI's package ``tiktoken``, where its kind of file can express it."""
        import json

        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        with _Place(self) as place:
            record = os.path.join(place, _RECORD)
            names = os.listdir(place) if os.path.isfile(record) else []
            ranks = next((name for name in sorted(names) if name.endswith(".tiktoken")), None)
            if ranks is None:
                raise BpeError(f'"{self._path}" has no file for tiktoken, because its ids or its pattern do not fit one')
            with open(record, encoding="utf-8") as file:
                options = json.load(file)["options"]
            mergeable_ranks = load_tiktoken_bpe(os.path.join(place, ranks))
        pattern = options["pattern"]
        if not isinstance(pattern["regex"], str):
            raise BpeError("tiktoken has one regular expression for a pattern, and this one has several")
        if pattern["name"] is None and (options["compat"] == "huggingface" or "newTokens" in options):
            # HF's regex engine reads some expressions otherwise than tiktoken's: `\w` and `\s` are two.
            raise BpeError("its pattern is written for HF's regex engine, and tiktoken has another one")
        special = self.special_tokens
        made = tiktoken.Encoding(
            name=os.path.basename(os.path.abspath(self._path)),
            pat_str=pattern["regex"],
            mergeable_ranks=mergeable_ranks,
            special_tokens=special,
        )
        # It tries them in the order of its own hash table, and takes the first that fits: not always the longest.
        for text, id in special.items():
            if made.encode(text, allowed_special="all") != [id]:
                shorter = next(other for other in special if other != text and text.startswith(other))
                raise BpeError(
                    f'tiktoken would find the special token "{shorter}" where "{text}" stands: it has its own order of them'
                )
        return made

    def __copy__(self) -> "Tokenizer":
        """Another object for the same files, with a process of its own."""
        if not self._end.alive:
            raise BpeError("the tokenizer is closed")
        copied = Tokenizer._of(self._path, self._home, self._options, files=self._files, seen=self._seen)
        copied._facts, copied._fingerprint, copied._known = self._facts, self._fingerprint, self._known
        return copied

    def __deepcopy__(self, _: object) -> "Tokenizer":
        return self.__copy__()

    def __reduce__(self) -> "tuple[Any, ...]":
        """The same bytes each time, so that caches that go by them work."""
        if not self._end.alive:
            raise BpeError("the tokenizer is closed")
        if self._files is not None or self._home is not None:
            files = self._files if self._home is None else _files_below(self._home.name)
            path = self._path if self._home is None else os.path.relpath(self._path, self._home.name)
            return _unpickled, (path, tuple(self._options), None, files)
        self._description()
        return _unpickled, (self._path, tuple(self._options), self._fingerprint, None)

    def close(self) -> None:
        """Ends the process behind it; so does the garbage collector. A call of another thread ends with an error."""
        for server in list(self._servers):
            server.process.terminate()
            server.process.end()
        with self._lock:
            self._end()
            self._home = None

    def __enter__(self) -> "Tokenizer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self._end.alive:
            return "<bpe_trainer.Tokenizer, closed>"
        place = "" if self._files is not None or self._home is not None else f' "{self._path}"'
        # A debugger may ask in the middle of a call.
        if self._facts is None and not self._lock.locked():
            try:
                self._description()
            except (BpeError, OSError):
                pass
        if self._facts is None:
            return f"<bpe_trainer.Tokenizer{place}, not loaded>"
        tokens, special = self._facts["tokenCount"], len(self._facts["specialTokens"])
        return f"<bpe_trainer.Tokenizer{place} of {tokens:,} tokens, {special:,} of them special>"

    def _ask(self, kind: int, items: Sequence[bytes]) -> list[bytes]:
        return self._use(lambda server: server.ask(kind, items))


class _Vocabulary:
    """The table of tokens, as the process gives it."""

    def __init__(self, starts: bytes, tokens: bytes, text_ids: bytes) -> None:
        from ._characters import character_of

        self._starts, self._tokens, self._text_ids = unpacked(starts), tokens, set(unpacked(text_ids))
        # A character for each byte.
        self._characters = tokens.decode("latin-1").translate(character_of)
        self._ids: Union[dict[str, int], None] = None

    def bytes_of(self, id: int) -> bytes:
        """Empty where no token has the id."""
        return self._tokens[self._starts[id] : self._starts[id + 1]] if 0 <= id < len(self._starts) - 1 else b""

    def spelled(self, id: int) -> Union[str, None]:
        token = self.bytes_of(id)
        if not token:
            return None
        return token.decode("utf-8") if id in self._text_ids else self._characters[self._starts[id] : self._starts[id + 1]]

    @property
    def ids(self) -> dict[str, int]:
        if self._ids is None:
            ids: dict[str, int] = {}
            for id in range(len(self._starts) - 1):
                token = self.spelled(id)
                if token is not None and ids.setdefault(token, id) != id:
                    raise BpeError(f"the tokens {ids[token]} and {id} are both spelled {token!r}, so their names are not unique")
            self._ids = ids
        return self._ids


class _Place:
    """The path of a tokenizer's files, for as long as the block lasts. They are those of the tokenizer, or it raises BpeError."""

    def __init__(self, tokenizer: Tokenizer, *, is_checked: bool = True) -> None:
        self._tokenizer = tokenizer
        self._is_checked = is_checked and tokenizer._files is None
        self._home: Union[Home, None] = None

    def __enter__(self) -> str:
        tokenizer = self._tokenizer
        if tokenizer._files is not None:
            self._home = Home()
            for name, content in tokenizer._files:
                path = os.path.join(self._home.name, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(content)
            return os.path.join(self._home.name, tokenizer._path)
        self._check()
        return tokenizer._path

    def __exit__(self, kind: object, *_: object) -> None:
        if self._home is not None:
            self._home.cleanup()
        if kind is None:
            self._check()

    def _check(self) -> None:
        """What is there by now is loaded, and compared."""
        tokenizer = self._tokenizer
        if self._is_checked and (tokenizer._seen is None or tokenizer._seen != look_at(tokenizer._path)):
            tokenizer._use(lambda server: tokenizer._drop())
            tokenizer._use(lambda server: None)


def _unpickled(
    path: str, options: Sequence[str], fingerprint: Union[str, None], files: Union[Files, None]
) -> Tokenizer:
    for name in () if files is None else (path, *(name for name, _ in files)):
        parts = name.replace(os.sep, "/").split("/")
        if not name or os.path.isabs(name) or os.path.splitdrive(name)[0] or ".." in parts:
            raise BpeError(f"the pickled tokenizer has {name[:200]!r}, which is no name of a file in its directory")
    return Tokenizer._of(path, None, options, files=files, fingerprint=fingerprint)


def look_at(path: str) -> tuple[object, ...]:
    """Where this changes, another tokenizer may be at the path by now."""
    directory = path if os.path.isdir(path) else os.path.dirname(path)
    seen: list[object] = []
    for name in ("", *_NAMES):
        each = os.path.join(directory, name) if name else path
        try:
            stats = os.stat(each)
        except OSError:
            continue
        # A directory changes with whatever is put into it.
        times = () if os.path.isdir(each) else (stats.st_size, stats.st_mtime_ns, stats.st_ctime_ns)
        seen.append((name, stats.st_dev, stats.st_ino, *times))
    return tuple(seen)


def _files_below(home: str) -> Files:
    files: list[tuple[str, bytes]] = []
    for directory, _, names in os.walk(home):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                content = file.read()
            files.append((os.path.relpath(path, home), _lasting(content) if name == _RECORD else content))
    return tuple(sorted(files))


def _lasting(record: bytes) -> bytes:
    """A record without what only its run knows."""
    import json

    kept = {name: value for name, value in json.loads(record).items() if name not in _OF_THE_RUN}
    return json.dumps(kept, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"


def _ones(batch: list[list[int]]) -> list[list[int]]:
    return [[1] * len(ids) for ids in batch]


def _refuse_text(given: object, name: str, instead: str) -> None:
    """A string is a sequence of strings, too."""
    if isinstance(given, (str, bytes)):
        raise TypeError(f"{name} is a {type(given).__name__}: give a list of texts, or one text to {instead}")


def _close(servers: "list[Server]") -> None:
    for server in servers:
        server.close()
