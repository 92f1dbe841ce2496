"""Byte-level BPE tokenizers: training, encoding, decoding. The work is done by the executable `bpe`.

    import bpe_trainer as bpe

    tokenizer = bpe.train("corpus.txt", 32_000, special_tokens=["<|endoftext|>"])
    ids = tokenizer.encode("some text<|endoftext|>")
    tokenizer.save("tokenizer")
"""

from ._executable import BpeError
from ._options import train

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._like import train_new_from_iterator
    from ._tokenizer import Tokenizer

__all__ = ["BpeError", "Tokenizer", "train", "train_new_from_iterator"]


def __getattr__(name: str) -> object:
    """Loads a name with its first use: a training starts sooner, and loads the class while the executable works."""
    found: object
    if name == "Tokenizer":
        from ._tokenizer import Tokenizer as found
    elif name == "train_new_from_iterator":
        from ._like import train_new_from_iterator as found
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> "list[str]":
    return sorted({*globals(), *__all__})
