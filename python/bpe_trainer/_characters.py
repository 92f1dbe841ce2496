"""GPT-2's characters for bytes, in which HF spells tokens. Printable bytes are themselves; the others are numbered from 256."""

from __future__ import annotations

_printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_others = [byte for byte in range(256) if byte not in _printable]
#: Tables for `str.translate`: from bytes as Latin-1 to characters, and back.
character_of = {byte: 256 + i for i, byte in enumerate(_others)}
byte_of = {character: byte for byte, character in character_of.items()}
