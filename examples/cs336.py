"""Loads a vocabulary and merges in the form of Stanford's CS336, from a tokenizer directory of bpe:

    bpe train TinyStories.txt --vocab-size 10000 --special-token '<|endoftext|>' --output tokenizer
    python3 cs336.py tokenizer
"""

import json
import pathlib
import sys


def load(directory: str) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Returns vocab: dict[int, bytes], and merges: list[tuple[bytes, bytes]] in the order learned."""
    path = pathlib.Path(directory)
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in printed]
    byte_of = {chr(byte): byte for byte in printed} | {chr(256 + n): byte for n, byte in enumerate(hidden)}

    def to_bytes(token: str) -> bytes:
        return bytes(byte_of[character] for character in token)

    special = json.loads((path / "training.json").read_text("utf-8"))["options"]["specialTokens"]
    ids = json.loads((path / "vocab.json").read_text("utf-8"))
    vocab = {ids[token]: token.encode() if token in special else to_bytes(token) for token in ids}
    lines = (path / "merges.txt").read_text("utf-8").split("\n")[1:-1]
    merges = [tuple(to_bytes(half) for half in line.split(" ")) for line in lines]
    return vocab, merges


if __name__ == "__main__":
    vocab, merges = load(sys.argv[1])
    print(f"{len(vocab)} tokens, {len(merges)} merges, the longest: {max(vocab.values(), key=len)!r}")
