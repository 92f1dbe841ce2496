"""The image of a tokenizer: one file that the executable makes from the tokenizer's files, and that the native module uses.

src/tokenizer/image.ts documents its layout.
"""

from __future__ import annotations

import os
import stat
import struct
from typing import Any, Iterator, Mapping, Sequence, Union

from ._characters import character_of
from ._executable import BpeError, Run
from ._options import FILES

#: The file name of the image in the directory of a tokenizer.
IMAGE_NAME = "tokenizer.image"
#: The size limit of an image, and of the files that it is made of.
_BYTES_MAX = (1 << 32) - 1
_CHUNK_BYTES = 1 << 20
#: Flags for opening a path that may be a pipe or a terminal: do not wait for a writer of the pipe, and do not make
#: the terminal the controlling one.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_HEAD = struct.Struct("<8s2I16s6I18I")
_VERSION = 8
_FACTS, _STARTS, _TOKENS, _TEXTS, _SETTINGS = 0, 1, 2, 3, 8
#: Bits of the flags of an image.
_HAS_PLAIN_SECTIONS, _LEAVES_OUT_SPACE, _LEAVES_OUT_SPACES = 128, 512, 1024


class Image:
    """An image of a tokenizer: `facts` is what it says about the tokenizer, and `model` is the native module's object that
    encodes."""

    def __init__(self, data: bytes, as_text: bool) -> None:
        """``as_text``: whether special tokens in a text are plain text by default. Raises BpeError for data that is no image."""
        import json

        fields = _HEAD.unpack_from(data) if len(data) >= _HEAD.size else (b"", 0)
        if fields[:2] != (b"bpeimage", _VERSION):
            raise BpeError("this is not a tokenizer image, or it was made by another version of bpe")
        self.data = data
        self._flags, self._parts = fields[4:10], fields[10:]
        self.facts: dict[str, Any] = json.loads(self._part(_FACTS).decode("utf-8"))
        self._vocabulary: Union[Vocabulary, None] = None
        self.model: Any = _native_module().Model(data, BpeError, as_text)

    def _part(self, which: int) -> bytes:
        start, size = self._parts[2 * which : 2 * which + 2]
        return self.data[start : start + size]

    @property
    def vocabulary(self) -> "Vocabulary":
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.facts, *map(self._part, (_STARTS, _TEXTS, _TOKENS)))
        return self._vocabulary

    @property
    def has_plain_sections(self) -> bool:
        """Whether each text between added tokens is encoded independently, and added tokens are matched verbatim."""
        return bool(self._flags[0] & _HAS_PLAIN_SECTIONS)

    @property
    def leaves_out_spaces(self) -> bool:
        """Whether decoding removes spaces from the start of a text."""
        return bool(self._flags[0] & (_LEAVES_OUT_SPACE | _LEAVES_OUT_SPACES))

    def leading_bytes(self, first_id: int, data: bytes) -> int:
        """Returns how many bytes decoding removes from the start of `data`, the joined bytes of a list of ids that begins
        with `first_id`. Call it only if `leaves_out_spaces`."""
        if self._flags[0] & _LEAVES_OUT_SPACE:
            return int(data[:1] == b" ")
        if self.vocabulary.is_added(first_id):
            return 0
        token = self.vocabulary.bytes_of(first_id)
        return len(token) - len(token.lstrip(b" "))

    def is_same(self, other: "Image") -> bool:
        """Whether the two tokenizers encode and decode alike. Other settings of their files may differ."""
        names = ("specialTokens", "addedTokens", "around")
        return (
            all(self.facts[name] == other.facts[name] for name in names)
            and self._flags == other._flags
            and all(self._part(i) == other._part(i) for i in range(_STARTS, _SETTINGS))
        )

    def is_of(self, directory: str) -> bool:
        """Whether the image was made from the files in the directory. Ignores files that do not affect the tokenizer.

        The image may be forged, so it determines only the expected digests, never which files are read.
        """
        made_of = self.facts["madeOf"]
        if not isinstance(made_of, dict) or made_of.keys() != {*FILES}:
            return False
        return all(_digest(os.path.join(directory, name)) == made_of[name] for name in FILES)

    @property
    def has_whole_facts(self) -> bool:
        """Whether its facts have the types that `bpe image` writes, and ids that exist. A forged image may have others.

        May raise an error instead of returning False.
        """
        limit = (len(self._part(_STARTS)) >> 2) - 1

        def are_ids(values: Any) -> bool:
            return all(type(id) is int and 0 <= id < limit for id in values)

        def are_texts(values: Any) -> bool:
            # JSON may contain halves of surrogate pairs, for which `encode` raises an error.
            return all(isinstance(text, str) and text.encode("utf-8") is not None for text in values)

        facts = self.facts
        maps = [facts[name] for name in ("specialTokens", "addedTokens", "roles")]
        obstacles = [facts[name] for name in ("offsetObstacle", "trimObstacle", "nameObstacle")]
        around = facts["around"]
        return (
            all(isinstance(each, dict) and are_texts(each) for each in maps)
            and are_ids([*maps[0].values(), *maps[1].values()])
            and are_texts([*maps[2].values(), *(each for each in obstacles if each is not None), facts["fingerprint"]])
            and (are_texts([around]) if isinstance(around, str) else are_ids([*around["before"], *around["after"]]))
            and facts["idLimit"] == limit
            and all(len(self._part(part)) % 4 == 0 for part in (_STARTS, _TEXTS))
            and type(facts["tokenCount"]) is int
            and 0 <= facts["tokenCount"] <= limit
            and isinstance(facts["hasAllBytes"], bool)
        )


