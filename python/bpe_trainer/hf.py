"""A replacement for HF's package `tokenizers` that trains with `bpe`. `patch_transformers` makes `transformers` encode
with `bpe`; all other names are those of `tokenizers`.

    from bpe_trainer.hf import Tokenizer, models, pre_tokenizers, trainers

A Tokenizer whose model is BPE() and whose pre-tokenizer ends with ByteLevel learns the same merges, vocabulary and ids as
HF's. Training anything else raises BpeError, as do parameters that would drop text.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property, wraps
from typing import Any, Callable, Sequence, Union

import tokenizers

from ._arguments import texts_of
from ._executable import BpeError
from ._like import Learner, Trainer, learn_into
from ._tokenizer import Tokenizer as Ours
from ._training import refuse_no_texts, emit_warnings
from ._types import Texts

def __getattr__(name: str) -> Any:
    return getattr(tokenizers, name)


class Tokenizer:
    """Makes a `tokenizers.Tokenizer` that is trained by this package."""

    def __new__(cls, model: Any) -> Any:
        return _with_our_training(tokenizers.Tokenizer(model))

    @staticmethod
    def from_str(json: str) -> Any:
        return _with_our_training(tokenizers.Tokenizer.from_str(json))

    @staticmethod
    def from_file(path: str) -> Any:
        return _with_our_training(tokenizers.Tokenizer.from_file(path))

    @staticmethod
    def from_pretrained(identifier: str, *given: Any, **named: Any) -> Any:
        return _with_our_training(tokenizers.Tokenizer.from_pretrained(identifier, *given, **named))


def _with_our_training(made: Any) -> Any:
    def checked(trainer: Any) -> Any:
        trainer = made.model.get_trainer() if trainer is None else trainer
        if not isinstance(trainer, tokenizers.trainers.BpeTrainer) or not isinstance(made.model, tokenizers.models.BPE):
            names = f"{type(trainer).__name__} for {type(made.model).__name__}"
            raise BpeError(f"{names}: only byte-level BPE can be trained\nhint: use tokenizers.Tokenizer for other models")
        return trainer

    def learn(texts: Union[Texts, None], trainer: Any, files: Sequence[str] = ()) -> None:
        learner = Learner(trainer.show_progress and sys.stderr.isatty())
        parameters = {name: getattr(trainer, name) for name in ("vocab_size", *Trainer.DEFAULTS)}
        learn_into(made, texts, Trainer(**parameters), learner, files=files)
        emit_warnings(learner.warned)

    def train(files: Sequence[str], trainer: Any = None) -> None:
        trainer = checked(trainer)
        for path in (paths := texts_of("files", files)):
            if not os.path.isfile(path):
                raise BpeError(f"{path!r} is not a file")
        if not paths:
            raise ValueError("files is empty: name at least one file")
        learn(None, trainer, [os.path.abspath(path) for path in paths])

    def train_from_iterator(iterator: Texts, trainer: Any = None, length: Union[int, None] = None) -> None:
        refuse_no_texts("iterator", iterator)
        learn(iterator, checked(trainer))

    made.train, made.train_from_iterator = train, train_from_iterator
    return made


def patch_transformers() -> None:
    """Makes the fast tokenizers of `transformers` encode with `bpe`.

    HF still encodes pairs of texts, texts that are already split into words, and texts for which padding, truncation or
    ``split_special_tokens`` is on. A tokenizer that `bpe` cannot read exactly keeps HF's encoder, with a warning; one
    with a step written in Python keeps it without a warning. Results other than ids, mask, and type ids that are all 0,
    such as offsets, are computed by HF when they are read. Changes of ``backend_tokenizer`` are noticed at the next text; a
    tokenizer that is trained keeps HF's encoder from then on.
    """
    from transformers import PreTrainedTokenizerFast

    _watch_models()

    for name in ("_encode_plus", "_batch_encode_plus"):  # The names in transformers 5, and in 4.
        method = PreTrainedTokenizerFast.__dict__.get(name)
        if method is not None and not hasattr(method, "encodes_here"):
            setattr(PreTrainedTokenizerFast, name, _with_our_encoding(method))


def _watch_models() -> None:
    """Makes an `_Encoder` read its tokenizer again when the tokenizer gets another model.

    `_Encoder.current` cannot see this if both models have the same size and settings.
    """
    watched: Any = tokenizers.Tokenizer.model
    if isinstance(watched, property):
        return

    def replace(self: Any, model: Any) -> None:
        watched.__set__(self, model)
        encoder = getattr(self.__dict__.get("encode_batch"), "__self__", None)
        if isinstance(encoder, _Encoder):
            encoder.state = None

    setattr(tokenizers.Tokenizer, "model", property(watched.__get__, replace))


def _with_our_encoding(method: Any) -> Any:
    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        if "encode_batch" not in self._tokenizer.__dict__:
            _Encoder(self._tokenizer)
        return method(self, *given, **named)

    setattr(call, "encodes_here", True)
    return call


#: Settings of a model that can change without replacing the model.
_MODEL_SETTINGS = (
    *("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"),
    *("fuse_unk", "byte_fallback", "ignore_merges"),
)


class _Pair:
    """Two copies of HF's tokenizer in its current state: `ours` encodes with `bpe`; `hf` is a `tokenizers.Tokenizer`,
    made when first needed. `has_types` says whether type ids may differ from 0."""

    def __init__(self, hf: Any) -> None:
        self.ours = Ours.from_str(hf.to_str())
        self.has_types = any(hf.encode("a").type_ids)

    @cached_property
    def hf(self) -> Any:
        return self.ours.to_hf()


class _Encoder:
    """Replaces `encode_batch` of a `tokenizers.Tokenizer`."""

    def __init__(self, replaced: Any) -> None:
        self.hf, self.encode_by_hf = replaced, replaced.encode_batch
        self.state: object = None
        self.pair: Union[_Pair, None] = None
        replaced.encode_batch = self.encode_batch
        self.is_trained = False
        for name in ("add_tokens", "add_special_tokens"):
            setattr(replaced, name, self.with_reset(getattr(replaced, name)))
        for name in ("train", "train_from_iterator"):
            setattr(replaced, name, self.with_reset(getattr(replaced, name), trains=True))

    def with_reset(self, method: Callable[..., Any], trains: bool = False) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.state = None
            # Training makes HF hold its added tokens in a way that tokenizer.json does not store. So HF encodes from then on.
            self.is_trained = self.is_trained or trains
            return method(*given, **named)

        return call

    def encode_batch(self, input: Any, is_pretokenized: bool = False, add_special_tokens: bool = True) -> Any:
        hf = self.hf
        is_plain = not (is_pretokenized or hf.padding or hf.truncation or hf.encode_special_tokens)
        pair = self.current() if is_plain and all(isinstance(text, str) for text in input) else None
        if pair is not None:
            ours, adds = pair.ours, {"add_special_tokens": add_special_tokens}  # type: tuple[Any, Any]
            try:
                batch = [ours.encode(input[0], **adds)] if len(input) == 1 else ours.encode_batch(input, **adds)
                return [_Encoding(ids, pair, text, add_special_tokens) for ids, text in zip(batch, input)]
            except (BpeError, UnicodeEncodeError):
                pass  # HF encodes it, or raises its own error.
        return self.encode_by_hf(input, is_pretokenized, add_special_tokens)

    def current(self) -> Union[_Pair, None]:
        """Returns the pair for the current state of HF's tokenizer; None if `bpe` cannot read it or it was trained."""
        hf = self.hf
        if self.is_trained:
            return None
        try:
            steps = (hf.normalizer, hf.pre_tokenizer, hf.post_processor)
            model = hf.model
            settings = (getattr(model, name, None) for name in _MODEL_SETTINGS)
            state = (hf.get_vocab_size(), *settings, *(step and step.__getstate__() for step in steps))
        except Exception:
            return None  # A step is written in Python.
        if self.state != state:
            self.state = state
            try:
                self.pair = _Pair(hf)
            except BpeError as error:
                self.pair = None
                emit_warnings([f"a tokenizer of transformers keeps HF's encoder, because bpe cannot read it: {error}"])
        return self.pair


class _Encoding:
    """The attributes of HF's Encoding that `transformers` reads."""

    n_sequences = 1

    def __init__(self, ids: "list[int]", pair: _Pair, text: str, adds: bool) -> None:
        self.ids, self.pair, self.text, self.adds = ids, pair, text, adds
        self.attention_mask = [1] * len(ids)
        self.overflowing: "list[Any]" = []

    @property
    def type_ids(self) -> "list[int]":
        types: "list[int]" = self.by_hf().type_ids if self.pair.has_types else [0] * len(self.ids)
        return types

    def by_hf(self) -> Any:
        return self.pair.hf.encode(self.text, add_special_tokens=self.adds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.by_hf(), name)

    def __len__(self) -> int:
        return len(self.ids)

    def __reduce__(self) -> Any:
        from copy import copy

        return copy, (self.by_hf(),)
