"""GPT-2's characters for bytes, in which HF spells tokens: printable bytes are themselves, the others characters from 256 on."""

from __future__ import annotations

from typing import Iterable

_printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_others = [byte for byte in range(256) if byte not in _printable]
#: A table for `str.translate`: from bytes as Latin-1 to characters.
character_of = {byte: 256 + i for i, byte in enumerate(_others)}
#: A table for the way back: from characters to bytes as Latin-1.
byte_of = {character: byte for byte, character in character_of.items()}


def pair_of(merge: Iterable[str]) -> tuple[bytes, bytes]:
    """Returns the bytes of the two tokens of a merge."""
    left, right = (token.translate(byte_of).encode("latin-1") for token in merge)
    return left, right
