"""A pytest plugin: `tokenizers.Tokenizer` trains and encodes with bpe_trainer where it can, and
the plugin reports how often it did."""

from collections import Counter

import bpe_trainer as bpe
from bpe_trainer import hf
from tokenizers import Tokenizer

calls = Counter()
by_hf = {name: getattr(Tokenizer, name) for name in ("train", "train_from_iterator", "encode", "encode_batch", "encode_batch_fast")}


def _training(name):
    def call(self, texts, trainer=None, *given, **named):
        hf._with_our_training(self)
        learn = self.__dict__.pop(name)
        self.__dict__.clear()
        try:
            learn(texts, trainer, *given, **named)
            calls["trainings by ours"] += 1
        except (bpe.BpeError, TypeError):
            calls["trainings by HF"] += 1
            by_hf[name](self, texts, trainer, *given, **named)

    return call


def encode_batch(self, input, is_pretokenized=False, add_special_tokens=True):
    if "encode_batch" not in self.__dict__:
        hf._Encoder(self)
        return self.encode_batch(input, is_pretokenized, add_special_tokens)
    return by_hf["encode_batch"](self, input, is_pretokenized, add_special_tokens)


def encode(self, sequence, pair=None, is_pretokenized=False, add_special_tokens=True):
    if pair is None and isinstance(sequence, str):
        (made,) = self.encode_batch([sequence], is_pretokenized, add_special_tokens)
        calls["texts by ours" if isinstance(made, hf._Encoding) else "texts by HF"] += 1
        return made
    calls["texts by HF"] += 1
    return by_hf["encode"](self, sequence, pair, is_pretokenized, add_special_tokens)


Tokenizer.train, Tokenizer.train_from_iterator = _training("train"), _training("train_from_iterator")
Tokenizer.encode, Tokenizer.encode_batch = encode, encode_batch
hf._Encoding.by_hf = lambda self: by_hf["encode"](self.pair.hf, self.text, add_special_tokens=self.adds)


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(", ".join(f"{count} {what}" for what, count in sorted(calls.items())))
