"""docs/moving.md: every row of its tables has a test, and every parameter of the packages has a
row."""

import ast
import inspect
import io
import json
import re
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import sentencepiece
import tokenizers
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers.implementations import ByteLevelBPETokenizer
from transformers import PreTrainedTokenizerFast

import bpe_trainer as bpe
from bpe_trainer._executable import find_executable

PAGE = Path(__file__, "../../../docs/moving.md").resolve()
LINES = ["low lower\n", "the  newest, Ｌow 12345\r\n", "\n", "\n", "\n", "é e\u0301 ÀÉ ﬁ\n", "don't ''ll low--low\n"] * 3
TEXTS = [*LINES, "low\n\n\nlower \n the", "<s>low<s>", "\t x\n", "", "新しい新しい 123 45", "a.b.c!! ??"]
SIZE = 300
BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False)
BARE = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
ALPHABET = pre_tokenizers.ByteLevel.alphabet()
SPECIAL = ["<s>", "</s>"]

ROWS = {}


def row(section, *names, verdict):
    """Registers a test, which is called with the test case and the name of each row."""

    def take(test):
        for name in names:
            assert (section, name) not in ROWS, name
            ROWS[section, name] = (verdict, test)
        return test

    return take


def equal(section, *names):
    return row(section, *names, verdict="equal")


def differs(section, *names):
    return row(section, *names, verdict="differs")


def missing(section, *names):
    return row(section, *names, verdict="missing")


# Tokenizers of both sides


def hf(texts=TEXTS, pre_tokenizer=BYTE_LEVEL, normalizer=None, files=None, **parameters):
    """Returns a tokenizer trained by HF."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer, made.normalizer, made.decoder = pre_tokenizer, normalizer, decoders.ByteLevel()
    wanted = {"vocab_size": SIZE, "initial_alphabet": ALPHABET, "show_progress": False, **parameters}
    trainer = trainers.BpeTrainer(**wanted)
    made.train(files, trainer) if files else made.train_from_iterator(texts, trainer)
    return made


def our(texts=TEXTS, size=SIZE, **options):
    """Returns a tokenizer trained by bpe, as HF's package loads it."""
    given = {} if "files" in options else {"texts": texts, "whole_texts": True}
    with bpe_closing(bpe.train(vocab_size=size, compat="huggingface", **given, **options)) as made:
        return made.to_hf()


class bpe_closing:
    def __init__(self, made):
        self.made = made

    def __enter__(self):
        return self.made

    def __exit__(self, *_):
        self.made.close()


def model_of(made):
    model = json.loads(made.to_str())["model"]
    return model["vocab"], model["merges"]


def ids_of(made):
    return [made.encode(text, add_special_tokens=False).ids for text in TEXTS]


def same(case, ours, theirs):
    case.assertEqual(model_of(ours), model_of(theirs))
    case.assertTrue(model_of(ours)[1])
    case.assertEqual(ids_of(ours), ids_of(theirs))


def other(case, ours, theirs):
    case.assertNotEqual(model_of(ours), model_of(theirs))


def base(pre_tokenizer=BYTE_LEVEL, normalizer=None, post_processor=None, decoder=None, model=None):
    """Returns a tokenizer to retrain."""
    made = hf(["low"], pre_tokenizer, normalizer, special_tokens=SPECIAL, vocab_size=262)
    made.post_processor, made.decoder = post_processor, decoder or made.decoder
    root = json.loads(made.to_str())
    root["model"].update(model or {})
    return Tokenizer.from_str(json.dumps(root))


