"""`train_new_from_iterator`: trains a tokenizer like one of `transformers` or `tokenizers` on other texts.

For a tokenizer of `transformers`, that package's own method runs, and only the learning is replaced. So class, roles
and settings are as that method makes them.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Callable, Mapping, Sequence, TypeVar, Union

from ._arguments import items_of, refuse_no_list, whole_number
from ._characters import character_of
from ._executable import BpeError, Home
from ._options import train
from ._training import refuse_no_texts, run_training, emit_warnings
from ._types import Progress, Texts

T = TypeVar("T")

#: GPT-2's characters for all bytes.
_ALPHABET = frozenset("".join(map(chr, range(256))).translate(character_of))
#: Names that `transformers`' method looks up, for which it gets substitutes.
_REPLACED = ("TokenizerFast", "MODEL_TO_TRAINER_MAPPING")


def train_new_from_iterator(
    tokenizer: T,
    text_iterator: Texts,
    vocab_size: int,
    length: Union[int, None] = None,
    new_special_tokens: Union[Sequence[Any], None] = None,
    special_tokens_map: Union[Mapping[str, str], None] = None,
    *,
    show_progress: Union[bool, Progress] = True,
    workers: Union[int, None] = None,
    memory_limit: Union[str, None] = None,
    **trainer: Any,
) -> T:
    """Trains a tokenizer like this one on other texts. Returns what ``tokenizer.train_new_from_iterator(...)`` would return.

    ``tokenizer`` is a byte-level BPE tokenizer: a fast one of ``transformers``, a ``tokenizers.Tokenizer``, or one of this
    package. The result has the same class, special tokens, roles, chat template and settings. Its merges, vocabulary and ids
    are those that HF's own method learns from the same texts. If the tokenizer is one of this package and has a training.json,
    they follow the ``compat`` of that training instead.

    ``text_iterator`` yields strings, or lists of them. A string is not split into lines, and special tokens in it are text.
    ``new_special_tokens`` (str or AddedToken) come after the existing ones. ``special_tokens_map`` gives special tokens new
    names. Of the parameters of ``BpeTrainer``, ``min_frequency``, ``max_token_length``, ``show_progress``,
    ``progress_format``, ``initial_alphabet`` and ``limit_alphabet`` are accepted if they change nothing, or mean the
    same here; docs/moving.md has the details. ``length`` is not needed. ``show_progress`` draws a line if stderr is a
    terminal, or is a function like ``progress`` of ``train``.

    Raises BpeError with the reason if HF's result cannot be reproduced: for Unigram, WordPiece and WordLevel models, for
    SentencePiece's BPE, and for steps of a pipeline that ``bpe encode`` does not know.
    """
    shows = show_progress if callable(show_progress) else bool(show_progress) and sys.stderr.isatty()
    learner = Learner(shows, workers, memory_limit)
    _check(tokenizer, text_iterator, vocab_size, new_special_tokens, special_tokens_map)
    if "special_tokens" in trainer:
        raise TypeError("the tokenizer keeps its special_tokens: pass additional ones as new_special_tokens")
    options = Trainer(vocab_size, **trainer)
    if foreign := options.initial_alphabet - _ALPHABET:
        raise BpeError(f"initial_alphabet has {min(foreign)!r}, which represents no byte\nhint: pass characters of ByteLevel.alphabet()")
    asked = {"length": length, "new_special_tokens": new_special_tokens, "special_tokens_map": special_tokens_map}
    method = getattr(type(tokenizer), "train_new_from_iterator", None)
    if method is not None:
        made = _with_method(method, learner, special_tokens_map or {})(tokenizer, text_iterator, vocab_size, **asked, **trainer)
        assert learner.has_learned, "transformers trained without a trainer"
    else:
        given = (text_iterator, options, learner, asked)
        if hasattr(tokenizer, "encode_file"):
            made = _train_ours(tokenizer, *given)
        elif hasattr(tokenizer, "to_str") and hasattr(type(tokenizer), "from_str"):
            made = _train_hf(tokenizer, *given)
        else:
            raise _refusal(tokenizer)
    emit_warnings(learner.warned)
    result: T = made
    return result


def _check(
    tokenizer: object, texts: object, vocab_size: object, new_special_tokens: object, special_tokens_map: object
) -> None:
    """Raises a TypeError for an argument that Python would silently misread."""
    if isinstance(tokenizer, type):
        raise TypeError(f"tokenizer is the class {tokenizer.__name__}: pass an instance of it")
    refuse_no_texts("text_iterator", texts)
    if new_special_tokens is not None:
        refuse_no_list("new_special_tokens", new_special_tokens, "a list of strings or AddedTokens")
    for token in new_special_tokens if isinstance(new_special_tokens, (list, tuple)) else ():
        _describe_token(token)
    if special_tokens_map is not None:
        items_of("special_tokens_map", "a dict of names", special_tokens_map)
    whole_number("vocab_size", vocab_size)


def _refusal(tokenizer: object) -> BpeError:
    """Returns the error for a tokenizer whose pipeline cannot be read."""
    name = f"{type(tokenizer).__module__.split('.')[0]}.{type(tokenizer).__name__}"
    if hasattr(tokenizer, "convert_tokens_to_ids"):
        return BpeError(f"{name} is a slow tokenizer, whose settings cannot be read\nhint: load the fast one with AutoTokenizer.from_pretrained")
    return BpeError(f"the settings of {name} cannot be read\nhint: save it and pass its file: bpe.train(texts=..., like='tokenizer.json')")


class Trainer:
    """Replaces HF's `BpeTrainer`. Each of its parameters has the same meaning here, or is refused by name."""

    #: The parameters other than the size, with their defaults.
    DEFAULTS: Mapping[str, Any] = {
        **{"special_tokens": (), "initial_alphabet": (), "min_frequency": 0, "progress_format": "indicatif"},
        **dict.fromkeys(("max_token_length", "limit_alphabet", "continuing_subword_prefix", "end_of_word_suffix")),
    }

    def __init__(self, vocab_size: int, **given: Any) -> None:
        for name in given.keys() - self.DEFAULTS.keys():
            raise TypeError(f"train_new_from_iterator has no parameter {name!r}")
        asked = {**self.DEFAULTS, **given}
        #: Prefixes and suffixes of tokens. Only None and "" are accepted, and written into the model as they are given.
        self.marks = {name: asked[name] for name in ("continuing_subword_prefix", "end_of_word_suffix")}
        for name, mark in self.marks.items():
            if mark:
                raise BpeError(f"{name}={mark!r} is not supported: tokens are bytes, without prefixes and suffixes")
        if asked["progress_format"] == "json":
            raise BpeError("progress_format='json' is not supported: pass a function as show_progress")
        self.initial_alphabet = frozenset(text[0] for text in asked["initial_alphabet"] or () if text)
        self.vocab_size, self.special_tokens, self.limit_alphabet = vocab_size, asked["special_tokens"], asked["limit_alphabet"]
        self.min_frequency, self.max_token_length = asked["min_frequency"], asked["max_token_length"]
        self.is_silent = asked["progress_format"] == "silent"

    def refuse_limit(self, alphabet: frozenset[str]) -> None:
        if self.limit_alphabet is not None and self.limit_alphabet < len(alphabet):
            what = f"limit_alphabet={self.limit_alphabet} is too small: all {len(alphabet)} bytes of the alphabet are kept"
            raise BpeError(f"{what}\nhint: leave it out, or pass at least {len(alphabet)}")


