"""tiktoken's API, implemented with bpe_trainer. The ranks come from the files in
BPE_SUITES_RANKS, which test/oracles/suites/run.ts sets."""

import functools
import importlib.util
import os
import site
import sys
from pathlib import Path

import bpe_trainer as bpe

_ENDOFTEXT = {"<|endoftext|>": 50256}
_FIM = {"<|fim_prefix|>": 0, "<|fim_middle|>": 1, "<|fim_suffix|>": 2}
_HARMONY = ["startoftext", "endoftext", *(f"reserved_200{i:03}" for i in range(2)), "return", "constrain", "reserved_200004"]
_HARMONY += ["channel", "start", "end", "message", *(f"reserved_2000{i}" for i in (9, 10, 11)), "call"]
#: For each encoding of OpenAI: the name of its ranks, the name of its pattern, and its special tokens with their ids.
_ENCODINGS = {
    "gpt2": ("r50k_base", "gpt2", _ENDOFTEXT),
    "r50k_base": ("r50k_base", "r50k", _ENDOFTEXT),
    "p50k_base": ("p50k_base", "p50k", _ENDOFTEXT),
    "p50k_edit": ("p50k_base", "p50k", {**_ENDOFTEXT, **{text: 50281 + i for text, i in _FIM.items()}}),
    "cl100k_base": (
        "cl100k_base",
        "cl100k",
        {"<|endoftext|>": 100257, **{text: 100258 + i for text, i in _FIM.items()}, "<|endofprompt|>": 100276},
    ),
    "o200k_base": ("o200k_base", "o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
    "o200k_harmony": ("o200k_base", "o200k", {**{f"<|{name}|>": 199998 + i for i, name in enumerate(_HARMONY)}, "<|endofprompt|>": 200018}),
}


class Encoding:
    def __init__(self, name, *, pat_str, mergeable_ranks, special_tokens, explicit_n_vocab=None):
        self._set(name, bpe.Tokenizer.from_ranks(mergeable_ranks, pat_str, special_tokens))
        assert explicit_n_vocab in (None, self.n_vocab)

    def _set(self, name, tokenizer):
        self.name, self._tokenizer = name, tokenizer

    def __getattr__(self, name):
        # Attributes that this class lacks, except for `_tokenizer` and those that begin with `__`, are the tokenizer's.
        if name.startswith("__") or name == "_tokenizer":
            raise AttributeError(name)
        return getattr(self._tokenizer, name)

    def encode(self, text, *, allowed_special=(), disallowed_special="all"):
        return self._tokenizer.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)

    def encode_batch(self, texts, *, num_threads=8, allowed_special=(), disallowed_special="all"):
        given = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
        return self._tokenizer.encode_batch(texts, threads=num_threads, **given)

    def _encode_bytes(self, data):
        return self._tokenizer.encode(data, special_tokens_as_text=True)

    @property
    def _pat_str(self):
        return self._tokenizer.pattern

    @functools.cached_property
    def _mergeable_ranks(self):
        return self._tokenizer.ranks()

    @property
    def _special_tokens(self):
        return self._tokenizer.special_tokens


@functools.cache
def get_encoding(name):
    ranks, pattern, special = _ENCODINGS[name]
    path = Path(os.environ["BPE_SUITES_RANKS"], f"{ranks}.tiktoken")
    encoding = Encoding.__new__(Encoding)
    encoding._set(name, bpe.Tokenizer.load(path, pattern=pattern, special_tokens=special))
    return encoding


def list_encoding_names():
    return [*_ENCODINGS]


def _model_table():
    """Loads tiktoken's own table of models and their encodings from its file, with our
    `get_encoding`."""
    path = next(Path(place, "tiktoken/model.py") for place in site.getsitepackages() if Path(place, "tiktoken/model.py").exists())
    registry = type(sys)("tiktoken.registry")
    registry.get_encoding = get_encoding
    sys.modules["tiktoken.registry"] = registry
    spec = importlib.util.spec_from_file_location("tiktoken.model", path)
    module = importlib.util.module_from_spec(spec)
    registry.Encoding = sys.modules["tiktoken.core"] = sys.modules["tiktoken"]
    spec.loader.exec_module(module)
    return module


def encoding_for_model(name):
    return _model_table().encoding_for_model(name)


def encoding_name_for_model(name):
    return _model_table().encoding_name_for_model(name)
