"""The image of a tokenizer: what the executable makes of its files, and the native module encodes with.

src/tokenizer/image.ts says what is in it. Only the executable reads the files of tokenizers.
"""

from __future__ import annotations

import os
import struct
from typing import Any, Mapping, Sequence, Union

from ._characters import character_of
from ._executable import BpeError, Run

#: What a directory of a tokenizer calls its image, if it has one.
IMAGE_NAME = "tokenizer.image"
_HEAD = struct.Struct("<8s2I16s6I22I")
_VERSION = 1
_FACTS, _STARTS, _TOKENS, _TEXTS = range(4)


class Image:
    """An image, and what it says of its tokenizer."""

    def __init__(self, data: bytes) -> None:
        import json

        fields = _HEAD.unpack_from(data) if len(data) >= _HEAD.size else (b"", 0)
        if fields[:2] != (b"bpeimage", _VERSION):
            raise BpeError("this is no image of a tokenizer, or one of another version of bpe")
        self.data = data
        self._parts = fields[10:]
        self.facts: dict[str, Any] = json.loads(self._part(_FACTS))
        self._vocabulary: Union[Vocabulary, None] = None
        self._model: Any = None

    def native_model(self) -> Any:
        """What encodes with it in this process; None where there is no native module, or it is one of another version."""
        from importlib import import_module

        if self._model is None:
            try:
                self._model = import_module("bpe_trainer._native").Model(self.data, BpeError)
            except (ImportError, BpeError):
                return None
        return self._model

    def _part(self, which: int) -> bytes:
        start, size = self._parts[2 * which : 2 * which + 2]
        return self.data[start : start + size]

    @property
    def vocabulary(self) -> "Vocabulary":
        if self._vocabulary is None:
            starts, texts = (
                struct.unpack(f"<{len(part) // 4}I", part) for part in (self._part(_STARTS), self._part(_TEXTS))
            )
            self._vocabulary = Vocabulary(starts, texts, self._part(_TOKENS), self.facts["nameObstacle"])
        return self._vocabulary

    def stands_for(self, directory: str) -> bool:
        """Whether all files that decide what is loaded are those that it was made of."""
        import hashlib

        made_of = self.facts["madeOf"]
        if made_of is None:
            return False
        for name, digest in made_of.items():
            try:
                with open(os.path.join(directory, name), "rb") as file:
                    found = hashlib.sha256(file.read()).hexdigest()
            except (FileNotFoundError, IsADirectoryError):
                found = None
            if found != digest:
                return False
        return True


def image_at(path: str, options: Sequence[str]) -> Image:
    """The image of the tokenizer at a path: the one that lies beside its files, where it stands for them, or a new one."""
    return (_kept_image(path) if not options else None) or _made_image(path, options)


def _kept_image(directory: str) -> Union[Image, None]:
    """That beside the files; where it is damaged, another version's or other files', there is none."""
    try:
        with open(os.path.join(directory, IMAGE_NAME), "rb") as file:
            image = Image(file.read())
        return image if image.native_model() is not None and image.stands_for(directory) else None
    except (OSError, BpeError, ValueError, KeyError):
        return None


def save_image(directory: str) -> None:
    """Puts the image of the tokenizer in a directory beside its files."""
    _run_image([f"--output={os.path.join(directory, IMAGE_NAME)}", "--", directory])


def _made_image(path: str, options: Sequence[str]) -> Image:
    return Image(_run_image(["--output=-", *options, "--", path]))


def _run_image(arguments: Sequence[str]) -> bytes:
    """What `bpe image` writes to stdout."""
    return Run(["image", "--quiet", *arguments], answers=True).finish()


class Vocabulary:
    """The table of tokens."""

    def __init__(
        self, starts: Sequence[int], text_ids: Sequence[int], tokens: bytes, obstacle: Union[str, None]
    ) -> None:
        self._starts, self._tokens, self._text_ids, self._obstacle = starts, tokens, set(text_ids), obstacle
        self._characters: Union[str, None] = None
        self._ids: Union[dict[str, int], None] = None

    def bytes_of(self, id: int) -> bytes:
        """Empty where no token has the id."""
        return self._tokens[self._starts[id] : self._starts[id + 1]] if 0 <= id < len(self._starts) - 1 else b""

    def spelled(self, id: int) -> Union[str, None]:
        """The token as HF spells it."""
        if self._obstacle is not None:
            raise BpeError(self._obstacle)
        token = self.bytes_of(id)
        if not token:
            return None
        if id in self._text_ids:
            return token.decode("utf-8")
        if self._characters is None:
            # A character for each byte.
            self._characters = self._tokens.decode("latin-1").translate(character_of)
        return self._characters[self._starts[id] : self._starts[id + 1]]

    @property
    def ids(self) -> Mapping[str, int]:
        if self._ids is None:
            ids: dict[str, int] = {}
            for id in range(len(self._starts) - 1):
                token = self.spelled(id)
                if token is not None and ids.setdefault(token, id) != id:
                    raise BpeError(f"the tokens {ids[token]} and {id} are both spelled {token!r}, so their names are not unique")
            self._ids = ids
        return self._ids

    def decode(self, ids: Sequence[int]) -> bytes:
        """As the native module decodes."""
        from operator import index

        tokens = []
        for position, id in enumerate(map(index, ids)):
            token = self.bytes_of(id)
            if not token:
                raise BpeError(
                    f"id {id} at position {position} stands for no token\n"
                    f"hint: the tokenizer's ids end at {len(self._starts) - 2}; these may be ids of another tokenizer"
                )
            tokens.append(token)
        return b"".join(tokens)
