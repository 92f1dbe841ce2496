"""Encodes and decodes in this process, with the native module.

A training loads this module while the executable works, so what only other calls need is loaded later.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident
from copy import copy
from importlib import import_module
from operator import index
from typing import TYPE_CHECKING, Any, Callable, Collection, ContextManager, Iterable, Iterator, Literal, Mapping, Sequence, Union

from ._arguments import flag_of, is_iterable, items_of, path_of, refuse, refuse_no_list, refuse_text, text_of, whole_number
from ._characters import pair_of
from ._executable import BpeError, Home, LazyModule, Run, _without_interrupts, await_end, in_thread, t
from ._image import Image, refuse_irregular, save_image
from ._source import Files, Source, files_below, unpickle

if TYPE_CHECKING:
    from typing import overload

    import numpy
    import tiktoken
    import tokenizers

    from . import _segments, _session, _stream
else:
    numpy, tiktoken, tokenizers = LazyModule("numpy"), LazyModule("tiktoken"), LazyModule("tokenizers")
    _segments, _session, _stream = (LazyModule(f"bpe_trainer.{name}") for name in ("_segments", "_session", "_stream"))

#: The start and end of each token in its text.
Spans = list[tuple[int, int]]
#: ``(start, end, canonical_start, canonical_end)``: in place of the given ids ``[start, end)``, encoding gives the
#: canonical ids ``[canonical_start, canonical_end)``.
RecodedSpans = list[tuple[int, int, int, int]]
Unit = Literal["characters", "bytes"]
#: The texts of special tokens, or all special tokens.
Special = Union[Literal["all"], Collection[str]]
#: The least number of characters, or of bytes of files, for each thread. For fewer, a thread would save little, because
#: starting it takes time.
_CHARACTERS_PER_THREAD = 1 << 18
_LONG_CHARACTERS = 2 * _CHARACTERS_PER_THREAD
_THREADS_MAX = 16
#: The values of ``which`` in `cut` of native/python.c, and the largest ``limit`` of `cut`.
_FIRST_PART, _LAST_PART, _ALL_PARTS = range(3)
_LIMIT_MAX = (1 << 31) - 1
#: How many bytes are decoded at a time.
_DECODED_BYTES = 1 << 22

#: Single files that `save` writes, by their endings: the format, the file's name in a directory, and a pattern for how
#: such files begin.
_FORMATS = {
    ".json": ("huggingface", "tokenizer.json", rb'\s*\{\s*"(version|[a-z_]*token[a-z_]*|model|decoder|normalizer|padding|truncation|post_processor)"'),
    ".tiktoken": ("tiktoken", "tokenizer.tiktoken", rb"[A-Za-z0-9+/]+={0,2} \d+\r?\n"),
    ".gguf": ("gguf", "tokenizer.gguf", b"GGUF"),
}
_TEKKEN = ("tekken", "tekken.json", rb'\s*\{\s*"config"')
_OF_TRANSFORMERS = ("text_pair", "padding", "truncation", "max_length", "stride", "return_tensors")
_BY_TRANSFORMERS = "save the tokenizer and load it with transformers' AutoTokenizer.from_pretrained(DIRECTORY)"
#: Methods of other packages' tokenizers, and what to use here instead.
_ELSEWHERE = {
    **dict.fromkeys(
        ("add_tokens", "add_special_tokens"),
        "use extend(special_tokens=[...], seed_tokens=[...]), which returns a new tokenizer",
    ),
    **dict.fromkeys(("pad", "enable_padding", "enable_truncation", "apply_chat_template"), _BY_TRANSFORMERS),
    "train_new_from_iterator": "use bpe.train_new_from_iterator(tokenizer, texts, vocab_size)",
}


class Encoded(dict[str, Any]):
    """The result of calling a tokenizer. Its keys are attributes, too: ``encoded.input_ids``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Tokenizer:
    """A byte-level BPE tokenizer. It gives exactly the ids of the program that its files come from.

    Threads may share it, and it can be used after a fork. It can be pickled: as its path and a digest of the tokenizer, or,
    if it has no path, with its files.
    """

    _source: Source
    #: None before the first use, and when the tokenizer is closed.
    _image: Union[Image, None]
    _is_closed: bool

    def __init__(self) -> None:
        raise TypeError("a Tokenizer cannot be made directly: use bpe.train(...) or bpe.Tokenizer.load(path)")

    @classmethod
    def load(
        cls,
        path: Union[str, "os.PathLike[str]"],
        *,
        pattern: Union[str, None] = None,
        special_tokens: Union[Mapping[str, int], None] = None,
        special_tokens_as_text: Union[bool, None] = False,
    ) -> "Tokenizer":
        """Loads a directory of `bpe train`, HF's tokenizer.json, GPT-2's files, tiktoken's ranks or Mistral's tekken.json.

        A name such as "gpt-4o" loads the copy that tiktoken or Hugging Face's hub has cached on this machine. ``pattern`` and
        ``special_tokens`` are for files that do not state them. With ``special_tokens_as_text``, special tokens in a text are
        encoded as text, unless a call says otherwise. Raises BpeError for what cannot be reproduced exactly.
        """
        name = path_of("path", path)
        options = _loading_options(pattern, special_tokens)
        as_text = flag_of("special_tokens_as_text", special_tokens_as_text)
        self = cls._of(Source(name, None, options, is_typed=not os.path.lexists(name), as_text=as_text))
        self._loaded()
        return self

    from_file = load

    @classmethod
    def from_str(cls, json: str) -> "Tokenizer":
        """Makes a tokenizer from the content of a tokenizer.json. It is only in memory."""
        content = text_of("json", json).encode("utf-8")
        self = cls._of(Source("tokenizer.json", files=(("tokenizer.json", content),)))
        self._loaded()
        return self

    @classmethod
    def from_ranks(
        cls, ranks: Mapping[bytes, int], pattern: str, special_tokens: Union[Mapping[str, int], None] = None
    ) -> "Tokenizer":
        """Makes a tokenizer from ranks as ``tiktoken`` has them: ids by the bytes of tokens. It is only in memory.

        ``pattern`` is a regular expression, or a name such as "cl100k".
        """
        from base64 import b64encode

        rows: dict[int, bytes] = {}
        for token, rank in items_of("ranks", "a dict of ids by bytes", ranks):
            if not isinstance(token, bytes):
                refuse("ranks: a token", "bytes", token)
            if rows.setdefault(whole_number(f"ranks: the id of {token!r}", rank, 0), token) is not token:
                raise ValueError(f"ranks: {rows[rank]!r} and {token!r} have the same id, {rank}")
        content = b"".join(b"%b %d\n" % (b64encode(rows[rank]), rank) for rank in sorted(rows))
        # The ranks are converted, so that the files also contain the pattern and the special tokens.
        source = Source("ranks", options=_loading_options(text_of("pattern", pattern), special_tokens), files=(("ranks", content),))
        self = cls._of(Source("tokenizer", files=cls._of(source)._converted()))
        self._loaded()
        return self

    @classmethod
    def from_pretrained(cls, directory: Union[str, "os.PathLike[str]"]) -> "Tokenizer":
        """Like `load`, for a directory on this machine: this package downloads nothing."""
        name = path_of("directory", directory)
        if not os.path.isdir(name):
            way = f"hf download {name} --include '*token*' --local-dir DIR, then from_pretrained(DIR)"
            hint = way if "/" in name else "pass a local directory; load(\"org/name\") finds a model already in the HF cache"
            raise BpeError(f'"{name}" is not a directory, and bpe_trainer downloads nothing\nhint: {hint}')
        return cls.load(directory)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Raises an error. For a name of other packages, it says what to use here instead."""
            raise AttributeError(f"a Tokenizer has no {name!r}" + (f": {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""))

    @classmethod
    def _of(cls, source: Source) -> "Tokenizer":
        """Returns a tokenizer that is loaded on its first use."""
        self = object.__new__(cls)
        self._source = source
        self._image = None
        self._is_closed = False
        return self

    @classmethod
    def _unpickled(cls, *given: Any) -> "Tokenizer":
        return cls._of(unpickle(*given))

    @property
    def _path(self) -> str:
        return self._source.path

    def _loaded(self) -> Image:
        """Returns the image, and loads it on first use. If two threads load it at once, their images are equal."""
        image = self._image
        if image is None:
            self._refuse_closed()
            image = self._source.load()
            self._take(image)
        return image

    def _take(self, image: Image) -> None:
        self._image = image
        # From now on, `_encode` is the method of the model.
        self.__dict__["_encode"] = image.model.encode
        if self._is_closed:
            # Another thread has closed it meanwhile.
            self.close()
            self._refuse_closed()

    def _encoder(self) -> Any:
        """Returns the model of the native module."""
        return self._loaded().model

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise BpeError("the tokenizer is closed")

    def _encode(self, text: Union[str, bytes], as_text: Union[bool, None]) -> list[int]:
        """Loads the tokenizer, and encodes. `_take` then replaces this method by that of the model. Raises BpeError if closed."""
        ids: list[int] = self._encoder().encode(text, as_text)
        return ids

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special ones."""
        return int(self._loaded().facts["tokenCount"])

    @property
    def id_limit(self) -> int:
        """One more than the largest id."""
        return int(self._loaded().facts["idLimit"])

    @property
    def n_vocab(self) -> int:
        """The same as `id_limit`, by its name in ``tiktoken``."""
        return self.id_limit

    @property
    def max_token_value(self) -> int:
        """The largest id, by its name in ``tiktoken``."""
        return self.id_limit - 1

    @property
    def eot_token(self) -> int:
        """The id of <|endoftext|>, by its name in ``tiktoken``. Raises KeyError if there is none."""
        return self.special_tokens["<|endoftext|>"]

    @property
    def fingerprint(self) -> str:
        """A digest of the ids of a fixed text. Tokenizers with the same digest encode that text alike, whatever runs them.

        docs/doctor.md says how other programs compute it.
        """
        from hashlib import sha256

        from . import _probe

        ids = self.encode(_probe.TEXT, special_tokens_as_text=False)
        return f"{_probe.VERSION}-{sha256(' '.join(map(str, ids)).encode()).hexdigest()[:32]}"

    @property
    def special_tokens_set(self) -> set[str]:
        return set(self.special_tokens)

    def is_special_token(self, token: int) -> bool:
        return token in self.special_tokens.values()

    def token_byte_values(self) -> list[bytes]:
        """Returns the keys of `ranks`, sorted."""
        return sorted(self.ranks())

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Returns `vocab_size`, or the size of `get_vocab(False)`, as in ``tokenizers``."""
        return self.vocab_size if with_added_tokens else len(self.get_vocab(False))

    def __len__(self) -> int:
        return self.vocab_size

    def __bool__(self) -> bool:
        return True

    @property
    def special_tokens(self) -> dict[str, int]:
        """The ids of the special tokens, by their text."""
        return dict(self._loaded().facts["specialTokens"])

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """The tokens that have roles, by the names in ``transformers``: {"eos_token": "<|endoftext|>"}."""
        return dict(self._loaded().facts["roles"])

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

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Returns the ids of all tokens, including special ones, by their text as HF spells it: `Ġthe` for ` the`.

        Without added tokens, returns the vocabulary of the model in tokenizer.json, as HF does. It may have special tokens, too.
        """
        return dict(self._loaded().vocabulary.ids if with_added_tokens else self._model_of_json()["vocab"])

    def _model_of_json(self) -> Any:
        import json

        return json.loads(self.to_str())["model"]

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """Returns the learned pairs of tokens, in order. Reads or makes tokenizer.json at each call."""
        return [pair_of(each.split(" ") if isinstance(each, str) else each) for each in self._model_of_json()["merges"]]

    def ranks(self) -> dict[bytes, int]:
        """Returns ids by the bytes of tokens, without special ones, as in ``tiktoken``. Raises BpeError if ranks cannot express the tokenizer."""
        from base64 import b64decode

        rows = self._file("tiktoken", "tokenizer.tiktoken").splitlines()
        return {b64decode(token): int(rank) for token, rank in map(bytes.split, rows)}

    @property
    def pattern(self) -> str:
        """The regular expression by which text is cut. Raises BpeError if there are several, or none."""
        import json

        with self._place() as path:
            arguments = ["inspect", "--json", "--quiet", *self._source.options, "--", path]
            sources: list[str] = json.loads(Run(arguments, answers=True).finish())["patternSources"]
        if len(sources) != 1:
            raise BpeError(f"the tokenizer splits text by {len(sources)} regular expressions, not by one")
        return sources[0]

    def convert_tokens_to_ids(self, tokens: Union[str, Sequence[str]]) -> Any:
        """Returns the id of a token, or of each token; `unk_token_id` if there is none. Named as in ``transformers``."""
        if not isinstance(tokens, str):
            return [self.convert_tokens_to_ids(token) for token in _list_of(tokens, "tokens")]
        id = self.token_to_id(tokens)
        return self.unk_token_id if id is None else id

    def convert_ids_to_tokens(self, ids: Union[int, Sequence[int]]) -> Any:
        """Returns the token with an id, or with each id; None if there is none. Named as in ``transformers``."""
        if not isinstance(ids, Iterable):
            return self.id_to_token(whole_number("ids", ids))
        refuse_no_list("ids", ids, "a list of ids")
        return [self.id_to_token(whole_number("ids", id)) for id in ids]

    def token_to_id(self, token: str) -> Union[int, None]:
        """Returns the id of a token, spelled as in `get_vocab`; None if there is no such token.

        Raises BpeError if the tokens of this tokenizer cannot be looked up by name.
        """
        if not isinstance(token, str):
            raise TypeError(f"a token must be a string, spelled as in get_vocab(), found {type(token).__name__}")
        return self._loaded().vocabulary.ids.get(token)

    def id_to_token(self, id: int) -> Union[str, None]:
        """Returns the token with this id, spelled as in `get_vocab`; None if there is no such token.

        Raises BpeError if the tokens of this tokenizer cannot be looked up by name.
        """
        return self._loaded().vocabulary.spell(whole_number("id", id))

    def token_bytes(self, id: int) -> bytes:
        """Returns the bytes of the token with this id; for a special token, of its text. Raises BpeError for an unknown id."""
        found = self._loaded().vocabulary.bytes_of(whole_number("id", id))
        if not found:
            raise BpeError(f"id {id} is not in the vocabulary")
        return found

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Like `token_bytes`, but raises KeyError for an id without a token, as in ``tiktoken``."""
        found = self._loaded().vocabulary.bytes_of(whole_number("token", token))
        if not found:
            raise KeyError(token)
        return found

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Returns `decode_single_token_bytes` of each id."""
        refuse_no_list("tokens", tokens, "a list of ids")
        return [self.decode_single_token_bytes(token) for token in tokens]

    def encode(
        self,
        text: Union[str, bytes],
        threads: Union[int, None] = None,
        allowed_special: Union[Special, None] = None,
        disallowed_special: Union[Special, None] = None,
        special_tokens_as_text: Union[bool, None] = None,
        add_special_tokens: bool = False,
    ) -> list[int]:
        """Returns the ids of a text, given as a string or as UTF-8. All other parameters must be given by name.

        Special tokens in the text become their ids, unless ``special_tokens_as_text`` is true. ``allowed_special`` and
        ``disallowed_special``, which are "all" or texts of special tokens, mean what they mean in ``tiktoken``: allowed ones
        become ids, others are text, and a disallowed one raises ValueError; by default, all that are not allowed are
        disallowed. ``add_special_tokens`` adds the special tokens that tokenizer.json puts around a text, such as bos. A long
        string is encoded by several threads, if it can be cut: one thread for each core, or ``threads`` threads, at most 16.
        """
        # The other parameters are not keyword-only, because that would make a call 50 ns slower.
        if threads is not None:
            whole_number("threads", threads, 1)
        if allowed_special is not None or disallowed_special is not None:
            ids = self._encode_allowed(text, allowed_special, disallowed_special, special_tokens_as_text, threads)
        elif text.__class__ is not str or len(text) < _LONG_CHARACTERS or threads == 1:
            ids = self._encode(text, special_tokens_as_text)
        else:
            (ids,) = self._encode_all([text], special_tokens_as_text, threads)
        if add_special_tokens:
            before, after = self._surrounding_ids(True)
            return [*before, *ids, *after]
        return ids

    def _encode_allowed(
        self,
        text: Union[str, bytes],
        allowed_special: Union[Special, None],
        disallowed_special: Union[Special, None],
        as_text: Union[bool, None],
        threads: Union[int, None],
    ) -> list[int]:
        """Encodes like ``tiktoken.Encoding.encode``. By default, no special token is allowed, and all are disallowed."""
        if as_text is not None:
            raise ValueError("special_tokens_as_text cannot be combined with allowed_special or disallowed_special: pass one or the other")
        text = _pair_surrogates(text_of("text", text))
        special = self.special_tokens
        allowed = _special_set("allowed_special", () if allowed_special is None else allowed_special, special)
        wrong = _special_set("disallowed_special", "all" if disallowed_special is None else disallowed_special, special)
        if disallowed_special is None or isinstance(disallowed_special, str):
            wrong -= allowed
        first = _expression_for(wrong).search(text) if wrong else None
        if first is not None:
            raise ValueError(
                f"the text contains the disallowed special token {first[0]!r}: pass allowed_special={{{first[0]!r}}} to encode it "
                "as its id, or disallowed_special=() to encode it as text"
            )
        inner = [each for each in special if each in text]
        if allowed.isdisjoint(inner) or allowed.issuperset(inner):
            return self.encode(text, special_tokens_as_text=allowed.isdisjoint(inner), threads=threads)
        if not self._loaded().has_plain_sections:
            raise BpeError(
                "the text contains special tokens that are allowed and others that are not: a tokenizer that normalizes texts, or "
                "strips around added tokens, cannot encode such a text"
            )
        ids: list[int] = []
        start = at = 0
        find = _expression_for(special)
        while found := find.search(text, at):
            at = found.start() + 1
            if found[0] in allowed:
                ids += self.encode(text[start : found.start()], special_tokens_as_text=True, threads=threads)
                ids.append(special[found[0]])
                start = at = found.end()
        return ids + self.encode(text[start:], special_tokens_as_text=True, threads=threads)

    def encode_ordinary(self, text: str) -> list[int]:
        """Encodes special tokens in the text as text, and halves of surrogate pairs as U+FFFD, as in ``tiktoken``."""
        return self.encode(_pair_surrogates(text), special_tokens_as_text=True)

    def encode_ordinary_batch(self, text: Sequence[str], *, num_threads: Union[int, None] = None) -> list[list[int]]:
        """Returns `encode_ordinary` of each text."""
        texts = [_pair_surrogates(each) for each in _list_of(text, "text")]
        return self.encode_batch(texts, special_tokens_as_text=True, threads=num_threads)

    def encode_single_token(self, text_or_bytes: Union[str, bytes]) -> int:
        """Returns the id of a token, by its text or its bytes. Raises KeyError if there is none."""
        token = text_or_bytes.encode("utf-8") if isinstance(text_or_bytes, str) else text_or_bytes
        if not isinstance(token, bytes):
            refuse("text_or_bytes", "a string or bytes", token)
        return self._loaded().vocabulary.by_bytes[token]

    def tokenize(self, text: str, *, special_tokens_as_text: Union[bool, None] = None) -> list[str]:
        """Returns the tokens of a text, spelled as in `get_vocab`."""
        spell = self._loaded().vocabulary.spell
        return [spell(id) or "" for id in self._encode(text, special_tokens_as_text)]

    def pre_tokenize(self, text: str) -> list[str]:
        """Splits a text into the pieces that merging starts from. `bpe.explain` also has the merges of each piece.

        Added tokens are pieces, too, with the whitespace that they strip. Joined, the pieces are the text, after normalization
        if the tokenizer normalizes, and with the space that some tokenizers put before a text.
        """
        import json

        data = text_of("text", text).encode("utf-8")
        with self._place() as path:
            arguments = ["explain", "--only-pieces", "--quiet", *self._source.encoding_options, "--", path, "-"]
            pieces: list[str] = json.loads(Run(arguments, takes_input=True, answers=True).finish(data))
        return pieces

    if TYPE_CHECKING:

        @overload
        def encode_batch(
            self,
            texts: Sequence[str],
            *,
            add_special_tokens: bool = ...,
            special_tokens_as_text: Union[bool, None] = ...,
            threads: Union[int, None] = ...,
            as_array: Literal[False] = ...,
            allowed_special: Union[Special, None] = ...,
            disallowed_special: Union[Special, None] = ...,
        ) -> list[list[int]]: ...
        @overload
        def encode_batch(
            self,
            texts: Sequence[str],
            *,
            add_special_tokens: bool = ...,
            special_tokens_as_text: Union[bool, None] = ...,
            threads: Union[int, None] = ...,
            as_array: Literal[True],
        ) -> "tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]": ...

    def encode_batch(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool = False,
        special_tokens_as_text: Union[bool, None] = None,
        threads: Union[int, None] = None,
        as_array: bool = False,
        allowed_special: Union[Special, None] = None,
        disallowed_special: Union[Special, None] = None,
    ) -> Any:
        """Returns the ids of each text, as `encode` does.

        With ``as_array``, returns two numpy arrays instead of lists, in the layout of a list array in Arrow: all ids end to
        end, uint16 if every id of the tokenizer fits, otherwise uint32; and offsets: the ids of text i are
        ``ids[offsets[i]:offsets[i + 1]]``.
        """
        texts = _list_of(texts)
        if threads is not None:
            whole_number("threads", threads, 1)
        before, after = self._surrounding_ids(add_special_tokens)
        if as_array and (allowed_special is not None or disallowed_special is not None):
            raise ValueError("as_array cannot be combined with allowed_special or disallowed_special: use special_tokens_as_text")
        if as_array:
            return self._arrays(texts, special_tokens_as_text, threads, before, after)
        if allowed_special is not None or disallowed_special is not None:
            given = (allowed_special, disallowed_special, special_tokens_as_text, threads)
            batch = [self._encode_allowed(text, *given) for text in texts]
        else:
            batch = self._encode_all(texts, special_tokens_as_text, threads)
        return [[*before, *ids, *after] for ids in batch] if add_special_tokens else batch

    encode_batch_fast = encode_batch

    def _encode_all(self, texts: Sequence[str], as_text: Union[bool, None], threads: Union[int, None]) -> list[list[int]]:
        batch: list[list[int]] = _encode_texts(self._encoder(), texts, as_text, True, threads).lists()
        return batch

    def _arrays(
        self, texts: Sequence[str], as_text: Union[bool, None], threads: Union[int, None], before: list[int], after: list[int]
    ) -> "tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]":
        numpy = _numpy()
        if not before and not after:
            data, ends, size = _encode_texts(self._encoder(), texts, as_text, False, threads).arrays()
            return numpy.frombuffer(data, dtype=f"u{size}"), numpy.frombuffer(ends, dtype=numpy.int64)
        batch = [[*before, *ids, *after] for ids in self._encode_all(texts, as_text, threads)]
        offsets = numpy.zeros(len(batch) + 1, dtype=numpy.int64)
        numpy.cumsum([len(ids) for ids in batch], out=offsets[1:])
        flat = [id for ids in batch for id in ids]
        return numpy.array(flat, dtype=numpy.uint16 if self.id_limit <= 1 << 16 else numpy.uint32), offsets

    def count(self, text: str, limit: Union[int, None] = None, *, special_tokens_as_text: Union[bool, None] = None) -> int:
        """Returns how many ids `encode` would return.

        With a limit, stops reading when there are certainly more, and returns ``limit + 1``. So ``t.count(text, n) <= n``
        says whether a text has at most n ids.
        """
        most = -1 if limit is None else min(whole_number("limit", limit, 0), sys.maxsize)
        return int(self._encoder().count(text, most, special_tokens_as_text))

    def truncate(
        self,
        text: str,
        limit: int,
        *,
        keep: Literal["start", "end"] = "start",
        special_tokens_as_text: Union[bool, None] = None,
    ) -> str:
        """Cuts a text to its beginning, or its end, of at most ``limit`` ids. A text within the limit stays unchanged.

        A beginning ends where the ``limit``-th token of the text ends. If that is within a character, the beginning ends before
        the character. The beginning is encoded separately to count its ids. In the rare case that they exceed ``limit``, the
        beginning ends one or more tokens earlier. If not even the first token fits, it has as many characters of that token as
        fit. So ``count(truncate(text, n)) <= n``, and for most texts the ids of the result are the first n of the text. An end
        starts by the same rule, from the other side. A special token is kept completely or not at all. For a text above the
        limit, raises BpeError if the vocabulary lacks tokens for some bytes.
        """
        if keep not in ("start", "end"):
            raise ValueError(f'keep is {keep!r}, and must be "start" or "end"')
        text, limit = text_of("text", text), whole_number("limit", limit, 0)
        return self._cut(text, limit, _FIRST_PART if keep == "start" else _LAST_PART, 0, special_tokens_as_text)[0]

    def chunks(
        self, text: str, size: int, overlap: int = 0, *, special_tokens_as_text: Union[bool, None] = None
    ) -> list[str]:
        """Splits a text into pieces of at most ``size`` ids each, in order. Without ``overlap``, the joined pieces are the text.

        A piece ends by the rule of `truncate`. The next piece starts with the last ``overlap`` tokens that are complete
        in this one, or with fewer if it would get no further. Raises BpeError like `truncate`, and for a character with more
        than ``size`` ids. An empty text has no pieces.
        """
        text_of("text", text)
        size, overlap = whole_number("size", size, 1), whole_number("overlap", overlap)
        if not 0 <= overlap < size:
            raise ValueError(f"overlap is {overlap}, and must be from 0 to {size - 1}, less than size")
        return self._cut(text, size, _ALL_PARTS, overlap, special_tokens_as_text) if text else []

    def _cut(self, text: str, limit: int, which: int, overlap: int, as_text: Union[bool, None]) -> list[str]:
        """Returns the requested parts of at most ``limit`` ids; the whole text if it has at most ``limit`` ids."""
        limit, overlap = min(limit, _LIMIT_MAX), min(overlap, _LIMIT_MAX)
        if not self._loaded().facts["hasAllBytes"]:
            if self.count(text, limit, special_tokens_as_text=as_text) <= limit:
                return [text]
            raise BpeError("this text cannot be split at its tokens: the vocabulary lacks some bytes, so the tokens may not contain the whole text")
        parts: list[str] = self._encoder().cut(text, limit, which, overlap, as_text)
        return parts

    def stream(
        self, *, skip_special_tokens: bool = False, skip_unknown_ids: bool = False, ids: Sequence[int] = ()
    ) -> "_stream.StreamDecoder":
        """Decodes ids as they arrive: ``decoder.push(id)`` returns text that never ends within a character.

        ``ids`` are the ids that come before those pushed, such as the ids of a prompt. Their text is not returned, except for a
        character that they begin but do not complete. With ``skip_unknown_ids``, an id without a token has no text; otherwise it
        raises BpeError.
        """
        bytes_of = self._loaded().vocabulary.bytes_of

        def decode(ids: Sequence[int], is_first: bool) -> tuple[bytes, bool]:
            kept: Sequence[int] = list(ids) if isinstance(ids, Iterator) else ids
            if skip_special_tokens:
                kept = self._without_special(kept)
            if skip_unknown_ids:
                kept = [id for id in kept if bytes_of(index(id))]
            data = self.decode_bytes(kept) if is_first else self._join_bytes(kept)
            return data, len(kept) > 0

        refuse_no_list("ids", ids, "a list of ids")
        decoder = _stream.StreamDecoder(decode)
        decoder.push(ids)
        return decoder

    def encode_with_offsets(
        self,
        text: str,
        *,
        unit: Unit = "characters",
        add_special_tokens: bool = False,
        special_tokens_as_text: Union[bool, None] = None,
    ) -> tuple[list[int], Spans]:
        """Returns the ids of a text, and where the token of each starts and ends in it.

        In "characters", positions are HF's: a token with a part of a character has the position of the whole character, spaces
        that tokenizer.json trims are left out, and tokens around the text are at (0, 0). In "bytes" of UTF-8, the tokens follow
        each other without gaps. Raises BpeError if the tokenizer normalizes text: its tokens are parts of another text.
        """
        text_of("text", text)
        before, after = self._surrounding_ids(add_special_tokens)
        self._refuse_without_offsets(unit)
        ids, spans = self._encoder().encode_with_offsets(text, unit == "characters", special_tokens_as_text)
        nowhere = (0, 0)
        return [*before, *ids, *after], [*(nowhere for _ in before), *spans, *(nowhere for _ in after)]

    def session(self, text: str = "", *, trusted: bool = True) -> "_session.Session":
        """Returns a session: a text that grows and is edited, with its ids. An edit encodes only text whose ids it can change."""
        session = _session.Session._of(self._encoder())
        session.append(text, trusted)
        return session

    def _refuse_without_offsets(self, unit: Unit) -> None:
        if unit not in ("characters", "bytes"):
            raise ValueError(f'unit is {unit!r}, and must be "characters" or "bytes"')
        facts = self._loaded().facts
        obstacle = facts["offsetObstacle"] or (facts["trimObstacle"] if unit == "characters" else None)
        if obstacle is not None:
            raise BpeError(obstacle)

    def encode_segments(self, segments: Iterable[t.Segment], *, isolate: bool = False) -> list[int]:
        """Returns the ids of a text from several sources, given as pairs of a text and whether it is trusted.

        An added token is found only within one segment, and a special token only within a trusted one. In other segments it is
        text. Apart from that, the segments are encoded as one text: a token may span segments. With ``isolate``, each segment is
        encoded separately.
        """
        read = _segments.read_segments(segments)
        if flag_of("isolate", isolate):
            return [id for data, is_trusted in read for id in self._encode(data, not is_trusted)]
        ids: list[int] = self._encoder().encode_segments(b"".join(data for data, _ in read), _segments.pack_segments(read))
        return ids

    def encode_segments_with_offsets(
        self, segments: Iterable[t.Segment], *, isolate: bool = False, unit: Unit = "characters"
    ) -> tuple[list[int], Spans]:
        """Like `encode_segments`. Also returns where each token starts and ends in the whole text (see `encode_with_offsets`)."""
        read = _segments.read_segments(segments)
        self._refuse_without_offsets(unit)
        if not flag_of("isolate", isolate):
            given = (b"".join(data for data, _ in read), _segments.pack_segments(read), unit == "characters")
            encoded: tuple[list[int], Spans] = self._encoder().encode_segments(*given)
            return encoded
        ids: list[int] = []
        spans: Spans = []
        begin = 0
        for data, is_trusted in read:
            found, places = self._encoder().encode_with_offsets(data, unit == "characters", not is_trusted)
            ids += found
            spans += [(begin + start, begin + end) for start, end in places]
            begin += len(data.decode("utf-8", "replace")) if unit == "characters" else len(data)
        return ids, spans

    def __call__(
        self,
        text: Union[str, Sequence[str]],
        *,
        add_special_tokens: bool = True,
        special_tokens_as_text: Union[bool, None] = None,
        return_offsets_mapping: bool = False,
        **others: Any,
    ) -> Encoded:
        """Encodes a text, or several, like a tokenizer of ``transformers``: into ``input_ids`` and ``attention_mask``.

        As there, special tokens such as bos are put around a text. ``return_offsets_mapping`` adds ``offset_mapping``, with
        offsets in characters. Raises BpeError for padding, truncation and pairs of texts.
        """
        for name, value in others.items():
            if name not in _OF_TRANSFORMERS:
                raise TypeError(f"a Tokenizer has no parameter {name!r} when it is called")
            if value or (name == "max_length" and value is not None):
                raise BpeError(f"{name}={value!r} is not supported: {_BY_TRANSFORMERS}")
        texts = [text] if isinstance(text, str) else _list_of(text, "text", "a string or a list of strings")
        given: dict[str, Any] = {
            "add_special_tokens": add_special_tokens,
            "special_tokens_as_text": special_tokens_as_text,
        }
        batch: dict[str, Any] = {}
        if return_offsets_mapping:
            both = [self.encode_with_offsets(each, **given) for each in texts]
            batch["input_ids"] = [ids for ids, _ in both]
            batch["offset_mapping"] = [spans for _, spans in both]
        else:
            batch["input_ids"] = self.encode_batch(texts, **given)
        batch["attention_mask"] = [[1] * len(ids) for ids in batch["input_ids"]]
        return Encoded({name: values[0] for name, values in batch.items()} if isinstance(text, str) else batch)

    def _surrounding_ids(self, is_wanted: bool) -> tuple[list[int], list[int]]:
        """Returns the ids that tokenizer.json puts before and after a text."""
        if not is_wanted:
            return [], []
        around = self._loaded().facts["around"]
        if isinstance(around, str):
            raise BpeError(f"special tokens cannot be added: {around}")
        return around["before"], around["after"]

    def encode_iterable(self, texts: Iterable[str]) -> Iterator[int]:
        """Yields the ids of a text that comes in parts, such as the lines of an open file. Each part is encoded separately.

        A part is read only when its ids are requested.
        """
        import itertools

        refuse_no_list("texts", texts, "an iterable of strings")
        encode = self._encoder().encode
        return itertools.chain.from_iterable(encode(text, None) for text in texts)

    def encode_file(
        self,
        files: Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]],
        *,
        append_token: Union[str, None] = None,
        workers: Union[int, None] = None,
    ) -> "numpy.ndarray[Any, Any]":
        """Returns the ids of files, one after the other, as a numpy array: uint16 if every id fits, otherwise uint32."""
        arrays = _numpy()
        ids: "numpy.ndarray[Any, Any]"
        several = [files] if isinstance(files, (str, bytes, os.PathLike)) else files
        refuse_no_list("files", several, "a path or a list of paths")
        paths = [path_of("files", path) for path in several]
        if not paths:
            raise ValueError("files is empty: name at least one file")
        if append_token is not None:
            text_of("append_token", append_token)
        if workers is not None:
            workers = whole_number("workers", workers, 1)
        of_plain = self._ids_of_plain(paths, append_token, workers)
        if of_plain is not None:
            data, _, size = of_plain
            ids = arrays.frombuffer(data, dtype=f"u{size}")
            return ids
        try:
            with self._place() as place, Home() as home:
                output = os.path.join(home, "ids.npy")
                arguments = ["encode", f"--tokenizer={place}", f"--output={output}", "--quiet", *self._source.encoding_options]
                arguments += [] if append_token is None else [f"--append-token={append_token}"]
                arguments += [] if workers is None else [f"--workers={workers}"]
                Run([*arguments, "--", *paths]).finish()
                ids = arrays.load(output)
        except BpeError as error:
            raise BpeError(_without_command(str(error), paths)) from None
        return ids

    def _ids_of_plain(
        self, paths: Sequence[str], append_token: Union[str, None], workers: Union[int, None]
    ) -> "tuple[bytearray, bytearray, int] | None":
        """Returns the ids of files of plain text, encoded in this process; None if the executable must encode them."""
        from ._files import Reading, Unfit

        with self._place():
            model = self._encoder()
            end_id = -1 if append_token is None else self.special_tokens.get(append_token)
            if end_id is None:
                return None
            try:
                reading = Reading(paths, end_id)
                wanted = _threads_for(workers, reading.size)
                reading.batch = model.file(reading.size, wanted)
                _in_threads(reading.work, wanted, reading.batch.stop)
                reading.batch.check()
            except (Unfit, OSError):
                return None
        ids: "tuple[bytearray, bytearray, int]" = reading.batch.arrays()
        return ids

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False, errors: str = "replace") -> str:
        """Returns the text of ids. ``errors`` says what to do with bytes that are not UTF-8, as in ``bytes.decode``."""
        if skip_special_tokens:
            ids = self._without_special(ids)
        data = self.decode_bytes(ids)
        if len(data) < _DECODED_BYTES or errors not in ("replace", "ignore"):
            return data.decode("utf-8", errors)
        # Decode in pieces, because signals are not handled during a long call.
        import codecs

        pieces = (data[at : at + _DECODED_BYTES] for at in range(0, len(data), _DECODED_BYTES))
        return "".join(codecs.iterdecode(pieces, "utf-8", errors))

    def _without_special(self, ids: Sequence[int]) -> list[int]:
        """Returns the ids without those of special tokens."""
        special = set(self._loaded().facts["specialTokens"].values())
        refuse_no_list("ids", ids, "a list of ids")
        try:
            return [id for id in ids if index(id) not in special]
        except TypeError as error:
            raise TypeError(f"ids must be whole numbers: {error}") from None

    def decode_with_offsets(self, ids: Sequence[int]) -> tuple[str, list[int]]:
        """Returns the text, and for each token the index of the character in which it starts, as in ``tiktoken``.

        Raises UnicodeDecodeError for bytes that are not UTF-8.
        """
        refuse_no_list("ids", ids, "a list of ids")
        tokens = self.decode_tokens_bytes([whole_number("ids", id) for id in ids])
        end, offsets = 0, []
        for token in tokens:
            offsets.append(max(0, end - (token[0] & 0xC0 == 0x80)))
            end += sum(byte & 0xC0 != 0x80 for byte in token)
        return b"".join(tokens).decode("utf-8"), offsets

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """Returns the bytes of ids. Raises BpeError for an id without a token."""
        image = self._loaded()
        if not image.leaves_out_spaces:
            return self._join_bytes(ids)
        refuse_no_list("ids", ids, "a list of ids")
        given = list(ids)
        data = self._join_bytes(given)
        return data[image.leading_bytes(index(given[0]), data) :] if given else data

    def _join_bytes(self, ids: Sequence[int]) -> bytes:
        """Returns the bytes of the tokens of ids, end to end."""
        refuse_no_list("ids", ids, "a list of ids")
        try:
            data: bytes = self._encoder().decode(ids)
        except TypeError as error:
            raise TypeError(f"ids must be whole numbers: {error}") from None
        return data

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, skip_special_tokens: bool = False, errors: str = "replace"
    ) -> list[str]:
        """Returns the text of each list of ids."""
        refuse_no_list("batch", batch, "a list of lists of ids")
        return [self.decode(ids, skip_special_tokens=skip_special_tokens, errors=errors) for ids in batch]

    def decode_batch_bytes(self, batch: Sequence[Sequence[int]]) -> list[bytes]:
        """Returns the bytes of each list of ids."""
        refuse_no_list("batch", batch, "a list of lists of ids")
        return [self.decode_bytes(ids) for ids in batch]

    batch_decode, decode_bytes_batch = decode_batch, decode_batch_bytes

    def is_canonical(self, ids: Sequence[int], *, special_tokens_as_text: Union[bool, None] = None) -> bool:
        """Whether encoding the text of ids gives the same ids. A language model may sample ids for which this is false."""
        return self.first_noncanonical(ids, special_tokens_as_text=special_tokens_as_text) is None

    def first_noncanonical(self, ids: Sequence[int], *, special_tokens_as_text: Union[bool, None] = None) -> Union[int, None]:
        """Returns the index of the first difference between the ids and those that encoding their text gives; None if there is none."""
        canonical = self._encode(self.decode_bytes(ids), special_tokens_as_text)
        spans = self._recoded_spans(ids, canonical, False)
        return spans[0][0] if spans else None

    def recode(self, ids: Sequence[int], *, special_tokens_as_text: Union[bool, None] = None) -> tuple[list[int], RecodedSpans]:
        """Returns the canonical ids, and where ``ids`` differ: ids ``[start, end)`` became ``[canonical_start, canonical_end)``."""
        data = self.decode_bytes(ids)
        canonical = self._encode(data, special_tokens_as_text)
        return canonical, self._recoded_spans(ids, canonical, self.decode_bytes(canonical) == data)

    def _recoded_spans(self, ids: Sequence[int], canonical: list[int], is_same_text: bool) -> RecodedSpans:
        from array import array

        given, others = array("I", ids).tobytes(), array("I", canonical).tobytes()
        spans: RecodedSpans = self._encoder().recoded_spans(given, others, is_same_text)
        return spans

    def _place(self) -> ContextManager[str]:
        """Returns a context with the path of the tokenizer's files."""
        self._refuse_closed()
        return self._source.place()

    def to_str(self) -> str:
        """Returns the content of its tokenizer.json, or of a new one. Raises BpeError if that cannot hold the tokenizer."""
        return self._file("huggingface", "tokenizer.json").decode("utf-8")

    def _file(self, format: str, name: str) -> bytes:
        """Returns a file as `bpe convert` writes it, or the existing tokenizer.json, if that alone gives the same tokenizer."""
        with self._place() as path:
            if format == "huggingface":
                own = os.path.join(path, name) if os.path.isdir(path) else path
                text = _tokenizer_json(own)
                if text is not None and Tokenizer.from_str(text)._loaded().is_same(self._loaded()):
                    return text.encode("utf-8")
        return dict(self._converted(f"--format={format}"))[f"tokenizer/{name}"]

    def _converted(self, *options: str) -> Files:
        """Returns the files that `bpe convert` writes for this tokenizer."""
        with self._place() as path, Home() as home:
            output = os.path.join(home, "tokenizer")
            arguments = ["convert", "--quiet", f"--output={output}", *options, *self._source.options, "--", path]
            Run(arguments, answers=True).finish()
            return files_below(home)

    def save(self, directory: Union[str, "os.PathLike[str]"], *, image: bool = False) -> None:
        """Writes the tokenizer's files into a directory, completely or not at all; or one file, if the name ends like one.

        One file may be x.json (HF's tokenizer.json), x.tiktoken, x.gguf or tekken.json. Raises BpeError if this format cannot
        hold the tokenizer, and if an existing file of this name is not a tokenizer. A rank file (x.tiktoken) states neither
        pattern nor special tokens, so `load` must be given these.

        A directory may be absent or empty, or the result of an earlier training, which is replaced. Raises BpeError for
        anything else. Also raises it if the files do not hold the whole tokenizer, because a pattern or special tokens were
        given to ``load``, or because the path named one file of several. With ``image``, the image that `load` would make is
        written next to the files, so that loading runs no other program. It is used as long as the files have not changed.
        """
        name = path_of("directory", directory)
        if not name:
            raise ValueError("directory is empty: name a directory or a file")
        format = None if os.path.isdir(name) else _format_of(name)
        if format is not None:
            if image:
                raise ValueError("image=True needs a directory: the image is written next to the tokenizer's files")
            _refuse_another(name, format[2])
            _replace(name, self._file(*format[:2]))
            return
        with self._place() as path:
            place = os.path.join(os.getcwdb(), os.fsencode(name))
            arguments = ["convert", "--copy", "--quiet", f"--output={os.fsdecode(place)}", *self._source.options, "--", path]
            Run(arguments, answers=True).finish()
        if image:
            save_image(os.fsdecode(place))

    save_pretrained = save

    def extend(
        self,
        files: Union[t.PathLike, Sequence[t.PathLike], t.Texts, None] = None,
        vocab_size: Union[int, str, Sequence[int], None] = None,
        **options: Any,
    ) -> "Tokenizer":
        """Returns a new tokenizer with more tokens. The tokens of this one keep their ids.

        ``special_tokens=[...]``, ``seed_tokens=[...]`` and ``rename={old: new}`` need no text. With ``files`` or ``texts``,
        and a ``vocab_size`` such as "+8000", tokens are also learned. All other parameters are those of `train`.
        """
        from ._options import train

        if self._source.options:
            raise BpeError("the pattern or special tokens given to load are not in its files: pass them to bpe.train(extend=PATH, pattern=...)")
        with self._place() as path:
            return train(files, vocab_size, extend=path, **options)

    def to_hf(self) -> "tokenizers.Tokenizer":
        """Returns the same tokenizer for HF's package ``tokenizers``. Raises BpeError if it has no tokenizer.json."""
        import tokenizers

        with self._place() as place:
            path = os.path.join(place, "tokenizer.json") if os.path.isdir(place) else place
            if path.endswith(".json") and os.path.isfile(path):
                return tokenizers.Tokenizer.from_file(path)
        raise BpeError(f'"{self._path}" has no tokenizer.json\nhint: make one with bpe.convert(path, output=DIRECTORY), and load that')

    def to_tiktoken(self) -> "tiktoken.Encoding":
        """Returns the same tokenizer for OpenAI's package ``tiktoken``. Raises BpeError if tiktoken cannot express it."""
        import tiktoken

        if not self._loaded().has_plain_sections:
            raise BpeError("tiktoken cannot reproduce this tokenizer, which normalizes or strips text")
        special = self.special_tokens
        made = tiktoken.Encoding(
            name=os.path.basename(os.path.abspath(self._path)),
            pat_str=self.pattern,
            mergeable_ranks=self.ranks(),
            special_tokens=special,
        )
        # tiktoken takes the first special token that fits, not always the longest, so a token that begins with another
        # may not be found.
        for text, id in special.items():
            if made.encode(text, allowed_special="all") != [id]:
                shorter = next(other for other in special if other != text and text.startswith(other))
                raise BpeError(
                    f'tiktoken would find the special token "{shorter}" where "{text}" occurs, because it does not prefer the longest match'
                )
        return made

    def __copy__(self) -> "Tokenizer":
        """Returns another object for the same files, which is closed separately."""
        self._refuse_closed()
        copied = Tokenizer._of(copy(self._source))
        if self._image is not None:
            copied._take(self._image)
        return copied

    def __deepcopy__(self, _: object) -> "Tokenizer":
        return self.__copy__()

    def __reduce__(self) -> "tuple[Any, ...]":
        self._refuse_closed()
        if self._source.has_place:
            self._loaded()
        return Tokenizer._unpickled, self._source.pickled()

    def close(self) -> None:
        """Frees its memory, as the garbage collector also does. Every later call that needs the tokenizer raises BpeError."""
        self._is_closed = True
        self._image = None
        self.__dict__.pop("_encode", None)
        self._source.home = None

    def __enter__(self) -> "Tokenizer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._is_closed:
            return "<bpe_trainer.Tokenizer, closed>"
        place = f' "{self._path}"' if self._source.has_place else ""
        try:
            facts = self._loaded().facts
        except (BpeError, OSError):
            return f"<bpe_trainer.Tokenizer{place}, not loaded>"
        tokens, special = facts["tokenCount"], len(facts["specialTokens"])
        return f"<bpe_trainer.Tokenizer{place} of {tokens:,} tokens, {special:,} of them special>"


