"""Byte-level BPE tokenizers: training, encoding, decoding. The work is done by the executable `bpe`.

    import bpe_trainer as bpe

    tokenizer = bpe.train("corpus.txt", 32_000, special_tokens=["<|endoftext|>"])
    ids = tokenizer.encode("some text<|endoftext|>")
    tokenizer.save("tokenizer")
"""

from ._executable import BpeError
from ._training import train

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._tokenizer import Tokenizer

__all__ = ["BpeError", "Tokenizer", "train"]


def __getattr__(name: str) -> object:
    """Loads the class with its first use: a training starts sooner, and loads it while the executable works."""
    if name != "Tokenizer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._tokenizer import Tokenizer

    globals()[name] = Tokenizer
    return Tokenizer


def __dir__() -> "list[str]":
    return sorted({*globals(), *__all__})
