"""Byte-level BPE tokenizers: training, encoding, decoding. The executable `bpe` trains, a native module encodes.

    import bpe_trainer as bpe

    tokenizer = bpe.train("corpus.txt", 32_000, special_tokens=["<|endoftext|>"])
    ids = tokenizer.encode("some text<|endoftext|>")
    tokenizer.save("tokenizer")
"""

from ._executable import BpeError
from ._options import __version__, train

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._commands import convert, diff, doctor, eval, explain, inspect, prune, tokens, truncate, verify
    from ._like import train_new_from_iterator
    from ._tokenizer import Tokenizer

#: The names that `import *` imports. The commands are left out, because `eval` would replace Python's own.
__all__ = ["BpeError", "Tokenizer", "__version__", "train", "train_new_from_iterator"]
_LATER = {
    **{"Tokenizer": "_tokenizer", "train_new_from_iterator": "_like", "cs336": "cs336", "hf": "hf"},
    **dict.fromkeys(
        ("convert", "diff", "doctor", "eval", "explain", "inspect", "prune", "tokens", "truncate", "verify"), "_commands"
    ),
}


def __getattr__(name: str) -> object:
    """Loads a name on its first use: a training starts sooner, and loads `Tokenizer` while the executable works."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.{_LATER[name]}")
    found: object = module if name in ("cs336", "hf") else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> "list[str]":
    return sorted({*globals(), *_LATER})
