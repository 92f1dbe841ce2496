"""Tests that wrong arguments are refused, usually with an error that names the parameter."""

import inspect
import os
import re
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import numpy

import bpe_trainer as bpe
from bpe_trainer import _training, cs336


class Odd:
    """An object without any useful method."""


WRONG: "tuple[Any, ...]" = (
    *(None, 5, -1, True, 2.5, float("nan"), 2**70, "", "text", b"bytes", [], [1], [None], ["a"], {}, {"a": 1}, ("x", 2), {1, 2}),
    *(object, Odd(), lambda x: x, re.compile("a")),
)
#: Values that almost no parameter accepts; the first test lists the exceptions.
NEVER = (2.5, [None], {1, 2}, object, WRONG[-3], re.compile("a"), ("x", 2), b"\xff")


class Passed(Exception):
    """Raised when an argument has passed all checks, and would reach the executable."""


class Given(unittest.TestCase):
    def refused(self, error: Exception, name: str, value: object) -> None:
        """Checks that the error is a BpeError, or a TypeError or ValueError that names a parameter."""
        names = {"files": "files|texts", "text": "text", "token": "token", "text_iterator": "texts?", "self": "text"}
        names.update(dict.fromkeys(("texts", "languages"), "texts?|languages?"), batch="batch|ids", tokens="tokens?", input_path="input_path")
        if isinstance(error, bpe.BpeError):
            return
        self.assertIsInstance(error, (TypeError, ValueError), (name, value))
        self.assertRegex(str(error), rf"\b({names.get(name, name)})\b", (name, value))

    def test_each_parameter_of_a_training(self) -> None:
        right = {"texts": ["the cat"], "vocab_size": 258, "output": "out"}
        for name in inspect.signature(bpe.train).parameters:
            for value in (*WRONG, *NEVER):
                given = {**right, name: value}
                if name == "files" and value is not None:
                    del given["texts"]
                with self.subTest(name=name, value=value), mock.patch.object(_training, "run_training", side_effect=Passed):
                    try:
                        bpe.train(**given)
                    except Passed:
                        is_function = name == "progress" and callable(value)
                        is_text = name in ("files", "texts", "vocab_size") and isinstance(value, (set, tuple, list, bytes))
                        is_path = isinstance(value, bytes) and ("path" in str(inspect.signature(bpe.train).parameters[name]).lower())
                        is_number = value == 2.5 and name in ("language_ratio", "language_window")
                        if any(value is never for never in NEVER):
                            self.assertTrue(is_function or is_text or is_path or is_number, value)
                    except Exception as error:
                        self.refused(error, name, value)

    def test_numbers_and_truth_values_of_numpy_are_taken(self) -> None:
        with mock.patch.object(_training, "run_training", side_effect=Passed) as run, self.assertRaises(Passed):
            bpe.train(
                texts=["a"], vocab_size=numpy.int64(300), min_frequency=numpy.uint8(2), model_card=numpy.bool_(True), add_bos=numpy.False_,
                language_ratio=numpy.array([1.5, 2]), special_tokens=(text for text in ["<s>"]), chat_template=Path("t.jinja"),
            )
        arguments = run.call_args[0][0]
        for each in ("--vocab-size=300", "--min-frequency=2", "--model-card", "--language-ratio=1.5,2.0", "--special-token=<s>", "--chat-template=t.jinja"):
            self.assertIn(each, arguments)
        self.assertNotIn("--add-bos", arguments)

    def test_each_parameter_of_a_method(self) -> None:
        right = {
            **{"text": "the cat", "texts": ["a"], "ids": [97], "batch": [[97]], "id": 97, "token": "a", "limit": 3, "size": 2},
            **{"path": "tokenizer", "directory": "tokenizer"},
        }
        methods = (
            "encode tokenize encode_batch count truncate chunks encode_with_offsets __call__ encode_iterable decode decode_bytes"
            " decode_batch decode_batch_bytes decode_with_offsets decode_tokens_bytes encode_ordinary stream convert_tokens_to_ids convert_ids_to_tokens token_to_id id_to_token token_bytes"
        )
        with bpe.train(texts=["the cat sat"], vocab_size=260) as tokenizer:
            for method in methods.split():
                call = getattr(tokenizer, method)
                parameters = inspect.signature(call).parameters
                needed = {name: right[name] for name, each in parameters.items() if each.default is each.empty and name in right}
                for name in parameters:
                    if name == "others":
                        continue
                    for value in WRONG:
                        with self.subTest(method=method, name=name, value=value):
                            try:
                                made = call(**{**needed, name: value})
                                list(made) if method == "encode_iterable" else None
                            except Exception as error:
                                self.refused(error, name, value)
            for value in WRONG:
                with self.subTest(push=value):
                    try:
                        tokenizer.stream().push(value)
                    except Exception as error:
                        self.refused(error, "ids", value)
            for value in (None, 5, 2.5, [], object, Odd()):
                for call, name in (
                    (bpe.Tokenizer.load, "path"), (bpe.Tokenizer.from_pretrained, "directory"), (tokenizer.save, "directory"),
                    (lambda each: bpe.Tokenizer.load("x", pattern=each or object), "pattern"),
                    (lambda each: bpe.Tokenizer.load("x", special_tokens=each or 0), "special_tokens"),
                    (lambda each: tokenizer.encode_file(each), "files"), (lambda each: tokenizer.encode_file([each]), "files"),
                    (lambda each: tokenizer.encode_file("x", workers=each or 0), "workers"),
                    (lambda each: tokenizer.encode_file("x", append_token=each or 0), "append_token"),
                ):
                    if (name, value) == ("workers", 5):
                        continue
                    with self.subTest(name=name, value=value), self.assertRaisesRegex((TypeError, ValueError), name):
                        call(value)

    def test_each_parameter_of_the_assignment(self) -> None:
        vocab, merges = {**dict(enumerate(map(bytes, zip(range(256))))), 256: b"ab"}, [(b"a", b"b")]
        with tempfile.TemporaryDirectory() as home:
            corpus = Path(home, "corpus.txt")
            corpus.write_text("ab ab")
            tokenizer = cs336.get_tokenizer(vocab, merges)
            right = {"vocab": vocab, "merges": merges, "input_path": corpus, "special_tokens": [], "vocab_size": 257, "text": "ab", "tokenizer": tokenizer}
            for call in (cs336.run_train_bpe, cs336.get_tokenizer, cs336.check, cs336.check_encode):
                for name in inspect.signature(call).parameters:
                    for value in WRONG if name != "_" else ():
                        # For these parameters, strings may be paths, and whole numbers may be
                        # sizes.
                        if (name, type(value)) in (("input_path", str), ("input_path", bytes), ("vocab_size", int)):
                            continue
                        given = {each: right[each] for each in inspect.signature(call).parameters if each in right}
                        with self.subTest(call=call.__name__, name=name, value=value):
                            try:
                                call(**{**given, name: value})
                            except Exception as error:
                                self.refused(error, {"vocab": "vocab|token|vocabulary"}.get(name, name), value)
            for wrong, words in (([("a", "b")], r"merges\[0\] must be .* found \('a', 'b'\)"), ([(b"a", b"b"), b"ab"], r"merges\[1\] must be .* found b'ab'")):
                for call in (cs336.get_tokenizer, lambda *given: cs336.check(*given, corpus)):
                    with self.assertRaisesRegex(TypeError, words):
                        call(vocab, wrong)

    def test_errors_suggest_the_right_parameter(self) -> None:
        texts = {"texts": ["the cat"], "vocab_size": 258}
        with bpe.train(**texts) as tokenizer:
            for words, call in (
                ("show_progress': use progress=True", lambda: bpe.train(**texts, show_progress=True)),
                ("initial_alphabet': leave it out: all 256 bytes", lambda: bpe.train(**texts, initial_alphabet=["a"])),
                ("special_token': did you mean special_tokens?", lambda: bpe.train(**texts, special_token=["a"])),
                ("no parameter 'zzz': help.bpe.train. lists its parameters", lambda: bpe.train(**texts, zzz=1)),
                ("no parameter 'show_progress'", lambda: tokenizer.extend(seed_tokens=["x"], show_progress=True)),
                ("weights must be a dict of weights by path or glob.*found list", lambda: bpe.train(**texts, weights=[1])),
                ("special_tokens must be strings, found NoneType", lambda: bpe.train(**texts, special_tokens=[None])),
                ("pattern must be a string or a whole number, found Pattern", lambda: bpe.train(**texts, pattern=re.compile("a"))),
                ("wait must be True or False, found 'no'", lambda: bpe.train(**texts, wait="no")),
                ("text must be a string, found None", lambda: tokenizer.chunks(None, 5)),
                ("size must be a whole number, found '5'", lambda: tokenizer.chunks("a", "5")),
                ("ids is a dict", lambda: tokenizer.decode(tokenizer("a"))),
            ):
                with self.subTest(words=words), self.assertRaisesRegex(TypeError, words):
                    call()
            for words, call in (
                ("^files is empty", lambda: bpe.train([], 300)),
                ("^files is empty", lambda: tokenizer.encode_file([])),
                ("^workers is 0, and must be 1 or more", lambda: tokenizer.encode_file("x", workers=0)),
            ):
                with self.subTest(words=words), self.assertRaisesRegex(ValueError, words):
                    call()
            with self.assertRaises(bpe.BpeError) as raised:
                tokenizer.encode_file("nosuch")
            self.assertEqual(
                str(raised.exception), '"nosuch": no such file\nhint: a string is the path of a file here; encode(text) encodes a text'
            )
            with tempfile.TemporaryDirectory() as home:
                tokenizer.save(home)
                with self.assertRaises(bpe.BpeError) as raised:
                    bpe.Tokenizer.load(Path(home, "vocab.json"), pattern="nosuch")
            self.assertNotIn("--", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
