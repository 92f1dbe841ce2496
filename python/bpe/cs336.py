"""What the adapters of Stanford CS336's first assignment call.

    from bpe.cs336 import get_tokenizer, run_train_bpe
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Iterable, Iterator, Union

from ._executable import Home
from ._tokenizer import Tokenizer
from ._training import train

#: The assignment's pattern, which is GPT-2's.
_PATTERN = "gpt2"


def run_train_bpe(
    input_path: Union[str, "os.PathLike[str]"],
    vocab_size: int,
    special_tokens: list[str],
    **_: Any,
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Trains on a file: ``vocab``, the bytes of each id, and ``merges``, in the order in which they were made."""
    with train(input_path, vocab_size, special_tokens=special_tokens, pattern=_PATTERN, compat="cs336") as tokenizer:
        ids = [[id] for id in range(tokenizer.id_limit)]
        vocab = dict(enumerate(tokenizer.decode_batch_bytes(ids)))
        content = json.loads(Path(tokenizer._path, "tokenizer.json").read_text("utf-8"))
        of_character = _bytes_of_characters()
        merges = []
        for merge in content["model"]["merges"]:
            left, right = merge if isinstance(merge, list) else merge.split(" ")
            merges.append((_bytes_of(left, of_character), _bytes_of(right, of_character)))
    return vocab, merges


class _Assignment:
    """A tokenizer with the methods that the assignment asks for."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text)

    def encode_iterable(self, iterable: Iterable[str]) -> Iterator[int]:
        return self._tokenizer.encode_iterable(iterable)

    def decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids)


def get_tokenizer(
    vocab: dict[int, bytes],
    merges: list[tuple[bytes, bytes]],
    special_tokens: Union[list[str], None] = None,
) -> _Assignment:
    """A tokenizer of this vocabulary, these merges and these special tokens (which get new ids if they have none)."""
    id_of: dict[bytes, int] = {token: id for id, token in vocab.items()}
    next_id = max(vocab, default=-1) + 1
    added: list[dict[str, Any]] = []
    for text in special_tokens or []:
        id = id_of.get(text.encode("utf-8"))
        if id is None:
            id, next_id = next_id, next_id + 1
        added.append({"id": id, "content": text, "special": True, "normalized": False, **_no_flags})
    special = {entry["content"].encode("utf-8") for entry in added}
    of_byte = {byte: character for character, byte in _bytes_of_characters().items()}

    def spelled(token: bytes) -> str:
        return "".join(of_byte[byte] for byte in token)

    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": sorted(added, key=lambda entry: entry["id"]),
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {spelled(token): id for id, token in vocab.items() if token not in special},
            "merges": [[spelled(left), spelled(right)] for left, right in merges],
        },
    }
    home = Home()
    path = Path(home.name) / "tokenizer.json"
    path.write_text(json.dumps(content), "utf-8")
    made = Tokenizer._of(str(path), home)
    made._description()
    return _Assignment(made)


_no_flags = {"single_word": False, "lstrip": False, "rstrip": False}


def _bytes_of_characters() -> dict[str, int]:
    """GPT-2's characters for bytes: printable ones stand for themselves, the others for 256 and following, in order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {**{chr(byte): byte for byte in printable}, **{chr(256 + i): byte for i, byte in enumerate(others)}}


def _bytes_of(token: str, of_character: dict[str, int]) -> bytes:
    return bytes(of_character[character] for character in token)
