"""Calls that other packages have under the same names, or similar ones."""

import copy
import json
import os
import pickle
import random
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import numpy
import tiktoken
from tokenizers import Tokenizer

import bpe_trainer as bpe
from test_bpe import END, made_texts

SPECIAL = [END, "<|pad|>", "<|é|>"]
#: The expression of the named pattern cl100k.
PATTERN = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"


def mixed_texts(count: int) -> list[str]:
    draw = random.Random(3)
    texts = made_texts(count)
    return [text + "".join(draw.choices([*SPECIAL, " ", "é", "<|", "\n"], k=draw.randrange(4))) for text in texts]


class Trained(unittest.TestCase):
    """A base class with one tokenizer for all tests of the class."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.kept = tempfile.TemporaryDirectory()
        cls.home = Path(cls.kept.name)
        cls.texts = mixed_texts(60)
        cls.tokenizer = bpe.train(texts=cls.texts, vocab_size=340, special_tokens=SPECIAL, pattern="cl100k")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.tokenizer.close()
        cls.kept.cleanup()

    def same(self, ours: bpe.Tokenizer, theirs: bpe.Tokenizer) -> None:
        self.assertEqual(ours.encode_batch(self.texts), theirs.encode_batch(self.texts))
        self.assertEqual(ours.special_tokens, theirs.special_tokens)


class OneFile(Trained):
    def test_the_ending_decides_which_file_is_written(self) -> None:
        path = self.home / "new" / "x.json"
        self.tokenizer.save(path)
        self.tokenizer.save(str(path))
        self.assertTrue(path.is_file())
        self.assertEqual(os.listdir(path.parent), ["x.json"])
        theirs = Tokenizer.from_file(str(path))
        self.assertEqual([theirs.encode(text).ids for text in self.texts], self.tokenizer.encode_batch(self.texts))
        self.assertEqual(path.read_bytes(), (Path(self.tokenizer._path) / "tokenizer.json").read_bytes())
        ranks = self.home / "x.tiktoken"
        for _ in range(2):
            self.tokenizer.save(ranks)
            self.tokenizer.save(self.home / "x.gguf")
        with bpe.Tokenizer.load(ranks, pattern="cl100k", special_tokens=self.tokenizer.special_tokens) as loaded:
            self.same(loaded, self.tokenizer)
            loaded.save(self.home / "again.json")
            with bpe.Tokenizer.load(self.home / "again.json") as again:
                self.same(again, self.tokenizer)

    def test_an_ending_of_another_kind_is_an_error_and_a_directory_stays_one(self) -> None:
        for name in ("vocab.json", "merges.txt", "x.model"):
            with self.assertRaisesRegex(bpe.BpeError, r"(vocab.json and merges.txt|cannot be written)\n.*save\(DIRECTORY\)"):
                self.tokenizer.save(self.home / name)
        with self.assertRaises(bpe.BpeError):
            self.tokenizer.save(self.home / "tekken.json")
        with self.assertRaisesRegex(ValueError, "directory"):
            self.tokenizer.save(self.home / "y.json", image=True)
        self.assertFalse((self.home / "y.json").exists())
        for name in ("mine.json", "mine.tiktoken", "mine.gguf"):
            (self.home / name).write_text('{"text": "a record"}\n')
            with self.assertRaisesRegex(bpe.BpeError, "not replaced\nhint: "):
                self.tokenizer.save(self.home / name)
            self.assertEqual((self.home / name).read_text(), '{"text": "a record"}\n')
        directory = self.home / "d.json"
        directory.mkdir()
        self.tokenizer.save(directory)
        self.assertTrue((directory / "tokenizer.json").is_file())


class InMemory(Trained):
    def test_a_tokenizer_becomes_a_string_and_back(self) -> None:
        text = self.tokenizer.to_str()
        with bpe.Tokenizer.from_str(text) as ours:
            self.same(ours, self.tokenizer)
            self.assertEqual(ours.to_str(), text)
            self.assertEqual(Tokenizer.from_str(text).to_str(), ours.to_hf().to_str())
            with pickle.loads(pickle.dumps(ours)) as copied:
                self.same(copied, ours)
        path = Path(self.tokenizer._path)
        for options in ({"path": path / "vocab.json"}, {"path": path / "tokenizer.tiktoken"}):
            with bpe.Tokenizer.load(**options) as loaded, bpe.Tokenizer.from_str(loaded.to_str()) as ours:
                self.same(ours, self.tokenizer)
        with self.assertRaisesRegex(bpe.BpeError, '^"tokenizer.json"'):
            bpe.Tokenizer.from_str(json.dumps({"model": {"type": "WordPiece"}}))
        with self.assertRaisesRegex(TypeError, "json must be a string"):
            bpe.Tokenizer.from_str(b"{}")

    def test_ranks_are_those_of_tiktoken(self) -> None:
        ranks = self.tokenizer.to_tiktoken()._mergeable_ranks
        special = {END: 400, "<|pad|>": 402, "<|é|>": 401}
        theirs = tiktoken.Encoding("x", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=special)
        made = [bpe.Tokenizer.from_ranks(ranks, pattern, special) for pattern in ("cl100k", PATTERN)]
        for ours in made:
            expected = [theirs.encode(text, allowed_special="all") for text in self.texts]
            self.assertEqual(ours.encode_batch(self.texts), expected)
            self.assertEqual(ours.special_tokens, special)
            self.assertEqual(ours.to_tiktoken().encode(self.texts[0], allowed_special="all"), expected[0])
        self.assertEqual(pickle.dumps(made[0]), pickle.dumps(bpe.Tokenizer.from_ranks(ranks, "cl100k", special)))
        with bpe.Tokenizer.from_str(made[0].to_str()) as ours:
            self.same(ours, made[0])
        for error, words, wrong in [
            (TypeError, "found 'a'", {"a": 0}),
            (TypeError, "whole number", {b"a": 0.5}),
            (ValueError, "the same id, 0", {b"a": 0, b"b": 0}),
            (bpe.BpeError, '^"ranks"', {b"a": 0}),
        ]:
            with self.assertRaisesRegex(error, words):
                bpe.Tokenizer.from_ranks(wrong, "cl100k")
        with self.assertRaisesRegex(TypeError, "^pattern must be a string, found None"):
            bpe.Tokenizer.from_ranks(ranks, None)
        with self.assertRaisesRegex(TypeError, "^text_or_bytes must be a string or bytes, found 5"):
            self.tokenizer.encode_single_token(5)
        with self.assertRaisesRegex(ValueError, "^directory is empty"):
            self.tokenizer.save("")


class TiktokensNames(Trained):
    def test_special_tokens_are_allowed_and_disallowed_as_in_tiktoken(self) -> None:
        ours, theirs = self.tokenizer, self.tokenizer.to_tiktoken()
        draw = random.Random(4)
        choices = [None, "all", set(), {END}, {END, "<|pad|>"}, {"<|é|>"}]
        raised = 0
        for text in self.texts * 3:
            given = {"allowed_special": draw.choice(choices), "disallowed_special": draw.choice([*choices, ()])}
            given = {name: value for name, value in given.items() if value is not None} or {"allowed_special": "all"}
            try:
                expected = theirs.encode(text, **given)
            except ValueError:
                raised += 1
                for call in (lambda: ours.encode(text, **given), lambda: ours.encode_batch([text], **given)):
                    with self.assertRaisesRegex(ValueError, r"disallowed special token '<\|"):
                        call()
            else:
                self.assertEqual(ours.encode(text, **given), expected)
                self.assertEqual(ours.encode_batch([text], **given), [expected])
        self.assertGreater(raised, 5)
        for error, given in [
            (TypeError, {"allowed_special": END}),
            (TypeError, {"disallowed_special": END}),
            (ValueError, {"allowed_special": "all", "special_tokens_as_text": True}),
        ]:
            with self.assertRaises(error):
                ours.encode("a", **given)

    def test_a_special_token_that_begins_another_is_not_found_in_it(self) -> None:
        with bpe.train(texts=["a b"], vocab_size=259, special_tokens=["<a>", "<a>b"]) as ours:
            short, long = ours.special_tokens["<a>"], ours.special_tokens["<a>b"]
            text = "<a>b<a><a"
            tail = ours.encode_ordinary("<a")
            given = {"disallowed_special": ()}
            self.assertEqual(ours.encode(text, allowed_special="all"), [long, short, *tail])
            self.assertEqual(ours.encode(text, allowed_special={"<a>"}, **given), [*ours.encode_ordinary("<a>b"), short, *tail])
            self.assertEqual(ours.encode(text, allowed_special={"<a>b"}, **given), [long, *ours.encode_ordinary("<a><a")])
            with self.assertRaisesRegex(ValueError, "'<a>b'"):
                ours.encode(text, allowed_special={"<a>"})

    def test_what_a_normal_form_may_change_is_not_cut_apart(self) -> None:
        with bpe.train(texts=["a b"], vocab_size=259, special_tokens=["<a>", "<b>"], normalize="NFC", formats=["huggingface"]) as ours:
            self.assertEqual(ours.encode("<a>", allowed_special={"<a>"}), [ours.special_tokens["<a>"]])
            with self.assertRaisesRegex(bpe.BpeError, "normalizes texts, or strips"):
                ours.encode("<a><b>", allowed_special={"<a>"}, disallowed_special=())
            with self.assertRaisesRegex(bpe.BpeError, "cannot reproduce this tokenizer, which normalizes or strips"):
                ours.to_tiktoken()

    def test_the_other_names_are_tiktokens(self) -> None:
        ours, theirs = self.tokenizer, self.tokenizer.to_tiktoken()
        for name in ("n_vocab", "max_token_value", "eot_token", "special_tokens_set"):
            self.assertEqual(getattr(ours, name), getattr(theirs, name))
        self.assertEqual(ours.encode_ordinary_batch(self.texts), theirs.encode_ordinary_batch(self.texts))
        ids = [ours.encode_ordinary(text) for text in self.texts]
        self.assertEqual(ids, [theirs.encode_ordinary(text) for text in self.texts])
        for each in ids:
            self.assertEqual(ours.decode_tokens_bytes(each), theirs.decode_tokens_bytes(each))
        self.assertEqual(ours.token_byte_values(), theirs.token_byte_values())
        for id in range(ours.n_vocab + 1):
            self.assertEqual(ours.is_special_token(id), theirs.is_special_token(id))
        for id in range(ours.n_vocab):
            token = ours.decode_single_token_bytes(id)
            self.assertEqual(token, theirs.decode_single_token_bytes(id))
            self.assertEqual(ours.encode_single_token(token), id)
        self.assertEqual(ours.encode_single_token(END), ours.eot_token)
        for call in (lambda: ours.encode_single_token("no such"), lambda: ours.decode_single_token_bytes(10_000)):
            with self.assertRaises(KeyError):
                call()

    def test_surrogates_are_encoded_as_by_tiktoken_in_its_calls_and_refused_in_others(self) -> None:
        ours, theirs = self.tokenizer, self.tokenizer.to_tiktoken()
        given = {"allowed_special": {END}, "disallowed_special": ()}
        for text in ("\ud83d\udc4d", "\ud83d", "a\udc4d\ud83d b", f"\ud83d{END}\udc4d", "\ufeffa\ud83d"):
            self.assertEqual(ours.encode_ordinary(text), theirs.encode_ordinary(text))
            self.assertEqual(ours.encode_ordinary_batch([text, "a"]), theirs.encode_ordinary_batch([text, "a"]))
            self.assertEqual(ours.encode(text, **given), theirs.encode(text, **given))
            self.assertEqual(ours.encode_batch([text], **given), [theirs.encode(text, **given)])
            for call in (lambda: ours.encode(text), lambda: ours.encode_batch([text])):
                with self.assertRaisesRegex(UnicodeEncodeError, "surrogates not allowed"):
                    call()
        for call in (ours.encode_ordinary, lambda wrong: ours.encode_ordinary_batch([wrong])):
            for wrong in (None, 3, ["a"]):
                with self.assertRaisesRegex(TypeError, "must be a string, found"):
                    call(wrong)

    def test_bytes_need_not_be_utf8(self) -> None:
        ours = self.tokenizer
        for text in [*self.texts, "", "é" * 700_000]:
            data, ids = text.encode("utf-8"), ours.encode(text)
            self.assertEqual(ours.encode(data), ids)
            self.assertEqual(ours.encode_batch([data, text]), [ids, ids])
            self.assertEqual((ours.count(data), ours.encode(data, threads=3)), (len(ids), ids))
        draw = random.Random(5)
        for size in [*range(30), 1 << 20]:
            data = bytes(draw.choices(b"\xff\x80\xc3\xed\xa0\xf4 a<|", k=size))
            path = self.home / "damaged.txt"
            path.write_bytes(b"a \n" + data)
            self.assertEqual(ours.decode_bytes(ours.encode(data)), data)
            self.assertEqual(ours.encode(path.read_bytes()), ours.encode_file(path).tolist())
        calls = (lambda it: ours.truncate(it, 1), lambda it: ours.chunks(it, 1), ours.encode_with_offsets, ours.encode_batch)
        for call in (*calls, lambda it: ours.encode(it, allowed_special="all"), lambda it: ours.encode(bytearray(it))):
            with self.assertRaises(TypeError):
                call(b"ab")

    def test_positional_arguments_of_other_packages_are_refused(self) -> None:
        for given in (("a second text",), (None, True), (None, None, False), (True,), (["a"],)):
            with self.assertRaises(TypeError):
                self.tokenizer.encode("a", *given)

    def test_special_tokens_are_text_by_default_where_loading_says_so(self) -> None:
        with bpe.Tokenizer.load(self.tokenizer._path, special_tokens_as_text=True) as ours:
            text = f"a{END}b"
            ids = self.tokenizer.encode_ordinary(text)
            self.assertNotEqual(ids, self.tokenizer.encode(text))
            with pickle.loads(pickle.dumps(ours)) as copied, copy.copy(ours) as other:
                for each in (ours, copied, other):
                    self.assertEqual(each.encode(text), ids)
                    self.assertEqual(each.encode_batch([text, text]), [ids, ids])
                    self.assertEqual(each([text])["input_ids"], [ids])
                    self.assertEqual((each.count(text), len(each.tokenize(text))), (len(ids), len(ids)))
                    self.assertEqual([*each.encode_iterable([text])], ids)
                    self.assertEqual(each.encode_with_offsets(text)[0], ids)
                    self.assertEqual(each.encode(text, special_tokens_as_text=False), self.tokenizer.encode(text))
                    self.assertEqual(each.encode(text, allowed_special="all"), self.tokenizer.encode(text))
            path = self.home / "special.txt"
            path.write_text(text, "utf-8")
            self.assertEqual(ours.encode_file(path).tolist(), ids)
            self.assertNotIn(END, ours.pre_tokenize(text))
            ours.save(self.home / "as-text")

    def test_a_name_is_looked_up_as_on_the_command_line(self) -> None:
        with self.assertRaisesRegex(bpe.BpeError, "(?s)gpt-4o.*no tokenizer of that name in the caches of tiktoken and Hugging Face.*curl"):
            with unittest.mock.patch.dict(os.environ, {"TIKTOKEN_CACHE_DIR": str(self.home)}):
                bpe.Tokenizer.load("gpt-4o")
        hub = self.home / "hub"
        at = hub / "models--some--model"
        self.tokenizer.save(at / "snapshots" / "abc")
        (at / "refs").mkdir()
        (at / "refs" / "main").write_text("abc")
        with unittest.mock.patch.dict(os.environ, {"HF_HUB_CACHE": str(hub)}):
            loaded = bpe.Tokenizer.load("some/model")
        with loaded as ours, pickle.loads(pickle.dumps(loaded)) as copied:
            self.same(ours, self.tokenizer)
            self.same(copied, self.tokenizer)
            self.assertEqual(ours._path, str(at / "snapshots" / "abc"))
            self.assertEqual(ours.to_tiktoken().n_vocab, ours.n_vocab)


class Decoding(Trained):
    def test_special_tokens_are_left_out_on_request(self) -> None:
        theirs = self.tokenizer.to_tiktoken()
        special = {*self.tokenizer.special_tokens.values()}
        batch = self.tokenizer.encode_batch(self.texts)
        for skips in (True, False):
            expected = theirs.decode_batch([[id for id in ids if not skips or id not in special] for ids in batch])
            self.assertEqual(self.tokenizer.batch_decode(batch, skip_special_tokens=skips), expected)
            for ids, text in zip(batch, expected):
                decoder = self.tokenizer.stream(skip_special_tokens=skips)
                self.assertEqual("".join(map(decoder.push, ids)) + decoder.end(), text)
        self.assertEqual(self.tokenizer.decode_bytes_batch(batch), [text.encode() for text in self.texts])

    def test_a_stream_continues_after_a_prompt(self) -> None:
        for text in ["", "abc", "é😀é", f"a{END}é"]:
            ids = self.tokenizer.encode(text)
            for cut in range(len(ids) + 1):
                for prompt in (ids[:cut], numpy.array(ids[:cut], dtype=int)):
                    decoder = self.tokenizer.stream(ids=prompt)
                    rest = "".join(map(decoder.push, ids[cut:])) + decoder.end()
                    whole = self.tokenizer.decode_bytes(ids[:cut]).decode("utf-8", "ignore")
                    self.assertEqual(whole + rest, text)
        with self.assertRaisesRegex(bpe.BpeError, "9999"):
            self.tokenizer.stream(ids=[9999])

    def test_unknown_ids_have_no_text_in_a_stream_on_request(self) -> None:
        a, start, end = map(self.tokenizer.encode_single_token, (b"a", b"\xc3", b"\xa9"))
        decoder = self.tokenizer.stream(skip_unknown_ids=True, ids=[10**30, start])
        self.assertEqual([decoder.push(ids) for ids in (340, [-1, 10**30], end, [a, 9999, a])], ["", "", "é", "aa"])
        self.assertEqual(decoder.end(), "")
        with self.assertRaises(TypeError):
            decoder.push(["a"])
        with self.assertRaisesRegex(bpe.BpeError, "340"):
            self.tokenizer.stream().push(340)

    def test_offsets_are_tiktokens(self) -> None:
        theirs = self.tokenizer.to_tiktoken()
        for text in [*self.texts, "", "é😀é", "你好"]:
            ids = self.tokenizer.encode(text)
            self.assertEqual(self.tokenizer.decode_with_offsets(ids), theirs.decode_with_offsets(ids))
        with self.assertRaises(UnicodeDecodeError):
            self.tokenizer.decode_with_offsets([self.tokenizer.encode_single_token(b"\xff")])


class Learned(Trained):
    def test_ranks_and_pattern_make_the_same_tokenizer(self) -> None:
        ours, theirs = self.tokenizer, self.tokenizer.to_tiktoken()
        self.assertEqual(ours.ranks(), theirs._mergeable_ranks)
        self.assertEqual(ours.pattern, theirs._pat_str)
        with bpe.Tokenizer.from_ranks(ours.ranks(), ours.pattern, ours.special_tokens) as again:
            self.same(again, ours)
        merges = ours.merges
        self.assertEqual([ours.encode_single_token(left + right) for left, right in merges], [*range(256, 256 + len(merges))])
        lines = (Path(ours._path) / "merges.txt").read_text("utf-8").splitlines()[1:]
        spelled = [f"{ours.id_to_token(ours.encode_single_token(a))} {ours.id_to_token(ours.encode_single_token(b))}" for a, b in merges]
        self.assertEqual(spelled, lines)
        for pattern, vocab_size in (("gpt2", 256), (r"\w+|\W", 280)):
            with bpe.train(texts=self.texts, vocab_size=vocab_size, pattern=pattern) as other:
                self.assertEqual(len(other.merges), vocab_size - 256)
                with bpe.Tokenizer.from_ranks(other.ranks(), other.pattern) as again:
                    self.assertEqual(again.encode_batch(self.texts), other.encode_batch(self.texts))
        with bpe.train(texts=self.texts, vocab_size=280, pattern="deepseek-v3") as several:
            with self.assertRaisesRegex(bpe.BpeError, "regular expressions, not by one"):
                several.pattern

    def test_vocabularies_are_those_of_hf(self) -> None:
        text = json.loads(self.tokenizer.to_str())
        flags = {flag: False for flag in ("lstrip", "rstrip", "single_word", "normalized", "special")}
        text["added_tokens"].append({"id": 340, "content": "<new>", **flags})
        with bpe.Tokenizer.from_str(json.dumps(text)) as ours:
            theirs = ours.to_hf()
            for added in (True, False):
                self.assertEqual(ours.get_vocab(with_added_tokens=added), theirs.get_vocab(added))
                self.assertEqual(ours.get_vocab_size(added), theirs.get_vocab_size(added))

    def test_calls_of_transformers(self) -> None:
        ours = self.tokenizer
        self.assertEqual(ours.convert_tokens_to_ids(END), ours.special_tokens[END])
        self.assertEqual(ours.convert_tokens_to_ids(["a", "no such", END]), [ours.encode_single_token("a"), None, ours.special_tokens[END]])
        self.assertEqual(ours.convert_ids_to_tokens(numpy.array([ours.encode_single_token("a"), 10_000])), ["a", None])
        self.assertEqual(ours.convert_ids_to_tokens(numpy.int64(ours.encode_single_token("a"))), "a")
        self.assertEqual(ours.encode_batch_fast(self.texts), ours.encode_batch(self.texts))
        encoded = ours(self.texts)
        self.assertEqual((encoded.input_ids, encoded.attention_mask), (encoded["input_ids"], encoded["attention_mask"]))
        self.assertEqual(copy.copy(pickle.loads(pickle.dumps(encoded))).input_ids, encoded.input_ids)
        self.assertFalse(hasattr(encoded, "offset_mapping") or hasattr(ours, "pad"))


if __name__ == "__main__":
    unittest.main()