class Learner:
    """Learns merges with `bpe train --like`, for a pipeline in the form of tokenizer.json."""

    #: Whether it has trained. It trains only if HF's trainer would have been called.
    has_learned = False

    def __init__(
        self, shows: Union[bool, Progress], workers: Union[int, None] = None, memory_limit: Union[str, None] = None
    ) -> None:
        self.shows, self.workers, self.memory_limit = shows, workers, memory_limit
        self.warned: list[str] = []

    def learn(
        self,
        root: Mapping[str, Any],
        texts: Union[Texts, None],
        trainer: Trainer,
        alphabet: frozenset[str] = _ALPHABET,
        files: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Returns the learned model. Its tokens include the bytes of the alphabet and those that occur in the texts."""
        trainer.refuse_limit(alphabet)
        is_whole = alphabet == _ALPHABET
        special = [token["content"] for token in root["added_tokens"]]
        with Home() as home:
            like, directory = os.path.join(home, "tokenizer.json"), os.path.join(home, "out")
            with open(like, "w", encoding="utf-8") as file:
                json.dump(root, file)
            options: Mapping[str, Any] = {
                # If bytes may be removed later, more merges are learned, which then take the ids of these bytes.
                "vocab-size": trainer.vocab_size if is_whole else max(trainer.vocab_size, len(special)) + len(_ALPHABET),
                "output": directory,
                "like": like,
                "compat": "huggingface",
                "format": "huggingface",
                "min-frequency": trainer.min_frequency,
                "max-token-length": trainer.max_token_length,
                "workers": self.workers,
                "memory-limit": self.memory_limit,
            }
            arguments = ["train", "--progress=json", *([] if is_whole else ["--ledger"])]
            arguments += [f"--{name}={value}" for name, value in options.items() if value is not None]
            of_files = ["--special-tokens-as-text", "--input-format=text", "--", *files]
            arguments += of_files if texts is None else ["--whole-texts"]
            try:
                warned = run_training(arguments, texts, not trainer.is_silent and self.shows)
                self.warned += [each for each in warned if is_whole or not each.startswith("stopped early")]
            except BpeError as error:
                raise BpeError(_without_path(str(error), like)) from None
            with open(os.path.join(directory, "tokenizer.json"), encoding="utf-8") as file:
                model: dict[str, Any] = json.load(file)["model"]
            if not is_whole:
                with open(os.path.join(directory, "tokens.tsv"), encoding="utf-8") as file:
                    rows = [line.split("\t") for line in file][1:]
                present = {row[1] for row in rows if row[2] == "1" and row[3] != "0"}
                trainer.refuse_limit(alphabet | present)
                model = _without_others(model, special, alphabet | present, trainer.vocab_size)
        self.has_learned = True
        return model


def _without_others(model: Mapping[str, Any], special: Sequence[str], alphabet: frozenset[str], size: int) -> dict[str, Any]:
    """Returns the model without the bytes that the alphabet lacks. Further merges take their places."""
    vocab = {text: id for id, text in enumerate([*special, *sorted(alphabet.difference(special))])}
    merges = []
    for pair in model["merges"]:
        if len(vocab) >= size:
            break
        merges.append(pair)
        vocab.setdefault("".join(pair.split(" ") if isinstance(pair, str) else pair), len(vocab))
    return {"vocab": vocab, "merges": merges}


def _without_path(message: str, path: str) -> str:
    """Removes a temporary path from a message, because the caller does not know of it."""
    return message.replace(json.dumps(path), "the tokenizer").replace("like: ", "")


def _with_method(method: Any, learner: Learner, names: Mapping[str, str]) -> Any:
    """Returns `transformers`' method, unchanged, but with globals that make it call this trainer instead of HF's."""
    code = getattr(method, "__code__", None)
    if code is None or method.__module__.split(".")[0] != "transformers" or not {*_REPLACED} <= {*code.co_names}:
        name = f"{method.__module__}.{method.__qualname__}"
        raise BpeError(f"{name} is not the train_new_from_iterator of transformers 4.57 to 5, the supported versions")
    from types import FunctionType

    class Trainers(dict):  # type: ignore[type-arg]
        def __missing__(self, kind: str) -> None:
            raise BpeError(f"{kind} model: only byte-level BPE can be trained")

    class Tokenizers:
        """Reads tokenizers like HF's class. The first one that the method reads is the one to train."""

        @staticmethod
        def from_str(text: str) -> Any:
            made = method.__globals__["TokenizerFast"].from_str(text)
            if learner.has_learned:
                return _with_new_ids(made, names)

            def train(texts: Texts, *, length: object, trainer: Trainer) -> None:
                del made.train_from_iterator
                learn_into(made, texts, trainer, learner, names)

            made.train_from_iterator = train
            return made

    replaced = {"TokenizerFast": Tokenizers, "MODEL_TO_TRAINER_MAPPING": Trainers(BPE=Trainer)}
    return FunctionType(code, {**method.__globals__, **replaced}, method.__name__, method.__defaults__)


def learn_into(
    made: Any,
    texts: Union[Texts, None],
    trainer: Trainer,
    learner: Learner,
    names: Mapping[str, str] = {},
    files: Sequence[str] = (),
) -> None:
    """Does what HF's `Tokenizer.train_from_iterator` does: sets vocabulary and merges, and adds the special tokens.

    Unlike HF's, it also gives the padding the new id of its token.
    """
    root = json.loads(made.to_str())
    if '"ByteLevel"' not in (steps := json.dumps(root["pre_tokenizer"])):
        what = f"the tokenizer is BPE over characters, not bytes: its pre-tokenizer is {steps[:80]}"
        raise BpeError(f"{what}\nhint: add ByteLevel(add_prefix_space=False) as its last step, with ByteLevel() as the decoder")
    contents = dict.fromkeys(str(getattr(token, "content", token)) for token in trainer.special_tokens)
    learned = learner.learn(_pipeline(root, contents), texts, trainer, trainer.initial_alphabet, files)
    root["model"].update(trainer.marks, vocab=learned["vocab"], merges=learned["merges"])
    made.model = type(made).from_str(json.dumps({**root, "added_tokens": []})).model
    made.add_special_tokens([*trainer.special_tokens])
    pad = made.padding and made.token_to_id(names.get(made.padding["pad_token"], made.padding["pad_token"]))
    if pad is not None:
        made.enable_padding(**{**made.padding, "pad_id": pad, "pad_token": made.id_to_token(pad)})


def _with_new_ids(made: Any, names: Mapping[str, str]) -> Any:
    """Writes the new ids into the post-processors of a Sequence. `transformers`' method does so only for one outside of a Sequence."""
    root = json.loads(made.to_str())
    if (root["post_processor"] or {}).get("type") != "Sequence":
        return made
    _update_tokens(root["post_processor"], names, made.token_to_id)
    return type(made).from_str(json.dumps(root))


def _update_tokens(post_processor: Any, names: Mapping[str, str], find: Callable[[str], Union[int, None]]) -> None:
    """Writes the current names and ids of tokens into a post-processor of tokenizer.json, or into those of a Sequence."""

    def id_of(token: str) -> int:
        id = find(token)
        if id is None:
            raise BpeError(f"the post-processor adds {token!r}, which is not a token of the vocabulary")
        return id

    steps = () if post_processor is None else post_processor.get("processors", (post_processor,))
    for step in steps:
        for one in (step.get("special_tokens") or {}).values():
            one["tokens"] = [names.get(token, token) for token in one["tokens"]]
            one["ids"] = [id_of(token) for token in one["tokens"]]
        for role in ("cls", "sep"):
            if role in step:
                token = step[role][0]
                token = names.get(token, token)
                step[role] = [token, id_of(token)]


def _pipeline(root: Mapping[str, Any], special_tokens: Mapping[str, None]) -> dict[str, Any]:
    """Returns a tokenizer.json that says how to learn: without merges, and with plain special tokens in the given order."""
    if "" in special_tokens:
        raise BpeError("a special token is empty")
    texts = [*special_tokens, *sorted(_ALPHABET.difference(special_tokens))]
    vocab = {text: id for id, text in enumerate(texts)}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "added_tokens": [{"id": vocab[text], "content": text, **flags} for text in special_tokens],
        "normalizer": root["normalizer"],
        "pre_tokenizer": root["pre_tokenizer"],
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    }