def retrained(case, made, **options):
    """Checks that `train_new_from_iterator` of bpe and of transformers give the same."""
    there = PreTrainedTokenizerFast(tokenizer_object=made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = bpe.train_new_from_iterator(there, TEXTS, SIZE, **options).backend_tokenizer
    theirs = there.train_new_from_iterator(TEXTS, SIZE, **{"show_progress": False, **options}).backend_tokenizer
    case.assertEqual(json.loads(ours.to_str()), json.loads(theirs.to_str()))
    return ours


def refuses(case, made, words, **options):
    """Checks that a tokenizer is refused with these words, as an object of transformers and of tokenizers."""
    for tokenizer in (PreTrainedTokenizerFast(tokenizer_object=made), made):
        with case.assertRaisesRegex(bpe.BpeError, words):
            bpe.train_new_from_iterator(tokenizer, TEXTS, SIZE, **options)


def said(*arguments):
    done = subprocess.run([find_executable(), *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def no_option(case, name):
    """Checks that neither the command line nor Python has an option of this name."""
    with case.assertRaisesRegex(TypeError, f"has no parameter '{name}'"):
        bpe.train(texts=TEXTS, vocab_size=SIZE, **{name: 1})
    code, words = said("train", f"--{name.replace('_', '-')}=1", "-n", "300", "-o", "none", "none")
    case.assertEqual((code, "unknown option" in words), (2, True), words)


def files(texts):
    home = tempfile.TemporaryDirectory()
    path = Path(home.name, "corpus.txt")
    path.write_text("".join(texts), "utf-8", newline="")
    return home, str(path)


# Tokenizer.train and train_from_iterator

T = "tokenizers: training"


@equal(T, "train(files)", "train(trainer)")
def _(case, name):
    home, path = files(LINES)
    with home:
        same(case, our(files=path, special_tokens=["<e>"]), hf(files=[path], special_tokens=["<e>"]))
        other(case, our(files=path), our(["".join(LINES)]))


@equal(T, "train_from_iterator(iterator)", "train_from_iterator(trainer)")
def _(case, name):
    for texts in (TEXTS, [TEXTS[:5], tuple(TEXTS[5:])]):
        same(case, our(iter(texts)), hf(iter(texts)))
    breaks = ["low\n\n\nlow"] * 9
    same(case, our(breaks, 259), hf(breaks, vocab_size=259))
    other(case, our(breaks, 259), our([line for text in breaks for line in text.splitlines(keepends=True)], 259))


@missing(T, "train_from_iterator(length)")
def _(case, name):
    no_option(case, "length")


# BpeTrainer

B = "tokenizers: BpeTrainer"


@equal(B, "vocab_size")
def _(case, name):
    for size in (257, 280, 310):
        same_size(case, our(size=size), hf(vocab_size=size), size)
    with case.assertRaisesRegex(bpe.BpeError, r"is 258, but must be at least 259 \(256 bytes and 3 special tokens\)"):
        our(size=258, special_tokens=["a1", "a2", "a3"])
    with case.assertRaisesRegex(TypeError, "vocab_size is missing"):
        bpe.train(texts=TEXTS)


def same_size(case, ours, theirs, size):
    case.assertEqual(model_of(ours), model_of(theirs))
    case.assertEqual(ours.get_vocab_size(), size)


@equal(B, "min_frequency")
def _(case, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for least in (2, 4, 7):
            same(case, our(size=400, min_frequency=least), hf(vocab_size=400, min_frequency=least))
        other(case, our(size=400, min_frequency=2), our(size=400, min_frequency=4))
        same(case, our(size=400), hf(vocab_size=400))


@differs(B, "show_progress", "progress_format")
def _(case, name):
    case.assertIs(inspect.signature(bpe.train).parameters["progress"].default, False)
    case.assertIs(inspect.signature(trainers.BpeTrainer).parameters["show_progress"].default, True)
    told = []
    our(progress=lambda *event: told.append(event))
    case.assertTrue(told)


@equal(B, "special_tokens")
def _(case, name):
    tokens = ["<s>", "low", "a", "Ġ", "ÃĢ"]
    same(case, our(special_tokens=tokens), hf(special_tokens=tokens))
    with case.assertRaisesRegex(bpe.BpeError, "given twice"):
        our(special_tokens=["<s>", "<s>"])
    home, path = files([line.replace("\n", "<|s|>\n") for line in LINES])
    with home:
        other(case, our(files=path, special_tokens=["<|s|>"]), hf(files=[path], special_tokens=["<|s|>"]))


@missing(B, "limit_alphabet")
def _(case, name):
    no_option(case, name)
    case.assertLess(hf(limit_alphabet=20, initial_alphabet=[]).get_vocab_size(), 256)


@differs(B, "initial_alphabet")
def _(case, name):
    no_option(case, name)
    same(case, our(), hf(initial_alphabet=ALPHABET))
    case.assertLessEqual(set(ALPHABET), set(our().get_vocab()))
    case.assertFalse(set(ALPHABET) <= set(hf(initial_alphabet=[]).get_vocab()))


@missing(B, "continuing_subword_prefix", "end_of_word_suffix")
def _(case, name):
    no_option(case, name)
    other(case, hf(), hf(**{name: "##"}))


@equal(B, "max_token_length")
def _(case, name):
    for most in (2, 3, 5):
        same(case, our(size=280, max_token_length=most), hf(vocab_size=280, max_token_length=most))
    other(case, our(size=280, max_token_length=3), our(size=280))


# ParityBpeTrainer

Y = "tokenizers: ParityBpeTrainer"
LANGUAGES = {
    "en": ["low lower lowest\n", "the newest of the new\n"] * 9,
    "de": ["tief tiefer am tiefsten\n", "das neue neuer\n"] * 4,
    "ja": ["新しい新しい 低い\n", "低い低い\n"] * 2,
}
DEV = {"en": ["low the\n"], "de": ["tief das\n"] * 2, "ja": ["新しい低い\n"]}


def parity(dev=None, ratio=None, size=278, normalizer=None, pre_tokenizer=BYTE_LEVEL, **parameters):
    """Returns a tokenizer trained by HF on languages."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer, made.normalizer, made.decoder = pre_tokenizer, normalizer, decoders.ByteLevel()
    wanted = {"num_merges": size, "total_symbols": True, "initial_alphabet": ALPHABET, "show_progress": False}
    trainer = trainers.ParityBpeTrainer(**{**wanted, **parameters})
    iterators = [iter(lines) for lines in LANGUAGES.values()]
    trainer.train_from_iterator(made, iterators, dev and [iter(lines) for lines in dev.values()], ratio)
    return made


def our_parity(dev=None, **options):
    with tempfile.TemporaryDirectory() as home, warnings.catch_warnings():
        warnings.simplefilter("ignore")

        def paths(kind, texts):
            for name, lines in texts.items():
                Path(home, f"{kind}-{name}").write_text("".join(lines), "utf-8", newline="")
            return {name: f"{home}/{kind}-{name}" for name in texts}

        given = {} if dev is None else {"languages_dev": paths("dev", dev)}
        wanted = {"vocab_size": 278, "compat": "huggingface", **given, **options}
        with bpe_closing(bpe.train(languages=paths("train", LANGUAGES), **wanted)) as made:
            return made.to_hf()


@differs(Y, "num_merges", "total_symbols", "initial_alphabet", "train_from_iterator(train_iterators)")
def _(case, name):
    same(case, our_parity(), parity())
    same(case, our_parity(), parity(num_merges=278 - 256, total_symbols=False))
    no_option(case, name if "(" not in name else "train_iterators")
    other(case, our_parity(), parity(num_merges=30, total_symbols=False, initial_alphabet=[]))
    other(case, our_parity(), our([line for lines in LANGUAGES.values() for line in lines], 278))


@differs(Y, "train_from_iterator(dev_iterators)")
def _(case, name):
    same(case, our_parity(DEV), parity(DEV))
    other(case, our_parity(DEV), our_parity())
    no_option(case, "dev_iterators")


@equal(Y, "variant", "window_size", "alpha")
def _(case, name):
    # HF may never end once a language has no pairs left, so there are few merges.
    for size, alpha in ((10, 2.0), (6, 1.5)):
        theirs = parity(DEV, variant="window", window_size=size, alpha=alpha)
        same(case, our_parity(DEV, language_window=(size, alpha)), theirs)
    other(case, our_parity(DEV), our_parity(DEV, language_window=(6, 1.5)))


@equal(Y, "ratio", "train_from_iterator(ratio)")
def _(case, name):
    ratio = [1.0, 2.5, 1.5]
    theirs = parity(ratio=ratio) if "(" in name else parity(**{name: ratio})
    same(case, our_parity(language_ratio=ratio), theirs)
    other(case, our_parity(language_ratio=ratio), our_parity())
    with case.assertRaises(bpe.BpeError):
        our_parity(DEV, language_ratio=ratio)


@equal(Y, "min_frequency", "global_merges", "max_token_length")
def _(case, name):
    value = {"min_frequency": 5, "global_merges": 9, "max_token_length": 3}[name]
    same(case, our_parity(DEV, **{name: value}), parity(DEV, **{name: value}))
    other(case, our_parity(DEV, **{name: value}), our_parity(DEV))


@equal(Y, "special_tokens")
def _(case, name):
    same(case, our_parity(special_tokens=SPECIAL), parity(special_tokens=SPECIAL))


@equal(Y, "train_from_iterator(tokenizer)")
def _(case, name):
    theirs = parity(DEV, normalizer=normalizers.NFKC(), pre_tokenizer=BARE)
    same(case, our_parity(DEV, normalize="NFKC", pattern="none"), theirs)


@differs(Y, "show_progress")
def _(case, name):
    ROWS[B, "show_progress"][1](case, name)


@missing(Y, "limit_alphabet", "continuing_subword_prefix", "end_of_word_suffix")
def _(case, name):
    no_option(case, name)
    case.assertIn(name, inspect.signature(trainers.ParityBpeTrainer).parameters)


# ByteLevelBPETokenizer

L = "tokenizers: ByteLevelBPETokenizer"


def byte_level(texts=TEXTS, constructed=None, files=None, **parameters):
    made = ByteLevelBPETokenizer(**constructed or {})
    wanted = {"vocab_size": SIZE, "min_frequency": 0, "show_progress": False, **parameters}
    made.train(files, **wanted) if files else made.train_from_iterator(texts, **wanted)
    return made._tokenizer


@differs(L, "vocab", "merges")
def _(case, name):
    theirs = byte_level(LINES)
    with tempfile.TemporaryDirectory() as home:
        theirs.model.save(home)
        vocab, merges = models.BPE.read_file(f"{home}/vocab.json", f"{home}/merges.txt")
        same_ids = ByteLevelBPETokenizer(vocab, merges)
        with bpe_closing(bpe.Tokenizer.load(f"{home}/vocab.json")) as ours:
            case.assertEqual(ours.encode_batch(TEXTS), [one.ids for one in same_ids.encode_batch(TEXTS)])
    case.assertNotIn(name, inspect.signature(bpe.Tokenizer.load).parameters)


@differs(L, "add_prefix_space")
def _(case, name):
    no_option(case, name)
    with_space = byte_level(constructed={name: True})
    case.assertEqual(model_of(retrained(case, with_space)), model_of(with_space))
    other(case, with_space, byte_level())


@equal(L, "lowercase")
def _(case, name):
    theirs = byte_level(constructed={name: True})
    same(case, our(normalize="lowercase"), theirs)
    other(case, theirs, byte_level())


@missing(L, "dropout")
def _(case, name):
    no_option(case, name)


@equal(L, "unicode_normalizer")
def _(case, name):
    for form in ("nfc", "nfd", "nfkc", "nfkd"):
        theirs = byte_level(constructed={name: form, "lowercase": True})
        same(case, our(normalize=[form.upper(), "lowercase"]), theirs)
        other(case, theirs, byte_level())


@missing(L, "continuing_subword_prefix", "end_of_word_suffix")
def _(case, name):
    no_option(case, name)
    case.assertEqual(model_of(byte_level(constructed={name: "##"})), model_of(byte_level()))


@differs(L, "trim_offsets")
def _(case, name):
    no_option(case, name)
    made = byte_level(constructed={name: True})
    ours = retrained(case, made)
    case.assertEqual(made.encode("low low").offsets, ours.encode("low low").offsets)
    case.assertNotEqual(byte_level().encode("low low").offsets, ours.encode("low low").offsets)


@equal(L, "train(files)", "train(vocab_size)", "train(special_tokens)")
def _(case, name):
    home, path = files(LINES)
    with home:
        same(case, our(files=path, special_tokens=["<e>"]), byte_level(files=path, special_tokens=["<e>"]))


ITERATOR = [f"train_from_iterator({name})" for name in ("iterator", "vocab_size", "special_tokens")]


@equal(L, *ITERATOR)
def _(case, name):
    same(case, our(special_tokens=SPECIAL), byte_level(special_tokens=SPECIAL))


@differs(L, "train(min_frequency)", "train_from_iterator(min_frequency)")
def _(case, name):
    train = getattr(ByteLevelBPETokenizer, name.split("(")[0])
    case.assertEqual(inspect.signature(train).parameters["min_frequency"].default, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = byte_level(vocab_size=400, min_frequency=2)
        same(case, our(size=400, min_frequency=2), theirs)
        other(case, our(size=400), theirs)


@differs(L, "train(show_progress)", "train_from_iterator(show_progress)")
def _(case, name):
    ROWS[B, "show_progress"][1](case, name)


@missing(L, "train_from_iterator(length)")
def _(case, name):
    no_option(case, "length")


# models.BPE

M = "tokenizers: models.BPE"


@equal(M, "vocab", "merges")
def _(case, name):
    theirs = hf()
    with tempfile.TemporaryDirectory() as home:
        theirs.save(f"{home}/tokenizer.json")
        with bpe_closing(bpe.Tokenizer.load(home)) as ours:
            case.assertEqual(ours.encode_batch(TEXTS), ids_of(theirs))


@missing(M, "cache_capacity")
def _(case, name):
    no_option(case, name)


@differs(M, "dropout")
def _(case, name):
    made = base(model={name: 0.5})
    for ours in (retrained(case, made), bpe.train_new_from_iterator(made, TEXTS, SIZE)):
        case.assertEqual(json.loads(ours.to_str())["model"][name], 0.5)
    with tempfile.TemporaryDirectory() as home:
        made.save(f"{home}/tokenizer.json")
        with case.assertRaisesRegex(bpe.BpeError, "is not supported: dropout"):
            bpe.train(texts=TEXTS, vocab_size=SIZE, like=home)


@equal(M, "unk_token", "fuse_unk", "byte_fallback", "ignore_merges")
def _(case, name):
    made = base(model={name: "<s>" if name == "unk_token" else True})
    for ours in (retrained(case, made), bpe.train_new_from_iterator(made, TEXTS, SIZE)):
        case.assertEqual(json.loads(ours.to_str())["model"][name], json.loads(made.to_str())["model"][name])


@missing(M, "continuing_subword_prefix", "end_of_word_suffix")
def _(case, name):
    retrained(case, base(model={name: ""}))
    root = json.loads(base().to_str())
    root["model"].update({name: "##", "merges": []})
    refuses(case, Tokenizer.from_str(json.dumps(root)), f"{name}='##' is not supported: tokens are bytes")


# pre_tokenizers

P = "tokenizers: pre_tokenizers"


def before(step):
    return pre_tokenizers.Sequence([step, BYTE_LEVEL])


@missing(P, "BertPreTokenizer", "UnicodeScripts", "Whitespace", "WhitespaceSplit")
def _(case, name):
    refuses(case, base(before(getattr(pre_tokenizers, name)())), f'pre-tokenizer "{name}" is not supported')


@missing(P, "CharDelimiterSplit", "CharDelimiterSplit(delimiter)")
def _(case, name):
    refuses(case, base(before(pre_tokenizers.CharDelimiterSplit("."))), '"CharDelimiterSplit" is not supported')


@missing(P, "Metaspace", "Metaspace(replacement)", "Metaspace(prepend_scheme)", "Metaspace(split)")
def _(case, name):
    step = pre_tokenizers.Metaspace(replacement="_", prepend_scheme="first", split=False)
    refuses(case, base(before(step)), '"Metaspace" is not supported')
    refuses(case, base(step), "Metaspace")


@equal(P, "ByteLevel", "ByteLevel(trim_offsets)")
def _(case, name):
    same(case, our(), hf())
    same(case, our(pattern="gpt2"), hf())
    for trims in (True, False):
        retrained(case, base(pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=trims)))


@equal(P, "ByteLevel(add_prefix_space)")
def _(case, name):
    made = retrained(case, base(pre_tokenizers.ByteLevel(add_prefix_space=True)))
    other(case, made, retrained(case, base()))
    step = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.ByteLevel(add_prefix_space=True)])
    refuses(case, base(step), "add_prefix_space, so it adds a space before each piece that these steps cut")


@equal(P, "ByteLevel(use_regex)")
def _(case, name):
    same(case, our(pattern="none"), hf(pre_tokenizer=BARE))
    retrained(case, base(BARE))
    other(case, our(pattern="none"), our())


@equal(P, "Digits", "Digits(individual_digits)")
def _(case, name):
    one, many = (retrained(case, base(before(pre_tokenizers.Digits(each)))) for each in (True, False))
    other(case, one, many)
    other(case, many, retrained(case, base()))


@equal(P, "FixedLength", "FixedLength(length)")
def _(case, name):
    for length in (5, 3):
        step = pre_tokenizers.FixedLength(length)
        retrained(case, base(pre_tokenizers.Sequence([step, BARE])))
        made = hf(pre_tokenizer=pre_tokenizers.Sequence([step, BARE]))
        same(case, our(pattern=f"[\\s\\S]{{1,{length}}}"), made)


@equal(P, "Punctuation")
def _(case, name):
    other(case, retrained(case, base(before(pre_tokenizers.Punctuation()))), retrained(case, base()))


@differs(P, "Punctuation(behavior)")
def _(case, name):
    for behavior in ("isolated", "contiguous", "merged_with_previous", "merged_with_next"):
        retrained(case, base(before(pre_tokenizers.Punctuation(behavior))))
    refuses(case, base(before(pre_tokenizers.Punctuation("removed"))), "Punctuation with behavior")


@equal(P, "Sequence", "Sequence(pretokenizers)")
def _(case, name):
    steps = [pre_tokenizers.Digits(True), pre_tokenizers.Punctuation()]
    one = retrained(case, base(pre_tokenizers.Sequence([*steps, BYTE_LEVEL])))
    nested = retrained(case, base(pre_tokenizers.Sequence([pre_tokenizers.Sequence(steps), BYTE_LEVEL])))
    case.assertEqual(model_of(one), model_of(nested))
    refuses(case, base(pre_tokenizers.Sequence([BYTE_LEVEL, *steps])), "ByteLevel pre-tokenizer is not the last one")


def split(regex, behavior="isolated", invert=False):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(regex), behavior, invert), BARE])


@equal(P, "Split", "Split(pattern)")
def _(case, name):
    for regex in (r"\w+|\W", r"(?i:L)o+|\s+", r"\p{L}{1,3}+|[^\p{L}]"):
        same(case, our(pattern=regex), hf(pre_tokenizer=split(regex)))
        retrained(case, base(split(regex)))
    retrained(case, base(pre_tokenizers.Sequence([pre_tokenizers.Split(".", "isolated"), BARE])))


@equal(P, "Split(invert)")
def _(case, name):
    one, inverted = (retrained(case, base(split("l+", invert=invert))) for invert in (False, True))
    case.assertEqual(model_of(one), model_of(inverted))


@differs(P, "Split(behavior)")
def _(case, name):
    retrained(case, base(split("l+|[^l]+", "removed", True)))
    for behavior in ("merged_with_previous", "merged_with_next", "contiguous"):
        for invert in (False, True):
            retrained(case, base(split("l", behavior, invert)))
    refuses(case, base(split("l+", "removed")), f"a Split with behavior")


# normalizers

N = "tokenizers: normalizers"


@missing(N, "BertNormalizer", "ByteLevel", "Nmt", "Prepend", "Replace", "Strip", "StripAccents")
def _(case, name):
    given = {"Prepend": ["_"], "Replace": ["a", "b"]}.get(name, [])
    made = base()
    made.normalizer = getattr(normalizers, name)(*given)
    refuses(case, made, f'its normalizer is "{name}"')


@missing(N, "Precompiled")
def _(case, name):
    # HF's constructor accepts only a valid table from SentencePiece. The test has no such table, so it writes a
    # tokenizer.json that names this normalizer.
    root = json.loads(base().to_str())
    root["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": ""}
    with tempfile.TemporaryDirectory() as home:
        path = Path(home, "tokenizer.json")
        path.write_text(json.dumps(root))
        with case.assertRaisesRegex(bpe.BpeError, 'its normalizer is "Precompiled"'):
            bpe.train(texts=TEXTS, vocab_size=SIZE, like=path)


@equal(N, "Lowercase", "NFC", "NFD", "NFKC", "NFKD")
def _(case, name):
    step = getattr(normalizers, name)()
    same(case, our(normalize=name.lower() if name == "Lowercase" else name), hf(normalizer=step))
    other(case, retrained(case, base(normalizer=step)), our())


@equal(N, "Sequence")
def _(case, name):
    step = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    same(case, our(normalize=["NFKC", "lowercase"]), hf(normalizer=step))
    retrained(case, base(normalizer=step))


# decoders

D = "tokenizers: decoders"


@equal(D, "ByteLevel")
def _(case, name):
    ours = our()
    case.assertEqual(json.loads(ours.to_str())["decoder"]["type"], "ByteLevel")
    case.assertEqual([ours.decode(ids) for ids in ids_of(ours)], TEXTS)


@differs(D, "BPEDecoder", "ByteFallback", "CTC", "Fuse", "Metaspace", "Replace", "Sequence", "Strip", "WordPiece")
def _(case, name):
    given = {"Replace": ["a", "b"], "Sequence": [[decoders.Fuse()]]}.get(name, [])
    made = base(decoder=getattr(decoders, name)(*given))
    for ours in (retrained(case, made), bpe.train_new_from_iterator(made, TEXTS, SIZE)):
        case.assertEqual(json.loads(ours.to_str())["decoder"], json.loads(made.to_str())["decoder"])
    with tempfile.TemporaryDirectory() as home:
        made.save(f"{home}/tokenizer.json")
        with bpe_closing(bpe.Tokenizer.load(home)) as loaded:
            case.assertEqual([loaded.decode(ids) for ids in loaded.encode_batch(TEXTS)], TEXTS)


@missing(D, "DecodeStream")
def _(case, name):
    no_option(case, name)
    case.assertFalse(hasattr(bpe, name))


# processors

R = "tokenizers: processors"


def template():
    return processors.TemplateProcessing("</s> $A", "</s> $A $B", [("</s>", 1)])


@equal(R, "BertProcessing", "RobertaProcessing", "ByteLevel", "TemplateProcessing")
def _(case, name):
    around = [("<s>", 0), ("</s>", 1)]
    step = template() if name == "TemplateProcessing" else getattr(processors, name)(*around * name.endswith("ssing"))
    made = base(post_processor=step)
    ours = [retrained(case, made), bpe.train_new_from_iterator(made, TEXTS, SIZE)]
    case.assertEqual(*(one.encode("low").ids for one in ours))
    if name == "TemplateProcessing":
        with bpe_closing(bpe.train(texts=TEXTS, vocab_size=SIZE, special_tokens=SPECIAL, bos="<s>", add_bos=True)) as our:
            case.assertEqual(our.to_hf().encode("low").tokens[0], "<s>")


@differs(R, "Sequence")
def _(case, name):
    made = base(post_processor=processors.Sequence([processors.ByteLevel(), template()]))
    there = PreTrainedTokenizerFast(tokenizer_object=made)
    options = {"special_tokens_map": {"</s>": "<e>"}, "new_special_tokens": ["<0>"]}
    ours = bpe.train_new_from_iterator(there, TEXTS, SIZE, **options)
    case.assertEqual(ours("low")["input_ids"][0], ours.convert_tokens_to_ids("<e>"))
    case.assertEqual(ours.get_vocab(), there.train_new_from_iterator(TEXTS, SIZE, show_progress=False, **options).get_vocab())


# train_new_from_iterator

F = "transformers: train_new_from_iterator"


@equal(F, "text_iterator", "vocab_size")
def _(case, name):
    retrained(case, base())
    with case.assertRaisesRegex(bpe.BpeError, r"vocab_size is 257, but must be at least 258 \(256 bytes and 2 special tokens\)"):
        bpe.train_new_from_iterator(base(), TEXTS, 257)


@differs(F, "length")
def _(case, name):
    retrained(case, base(), length=len(TEXTS))


@equal(F, "new_special_tokens", "special_tokens_map", "min_frequency", "max_token_length")
def _(case, name):
    given = {
        "new_special_tokens": ["<new>", AddedToken("low", lstrip=True, special=True)],
        "special_tokens_map": {"<s>": "</s>", "</s>": "<e>"},
        "min_frequency": 4,
        "max_token_length": 4,
    }
    changed = retrained(case, base(), **{name: given[name]})
    case.assertNotEqual(changed.to_str(), retrained(case, base()).to_str())
    made = base(model={"unk_token": "<s>"}, post_processor=template())
    made.enable_padding(pad_id=0, pad_token="<s>")
    bare = json.loads(bpe.train_new_from_iterator(made, TEXTS, SIZE, **{name: given[name]}).to_str())
    method = bpe.train_new_from_iterator(PreTrainedTokenizerFast(tokenizer_object=made), TEXTS, SIZE, **{name: given[name]})
    case.assertEqual(bare, json.loads(method.backend_tokenizer.to_str()))


@differs(F, "show_progress", "progress_format")
def _(case, name):
    told = []
    bpe.train_new_from_iterator(base(), TEXTS, SIZE, show_progress=lambda *event: told.append(event))
    case.assertTrue(told)
    if "progress_format" in inspect.signature(trainers.BpeTrainer).parameters:
        retrained(case, base(), progress_format="silent")
    with case.assertRaisesRegex(bpe.BpeError, "progress_format='json'"):
        bpe.train_new_from_iterator(base(), TEXTS, SIZE, progress_format="json")


@differs(F, "initial_alphabet")
def _(case, name):
    retrained(case, base(), initial_alphabet=["a", "bc"])
    root = json.loads(base().to_str())
    root["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "Sequence", "pretokenizers": [root["pre_tokenizer"]]}]}
    made = Tokenizer.from_str(json.dumps(root))
    retrained(case, made, initial_alphabet=ALPHABET)
    for given in ({}, {name: ["a", "b"]}):
        retrained(case, made, **given)
    refuses(case, base(), "initial_alphabet has '新', which represents no byte", initial_alphabet=["新"])


@differs(F, "limit_alphabet")
def _(case, name):
    retrained(case, base(), limit_alphabet=256)
    refuses(case, base(), "limit_alphabet=255 is too small: all 256 bytes", limit_alphabet=255)


@missing(F, "continuing_subword_prefix", "end_of_word_suffix")
def _(case, name):
    retrained(case, base(), **{name: ""})
    refuses(case, base(), f"{name}='##' is not supported: tokens are bytes", **{name: "##"})


# SentencePiece

S = "SentencePiece: spm_train --model_type=bpe"


def spec(*messages):
    """Returns the names of fields of SentencePiece's messages, from the installed package."""
    source = Path(sentencepiece.__file__).with_name("sentencepiece_model_pb2.py").read_text()
    constants = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    described = next(value for value in constants if isinstance(value, bytes) and b"TrainerSpec" in value)
    names = set()
    for number, message in parts(described):
        if number == 4:
            inside = list(parts(message))
            if inside[0][1].decode() in messages:
                names |= {dict(parts(field))[1].decode() for number, field in inside if number == 2}
    return names


def parts(message):
    """Yields the number and the bytes of each length-delimited field of a Protocol Buffers
    message."""
    place = 0

    def number():
        nonlocal place
        value = shift = 0
        while True:
            value |= (message[place] & 127) << shift
            place, shift = place + 1, shift + 7
            if message[place - 1] < 128:
                return value

    while place < len(message):
        key = number()
        size = number()
        if key & 7 == 2:
            yield key >> 3, message[place : place + size]
            place += size


SENTENCES = ["low lower lowest low", "newest new news", "the theme then", "１２ ab12"] * 5


def spm(sentences=SENTENCES, **flags):
    """Returns a trained SentencePiece model."""
    model = io.BytesIO()
    wanted = {"model_type": "bpe", "vocab_size": 40, "minloglevel": 3, **flags}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(sentences), model_writer=model, **wanted)
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def pieces(made):
    return [made.id_to_piece(id) for id in range(made.get_piece_size())]


def ours_of(size=280, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return our(SENTENCES, size, **options)


@missing(
    S,
    *("accept_language", "self_test_sample_size", "enable_differential_privacy", "differential_privacy_noise_level"),
    *("differential_privacy_clipping_threshold", "character_coverage", "auto_character_coverage", "required_chars"),
    *("input_sentence_size", "shuffle_input_sentence", "mining_sentence_size", "training_sentence_size"),
    *("seed_sentencepiece_size", "seed_sentencepieces_file", "shrinking_factor", "num_sub_iterations"),
    *("pretokenization_delimiter", "pretokenizer", "allow_inconsistent_pretokenization", "use_all_vocab"),
    *("vocabulary_output_piece_score", "unk_id", "bos_id", "eos_id", "pad_id", "unk_surface"),
    *("train_extremely_large_corpus", "precompiled_charsmap", "normalization_rule_tsv", "add_dummy_prefix"),
    *("remove_extra_whitespaces", "escape_whitespaces"),
)
def _(case, name):
    no_option(case, name)


@missing(S, "max_sentence_length")
def _(case, name):
    no_option(case, name)
    long = ["zq" * 3000]
    case.assertNotIn("zq", "".join(pieces(spm([*SENTENCES, *long], hard_vocab_limit=False))))
    case.assertIn("zq", our(long, 258).get_vocab())


@differs(S, "input", "sentence_iterator")
def _(case, name):
    text = "\nb\nb\nb"
    home, path = files([text])
    with home, bpe_closing(bpe.train(path if name == "input" else iter([text]), 257, pattern="none")) as ours:
        case.assertEqual(ours.decode([256]), "\nb")
    case.assertFalse([piece for piece in pieces(spm(["a b"] * 9, vocab_size=8, hard_vocab_limit=False)) if "\n" in piece])


@differs(S, "input_format")
def _(case, name):
    code, words = said("train", "--help=input")
    case.assertRegex(words, "(?s)--input-format.*jsonl.*parquet")


@differs(S, "model_prefix", "model_writer")
def _(case, name):
    no_option(case, name)
    with tempfile.TemporaryDirectory() as home:
        ours_of(output=f"{home}/made")
        case.assertIn("tokenizer.json", [path.name for path in Path(home, "made").iterdir()])


@differs(S, "model_type")
def _(case, name):
    no_option(case, name)


@differs(S, "vocab_size")
def _(case, name):
    case.assertEqual(spm().get_piece_size(), 40)
    with case.assertRaisesRegex(bpe.BpeError, "256 bytes"):
        our(SENTENCES, 40)


@equal(S, "num_threads")
def _(case, name):
    case.assertEqual(pieces(spm(num_threads=1)), pieces(spm(num_threads=3)))
    case.assertEqual(model_of(ours_of(workers=1)), model_of(ours_of(workers=3)))


@differs(S, "max_sentencepiece_length")
def _(case, name):
    made = spm(["ééé"] * 9, max_sentencepiece_length=3, vocab_size=8, hard_vocab_limit=False)
    case.assertEqual(max(len(piece) for piece in pieces(made)[3:]), 3)
    longest = our(["ééé"] * 9, 270, max_token_length=3)
    case.assertEqual(max(len(token) for token in longest.get_vocab()), 2)
    case.assertIn("Ã©Ã©Ã©", our(["ééé"] * 9, 260).get_vocab())


@differs(
    S, "split_by_unicode_script", "split_by_number", "split_by_whitespace", "treat_whitespace_as_suffix", "split_digits"
)
@differs(S, "allow_whitespace_only_pieces")
def _(case, name):
    no_option(case, name)
    text = {
        "split_by_unicode_script": (["abжд"], r"\p{Latin}+|\p{Cyrillic}+", "abÐ"),
        "split_by_number": (["ab12"], r"\p{N}+|[^\p{N}]+", "ab1"),
        "split_by_whitespace": (["a b"], None, "aĠ"),
        "treat_whitespace_as_suffix": (["a b "], r"\S+\s?|\s+", "Ġb"),
        "split_digits": (["x12"], "qwen2", "12"),
        "allow_whitespace_only_pieces": (["a   b"], r"\S+|\s", "ĠĠ"),
    }
    texts, pattern, token = text[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cut = our(texts * 9, 270, **({} if pattern is None else {"pattern": pattern}))
        whole = our(texts * 9, 270, pattern="none")
    case.assertFalse([one for one in cut.get_vocab() if token in one], cut.get_vocab())
    case.assertTrue([one for one in whole.get_vocab() if token in one])


@differs(S, "control_symbols")
def _(case, name):
    case.assertNotIn(3, spm(control_symbols=["<c>"]).encode("low<c>"))
    ours = ours_of(special_tokens=["<c>"])
    case.assertIn(0, ours.encode("low<c>").ids)


@differs(S, "user_defined_symbols")
def _(case, name):
    case.assertIn(3, spm(user_defined_symbols=["<u>"]).encode("low<u>"))
    case.assertIn(0, ours_of(special_tokens=["<u>"]).encode("low<u>").ids)
    case.assertIn("theme", ours_of(pattern="none", seed_tokens=["theme"], size=262).get_vocab())


@differs(S, "byte_fallback")
def _(case, name):
    no_option(case, name)
    case.assertEqual(spm().decode(spm().encode("你")), " ⁇ ")
    made = ours_of()
    case.assertEqual(made.decode(made.encode("你").ids), "你")


@differs(S, "hard_vocab_limit")
def _(case, name):
    no_option(case, name)
    with case.assertRaises(RuntimeError):
        spm(vocab_size=4000)
    case.assertLess(spm(vocab_size=4000, hard_vocab_limit=False).get_piece_size(), 4000)
    with case.assertWarnsRegex(UserWarning, "stopped early"):
        our(SENTENCES, 4000)


@differs(S, "unk_piece", "bos_piece", "eos_piece", "pad_piece")
def _(case, name):
    role = name.split("_")[0]
    case.assertIn("<r>", pieces(spm(**{name: "<r>", f"{role}_id": {"unk": 0, "bos": 1, "eos": 2, "pad": 3}[role]})))
    with tempfile.TemporaryDirectory() as home:
        ours_of(special_tokens=["<r>"], output=f"{home}/made", **{role: "<r>"})
        config = json.loads(Path(home, "made/tokenizer_config.json").read_text())
        case.assertEqual(config[f"{role}_token"], "<r>")
        with case.assertRaisesRegex(bpe.BpeError, "<x>"):
            ours_of(output=f"{home}/other", **{role: "<x>"})


@differs(S, "normalizer", "name")
def _(case, name):
    no_option(case, name)
    case.assertIn("▁12", spm(["１２"] * 9, vocab_size=8, hard_vocab_limit=False).encode("１２", out_type=str)[0])
    case.assertNotIn("12", our(["１２"] * 9, 257).get_vocab())
    case.assertIn("12", our(["１２"] * 9, 257, normalize="NFKC").get_vocab())


# The page


def sections():
    """Returns the rows of each table: name, our options, verdict. A row with several names is returned for each."""
    found = {}
    for part in PAGE.read_text("utf-8").split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in body.splitlines() if line.startswith("| `")]
        if cells:
            found[title] = [(name, here.strip(), is_.strip()) for there, here, is_, _ in cells
                            for name in re.findall("`([^`]+)`", there)]
    return found


def parameters(function, *, of=None):
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "kwargs")]
    return {name if of is None else f"{of}({name})" for name in names}


def classes(module, base_name):
    found = {name for name, one in vars(module).items() if inspect.isclass(one) and name[0] != "_"}
    return {name for name in found if getattr(module, name).__module__.startswith("tokenizers")} - {base_name}


def expected():
    """Returns the names that each table must have, from the installed packages."""
    steps = classes(pre_tokenizers, "PreTokenizer")
    spm_source = inspect.getsource(sentencepiece.SentencePieceTrainer._Train)
    own = {"sentence_iterator", "model_writer", "normalizer", "pretokenizer", "allow_inconsistent_pretokenization"}
    return {
        T: parameters(Tokenizer.train, of="train")
        | parameters(Tokenizer.train_from_iterator, of="train_from_iterator"),
        B: parameters(trainers.BpeTrainer),
        Y: parameters(trainers.ParityBpeTrainer)
        | parameters(trainers.ParityBpeTrainer.train_from_iterator, of="train_from_iterator"),
        L: parameters(ByteLevelBPETokenizer.__init__)
        | parameters(ByteLevelBPETokenizer.train, of="train")
        | parameters(ByteLevelBPETokenizer.train_from_iterator, of="train_from_iterator"),
        M: parameters(models.BPE),
        P: steps.union(*(parameters(getattr(pre_tokenizers, name), of=name) for name in steps)),
        N: classes(normalizers, "Normalizer"),
        D: classes(decoders, "Decoder"),
        R: classes(processors, "PostProcessor"),
        F: parameters(PreTrainedTokenizerFast.train_new_from_iterator)
        | parameters(trainers.BpeTrainer) - {"special_tokens"},
        S: spec("TrainerSpec", "NormalizerSpec") | {name for name in own if f"'{name}'" in spm_source},
    }


class Page(unittest.TestCase):
    maxDiff = None

    def test_every_parameter_is_a_row_and_every_row_a_test(self) -> None:
        self.assertEqual({title: sorted(name for name, _, _ in rows) for title, rows in sections().items()},
                         {title: sorted(names) for title, names in expected().items()})
        rows = {(title, name, verdict) for title, rows in sections().items() for name, _, verdict in rows}
        self.assertEqual(rows ^ {(*key, verdict) for key, (verdict, _) in ROWS.items()}, set())

    def test_the_versions_are_those_that_the_page_names(self) -> None:
        page = PAGE.read_text("utf-8")
        for module in (tokenizers, transformers, sentencepiece):
            self.assertIn(f"`{module.__name__}` {module.__version__}", page.replace("\n", " "))

    def test_the_options_that_rows_name_are_there(self) -> None:
        functions = (bpe.train, bpe.train_new_from_iterator, trainers.BpeTrainer)
        taken = {name for function in functions for name in inspect.signature(function).parameters}
        _, options = said("train", "--help=all")
        for title, rows in sections().items():
            for name, here, verdict in rows:
                with self.subTest(title, name=name):
                    self.assertTrue(here == "" or verdict != "missing")
                    for option in re.findall("`([^`]+)`", here):
                        known = options if option.startswith("--") else [*taken, *dir(bpe), "Tokenizer.load"]
                        self.assertIn(option, known)


def tested(title):
    def test(self):
        for name, _, _ in sections()[title]:
            with self.subTest(name):
                ROWS[title, name][1](self, name)

    return test


for title in (T, B, Y, L, M, P, N, D, R, F, S):
    setattr(Page, f"test_{re.sub('[^a-z_]+', '_', title.lower()).strip('_')}", tested(title))


if __name__ == "__main__":
    unittest.main()