def _special_set(name: str, given: Special, special: Mapping[str, int]) -> set[str]:
    if isinstance(given, str) and given == "all":
        return set(special)
    if isinstance(given, (str, bytes)):
        raise TypeError(f'{name} is a string: give "all", or a set, as in {{{given!r}}}')
    texts = list(given) if is_iterable(given) else refuse(name, '"all" or a set of strings', given)
    refuse_text(name, texts)
    return set(texts)


def _pair_surrogates(text: Any) -> Any:
    """Replaces surrogates in a text as ``tiktoken`` does: a pair by its character, half of a pair by U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    except AttributeError:
        pass  # Not a string: the encoder takes bytes, and refuses anything else.
    return text


def _expression_for(texts: Iterable[str]) -> Any:
    """Returns a regular expression that finds any of the texts; where several of them begin, it finds the longest."""
    import re

    return re.compile(f"({'|'.join(map(re.escape, sorted(texts, key=len, reverse=True)))})")


def _loading_options(pattern: Union[str, None], special_tokens: Union[Mapping[str, int], None]) -> list[str]:
    """Returns the options of `bpe` for a pattern and special tokens that the files lack."""
    options = [] if pattern is None else [f"--pattern={text_of('pattern', pattern)}"]
    for text, id in [] if special_tokens is None else items_of("special_tokens", "a dict of ids by text", special_tokens):
        text_of("special_tokens: a text", text)
        options.append(f"--special-token={text}={whole_number(f'special_tokens: the id of {text!r}', id, 0)}")
    return options


def _refuse_another(path: str, head: bytes) -> None:
    """Refuses to replace a file that is not a tokenizer, such as a text or a data set."""
    import re

    try:
        refuse_irregular(path, os.stat(path))
        with open(path, "rb") as file:
            beginning = file.read(4096)
    except FileNotFoundError:
        if not os.path.lexists(path):
            return
        beginning = b"-"
    if beginning and not re.match(head, beginning):
        raise BpeError(f'"{path}" exists, but is not a tokenizer file of this format, so it is not replaced\nhint: remove it, or name another file')


def _format_of(path: str) -> "tuple[str, str, bytes] | None":
    """Returns how to write a file of this name; None if the name is for a directory. Refuses names of files that cannot be written."""
    name = os.path.basename(path)
    if name in ("vocab.json", "merges.txt"):
        raise BpeError(f'"{name}" is not a whole tokenizer: it takes vocab.json and merges.txt\nhint: save(DIRECTORY) writes both')
    if name == "tekken.json":
        return _TEKKEN
    ending = os.path.splitext(name)[1].lower()
    if ending in (".txt", ".model", ".vocab", ".bin", ".pkl", ".pickle", ".image") and not os.path.lexists(path):
        raise BpeError(f'"{name}": files with this ending cannot be written\nhint: save("x.json") writes one file, save(DIRECTORY) all')
    return _FORMATS.get(ending)


def _tokenizer_json(path: str) -> Union[str, None]:
    """Returns the content of a file, if it is a tokenizer.json of HF."""
    import json

    try:
        refuse_irregular(path, os.stat(path))
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        root = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    return text if isinstance(root, dict) and isinstance(root.get("model"), dict) else None


def _replace(path: str, data: bytes) -> None:
    """Writes a file completely, or leaves the old one unchanged."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    new = f"{path}.{os.getpid()}-{get_ident()}.new"
    try:
        with open(new, "xb") as file:
            file.write(data)
        os.replace(new, path)
    except BaseException:
        if os.path.exists(new):
            os.remove(new)
        raise


