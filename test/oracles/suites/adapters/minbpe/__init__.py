"""minbpe's API, implemented with bpe_trainer."""

import bpe_trainer as bpe
import tiktoken


class _Base:
    _pattern, _tokenizer = "none", None

    def __init__(self):
        self._tokenizer = bpe.Tokenizer.from_ranks({bytes([byte]): byte for byte in range(256)}, self._pattern)

    def train(self, text, vocab_size, verbose=False):
        self._tokenizer = bpe.train(texts=[text], vocab_size=vocab_size, pattern=self._pattern, compat="rustbpe")

    def register_special_tokens(self, special):
        self._tokenizer = bpe.Tokenizer.from_ranks(self._tokenizer.ranks(), self._pattern, special)

    def encode(self, text, allowed_special="none_raise"):
        allowed, disallowed = {"all": ("all", ()), "none": ((), ()), "none_raise": ((), "all")}.get(allowed_special, (allowed_special, ()))
        return self._tokenizer.encode(text, allowed_special=allowed, disallowed_special=disallowed)

    def decode(self, ids):
        return self._tokenizer.decode(ids)

    def save(self, prefix):
        for ending in ("model", "vocab"):  # minbpe has two files; ours has everything in one.
            with open(f"{prefix}.{ending}", "w", encoding="utf-8", newline="") as file:
                file.write(self._tokenizer.to_str())

    def load(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            self._tokenizer = bpe.Tokenizer.from_str(file.read())


class BasicTokenizer(_Base):
    pass


class RegexTokenizer(_Base):
    _pattern = "gpt4"


class GPT4Tokenizer(_Base):
    def __init__(self):
        real = tiktoken.get_encoding("cl100k_base")
        self._tokenizer = bpe.Tokenizer.from_ranks(real._mergeable_ranks, "cl100k", real._special_tokens)
