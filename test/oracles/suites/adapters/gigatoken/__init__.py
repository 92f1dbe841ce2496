"""gigatoken's trainer, implemented with bpe_trainer."""

from pathlib import Path

import bpe_trainer as bpe


def train_bpe(in_data, vocab_size, special_tokens, tie_breaking="huggingface", separator=None):
    """Returns ids as HF assigns them, except that bytes come first in numeric order, on which
    ties depend."""
    assert tie_breaking == "huggingface" and separator is None and not special_tokens
    data = in_data if isinstance(in_data, bytes) else Path(in_data).read_bytes()
    learned = bpe.train(texts=[data.decode("utf-8")], vocab_size=vocab_size, compat="huggingface", whole_texts=True)
    merges = learned.merges
    tokens = [bytes([byte]) for byte in range(256)] + [left + right for left, right in merges]
    return dict(enumerate(tokens)), merges


class TiktokenCompat:
    """A bpe_trainer tokenizer with tiktoken's method names. Like tiktoken, it refuses special
    tokens in a text unless they are allowed."""

    def __init__(self, tokenizer):
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError("as_tiktoken makes it")
        self.name, self._tokenizer = tokenizer.name, tokenizer.ours

    def __getattr__(self, name):
        return getattr(self._tokenizer, name)

    def encode(self, text, *, allowed_special=(), disallowed_special="all"):
        return self._tokenizer.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)

    def encode_batch(self, texts, *, allowed_special=(), disallowed_special="all"):
        return self._tokenizer.encode_batch(texts, allowed_special=allowed_special, disallowed_special=disallowed_special)


class Tokenizer:
    def __init__(self, source):
        self.name, self.ours = Path(source).stem, bpe.Tokenizer.load(source)

    from_tiktoken = classmethod(lambda cls, path: cls(path))

    def as_tiktoken(self):
        return TiktokenCompat(self)