def _encode_texts(model: Any, texts: Sequence[str], as_text: Union[bool, None], wants_lists: bool, threads: Union[int, None]) -> Any:
    """Encodes texts as a batch of the native module, in this thread and others. Returns the batch."""
    try:
        characters = sum(map(len, texts)) if threads != 1 else 0
    except TypeError:
        characters = 0  # The module reports the mistake.
    wanted = _threads_for(threads, characters)
    batch = model.batch(texts, as_text, wants_lists, wanted)

    def work(may_continue: Callable[[], bool]) -> None:
        while may_continue() and batch.work():
            pass

    _in_threads(work, wanted, batch.stop)
    batch.check()
    return batch


def _threads_for(threads: Union[int, None], characters: int) -> int:
    return min(threads or _cores(), _THREADS_MAX, max(1, characters // _CHARACTERS_PER_THREAD))


def _in_threads(share: Callable[[Callable[[], bool]], None], wanted: int, stop: Callable[[], None]) -> None:
    """Runs ``share`` in this thread and others.

    ``share`` gets a function that says whether to continue: false once a thread has failed. ``stop`` makes all threads
    end soon. If a thread cannot start, for want of memory, the others do its work.
    """
    #: Preallocated for the first error raised, so that storing it takes no memory.
    errors: list[Union[BaseException, None]] = [None]

    def work() -> None:
        try:
            share(lambda: errors[0] is None)
        except BaseException as error:
            errors[0] = errors[0] or error

    try:
        others = [in_thread(work) for _ in range(wanted - 1)]
        work()
        for other in others:
            await_end(other)
    except BaseException:
        # After an exception here, such as that of Ctrl-C, the other threads have to stop soon.
        errors[0] = errors[0] or BpeError("stopped")
        stop()
        raise
    error = errors.pop()
    try:
        if error is not None:
            raise error
    finally:
        del error  # Otherwise the error and its frames would be a cycle, left to the garbage collector.


def _numpy() -> Any:
    """Imports numpy, without letting Ctrl-C interrupt that: after an interrupted import, numpy cannot be imported again."""
    try:
        if "numpy" not in sys.modules:
            import threading  # noqa: F401  threading regards the thread that imports it first as the main thread.

            _without_interrupts(lambda: import_module("numpy"))
        import numpy
    except ModuleNotFoundError:
        raise BpeError("encode_file and as_array need numpy\nhint: pip install numpy") from None
    return numpy


def _cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _list_of(texts: Iterable[str], name: str = "texts", wanted: str = "a list of strings") -> Sequence[str]:
    """Returns the texts as a list or tuple, which can be iterated over twice."""
    refuse_no_list(name, texts, wanted)
    return texts if isinstance(texts, (list, tuple)) else list(texts)


def _without_command(message: str, paths: Sequence[str]) -> str:
    """Returns a message of `bpe encode` without hints that are command lines, because the caller typed none.

    If a path does not exist, adds a hint for a caller who meant a text.
    """
    lines = [line for line in message.split("\n") if not (line.startswith("hint: ") and "bpe " in line)]
    if not all(map(os.path.lexists, paths)):
        lines.append("hint: a string is the path of a file here; encode(text) encodes a text")
    return "\n".join(lines)
