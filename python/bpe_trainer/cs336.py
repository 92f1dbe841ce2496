"""What the adapters of Stanford CS336's first assignment call.

    from bpe_trainer.cs336 import get_tokenizer, run_train_bpe
"""

from __future__ import annotations

import json
import os
from operator import index
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Sequence, Union

from ._characters import byte_of, character_of
from ._executable import BpeError, Home
from ._source import Source
from ._tokenizer import Tokenizer
from ._options import train
from ._training import refuse_text

#: The assignment's pattern, which is GPT-2's.
_PATTERN = "gpt2"


def run_train_bpe(
    input_path: Union[str, "os.PathLike[str]"],
    vocab_size: int,
    special_tokens: Sequence[str],
    **_: Any,
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Trains on a file: ``vocab``, the bytes of each id, and ``merges``, in the order in which they were made."""
    with train(input_path, vocab_size, special_tokens=special_tokens, pattern=_PATTERN, compat="cs336") as tokenizer:
        # The first line is a header, and nothing is behind the end of the last one.
        lines = Path(tokenizer._path, "merges.txt").read_text("utf-8").split("\n")[1:-1]
    merges = []
    for line in lines:
        left, right = (part.translate(byte_of).encode("latin-1") for part in line.split(" "))
        merges.append((left, right))
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [left + right for left, right in merges]
    tokens += [text.encode("utf-8") for text in special_tokens]
    return dict(enumerate(tokens)), merges


class _Assignment:
    """A tokenizer with the methods that the assignment asks for."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text)

    def encode_iterable(self, iterable: Iterable[str]) -> Iterator[int]:
        return self._tokenizer.encode_iterable(iterable)

    def decode(self, ids: Sequence[int]) -> str:
        return self._tokenizer.decode(ids)


def get_tokenizer(
    vocab: Mapping[int, bytes],
    merges: Iterable[tuple[bytes, bytes]],
    special_tokens: Union[Sequence[str], None] = None,
) -> _Assignment:
    """A tokenizer of this vocabulary, these merges and these special tokens, whatever ids they have.

    Special tokens that the vocabulary does not have get the ids behind its largest one. Raises BpeError where a text
    would have no ids, or two ways to have them: a byte is missing, a token or a merge is there twice, a merge needs a
    token that has no id.
    """
    ids: dict[bytes, int] = {}
    for id, token in vocab.items():
        _spelled(token)
        if ids.setdefault(token, index(id)) != id:
            raise BpeError(f"the token {token!r} has two ids, {ids[token]} and {id}")
    missing = next((byte for byte in range(256) if bytes([byte]) not in ids), None)
    if missing is not None:
        raise BpeError(f"the vocabulary has no token for the byte 0x{missing:02x}")
    keys = {_spelled(token): id for token, id in ids.items()}
    refuse_text("special_tokens", special_tokens)
    added = []
    for text in dict.fromkeys(special_tokens or ()):
        if not text:
            raise BpeError("a special token is empty")
        id = ids.setdefault(text.encode("utf-8"), max(ids.values()) + 1)
        # In this kind of file a special token has the id that its text has as a key, whatever else it says.
        if keys.setdefault(text, id) != id:
            raise BpeError(f"the special token {text!r} is spelled as another token is in the characters for bytes")
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        added.append({"id": id, "content": text, "special": True, **flags})
    pairs: dict[tuple[str, str], None] = {}
    for rank, (left, right) in enumerate(merges):
        pair = _spelled(left), _spelled(right)
        if pair in pairs:
            raise BpeError(f"merge {rank}, {left!r} and {right!r}, is there twice")
        pairs[pair] = None
    content = {
        "version": "1.0",
        "added_tokens": added,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": keys, "merges": list(pairs)},
    }
    home = Home()
    path = Path(home.name, "tokenizer.json")
    path.write_text(json.dumps(content), "utf-8")
    made = Tokenizer._of(Source(str(path), home))
    try:
        made._description()
    except BpeError as error:
        made.close()
        raise BpeError(str(error).replace(f'"{path}"', "the vocabulary")) from None
    return _Assignment(made)


def _spelled(token: bytes) -> str:
    """A token in the characters for bytes."""
    if not isinstance(token, bytes):
        raise TypeError(f"a token must be bytes, found {type(token).__name__}")
    if not token:
        raise BpeError("a token is empty")
    return token.decode("latin-1").translate(character_of)