def _native_module() -> Any:
    from importlib import import_module

    try:
        return import_module("bpe_trainer._native")
    except ImportError as error:
        import sys
        import sysconfig

        python = f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}"
        raise ImportError(
            f"bpe_trainer cannot load its native module, which encodes text, in {python} on {sysconfig.get_platform()}: {error}\n"
            "hint: wheels for CPython 3.10 and later include it; in a checkout, build it with npm run build:native",
            name="bpe_trainer._native",
        ) from None


def image_at(path: str, options: Sequence[str], as_text: bool) -> Image:
    """Returns the image of the tokenizer at a path. Without options, that is the image next to its files, if there is one that
    `_saved_image` accepts. Otherwise it is a new one."""
    saved = None if options else _saved_image(path, as_text)
    return saved or Image(Run(["image", "--quiet", "--output=-", *options, "--", path], answers=True).finish(), as_text)


def _saved_image(directory: str, as_text: bool = False) -> Union[Image, None]:
    """Returns the image next to the files; None if there is none, or if it cannot be read, is damaged, is of another version or
    was made from other files."""
    try:
        image = Image(b"".join(_chunks(os.path.join(directory, IMAGE_NAME))), as_text)
        is_usable = image.has_whole_facts and image.is_of(directory)
    except (OSError, BpeError, ValueError, TypeError, LookupError, RecursionError, MemoryError):
        return None
    return image if is_usable else None


def _digest(path: str) -> Union[str, None]:
    """Returns the SHA-256 of a file, as `bpe image` records it: None if there is no regular file."""
    import hashlib

    digest = hashlib.sha256()
    try:
        for chunk in _chunks(path):
            digest.update(chunk)
    except FileNotFoundError:
        return None
    return digest.hexdigest()


def _chunks(path: str) -> Iterator[bytes]:
    """Yields the content of a regular file. Refuses others: a pipe could keep its reader waiting, and a device has no end."""
    # Check before opening, because opening some devices has side effects.
    refuse_irregular(path, os.stat(path))
    with open(path, "rb", 0, opener=lambda path, flags: os.open(path, flags | _AT_ONCE)) as file:
        refuse_irregular(path, os.fstat(file.fileno()))
        size = 0
        while chunk := file.read(_CHUNK_BYTES):
            size += len(chunk)
            yield chunk
            if size > _BYTES_MAX:
                raise BpeError(f'"{path}" has more than {_BYTES_MAX} bytes, the limit for a tokenizer')


def refuse_irregular(path: str, stats: os.stat_result) -> None:
    if not stat.S_ISREG(stats.st_mode):
        raise FileNotFoundError(f'"{path}" is not a regular file')
    if stats.st_size > _BYTES_MAX:
        raise BpeError(f'"{path}" has more than {_BYTES_MAX} bytes, the limit for a tokenizer')


def save_image(directory: str) -> None:
    """Writes the image of the tokenizer in a directory next to its files."""
    Run(["image", "--quiet", f"--output={os.path.join(directory, IMAGE_NAME)}", "--", directory], answers=True).finish()


class Vocabulary:
    """The tokens of a tokenizer, by id, by spelling and by bytes."""

    def __init__(self, facts: Mapping[str, Any], starts: bytes, text_ids: bytes, tokens: bytes) -> None:
        """If an added token shares its id with a learned token, ``tokens`` has the learned one."""
        self._starts: Sequence[int] = struct.unpack(f"<{len(starts) // 4}I", starts)
        self._text_ids = set(struct.unpack(f"<{len(text_ids) // 4}I", text_ids))
        self._tokens, self._obstacle = tokens, facts["nameObstacle"]
        self._added: Mapping[int, str] = {id: text for name in ("addedTokens", "specialTokens") for text, id in facts[name].items()}
        self._characters: Union[str, None] = None
        self._ids: Union[dict[str, int], None] = None
        self._by_bytes: Union[dict[bytes, int], None] = None

    def is_added(self, id: int) -> bool:
        return id in self._added

    def bytes_of(self, id: int) -> bytes:
        """Returns the bytes of a token; empty if no token has the id."""
        return self._tokens[self._starts[id] : self._starts[id + 1]] if 0 <= id < len(self._starts) - 1 else b""

    def spell(self, id: int) -> Union[str, None]:
        """Returns the token as HF spells it; None if no token has the id.

        Raises BpeError if the tokens cannot be looked up by name.
        """
        if self._obstacle is not None:
            raise BpeError(self._obstacle)
        token = self.bytes_of(id)
        if not token:
            return None
        if id in self._added:
            return self._added[id]
        if id in self._text_ids:
            return token.decode("utf-8", "replace")
        if self._characters is None:
            # One character for each byte, so that `_starts` also applies to `_characters`.
            self._characters = self._tokens.decode("latin-1").translate(character_of)
        return self._characters[self._starts[id] : self._starts[id + 1]]

    @property
    def ids(self) -> Mapping[str, int]:
        if self._ids is None:
            ids: dict[str, int] = {}
            for id in range(len(self._starts) - 1):
                token = self.spell(id)
                if token is not None and ids.setdefault(token, id) != id:
                    raise BpeError(f"the tokens with the ids {ids[token]} and {id} are both spelled {token!r}, so a name does not identify a token")
            self._ids = ids
        return self._ids

    @property
    def by_bytes(self) -> Mapping[bytes, int]:
        """The ids of tokens by their bytes. Of several tokens with the same bytes, prefers one that is not added."""
        if self._by_bytes is None:
            ids = sorted(range(len(self._starts) - 1), key=lambda id: id in self._added)
            found: dict[bytes, int] = {}
            for id in ids:
                found.setdefault(self.bytes_of(id), id)
            found.pop(b"", None)
            self._by_bytes = found
        return self._by_bytes
