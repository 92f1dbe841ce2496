"""Byte-level BPE tokenizers: training, encoding, decoding. The work is done by the executable `bpe`.

    import bpe

    tokenizer = bpe.train("corpus.txt", 32_000, special_tokens=["<|endoftext|>"])
    ids = tokenizer.encode("some text<|endoftext|>")
    tokenizer.save("tokenizer")
"""

from ._executable import BpeError
from ._tokenizer import Tokenizer
from ._training import train

__all__ = ["BpeError", "Tokenizer", "train"]