def _train_hf(tokenizer: Any, texts: Texts, trainer: Trainer, learner: Learner, asked: Mapping[str, Any]) -> Any:
    """Trains a `tokenizers.Tokenizer` as `train_new_from_iterator` of `transformers` would.

    Added tokens that are neither special nor learned get ids after the vocabulary.
    """
    root, names = json.loads(tokenizer.to_str()), asked["special_tokens_map"] or {}
    model, new = root["model"], asked["new_special_tokens"] or ()
    if model.get("type") != "BPE":
        raise BpeError(f"{model.get('type')} model: only byte-level BPE can be trained")
    Trainer(0, **{name: model.get(name) for name in ("continuing_subword_prefix", "end_of_word_suffix")})
    special: dict[str, dict[str, Any]] = {}
    for token in [*(token for token in root["added_tokens"] if token["special"]), *map(_describe_token, new)]:
        content = names.get(token["content"], token["content"]) if "id" in token else token["content"]
        special[content] = {**token, "content": content}
    learned = learner.learn(_pipeline(root, dict.fromkeys(special)), texts, trainer)
    vocab: dict[str, int] = learned["vocab"]
    unk = model.get("unk_token")
    model.update(vocab=vocab, merges=learned["merges"], unk_token=names.get(unk, unk))
    others = {token["content"]: token for token in root["added_tokens"] if not token["special"]}
    ids = dict(vocab)
    for content in others:
        ids.setdefault(content, len(ids))
    tokens = {**others, **special}
    root["added_tokens"] = [{**token, "id": ids[content]} for content, token in tokens.items()]
    root["added_tokens"].sort(key=lambda token: token["id"])
    _update_tokens(root["post_processor"], names, ids.get)
    if root["padding"] is not None:
        pad = names.get(root["padding"]["pad_token"], root["padding"]["pad_token"])
        root["padding"].update(pad_token=pad, pad_id=ids.get(pad, root["padding"]["pad_id"]))
    return type(tokenizer).from_str(json.dumps(root))


def _describe_token(token: Any) -> dict[str, Any]:
    """Returns a new special token in the form of tokenizer.json."""
    if not isinstance(token, str) and not hasattr(token, "content"):
        raise TypeError(f"new_special_tokens must be strings or AddedTokens, found {type(token).__name__}")
    is_text = isinstance(token, str)
    flags = {name: not is_text and getattr(token, name) for name in ("single_word", "lstrip", "rstrip", "normalized")}
    return {"content": token if is_text else token.content, **flags, "special": True}


def _train_ours(tokenizer: Any, texts: Texts, trainer: Trainer, learner: Learner, asked: Mapping[str, Any]) -> Any:
    """Trains a tokenizer of this package with `train(like=...)`, by the tie rule of its own training, or HF's if that is unknown."""
    if asked["special_tokens_map"]:
        raise BpeError("special_tokens_map is only for tokenizers of the packages transformers and tokenizers")
    with tokenizer._place() as path:
        return train(
            texts=texts,
            vocab_size=trainer.vocab_size,
            like=path,
            special_tokens=[str(getattr(token, "content", token)) for token in asked["new_special_tokens"] or ()],
            min_frequency=trainer.min_frequency or None,
            max_token_length=trainer.max_token_length,
            workers=learner.workers,
            memory_limit=learner.memory_limit,
            progress=learner.shows,
        )
