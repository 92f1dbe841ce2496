"""Texts, arguments and warnings of `bpe.train`."""

import base64
import os
import re
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

import bpe_trainer as bpe
from bpe_trainer import _executable
from test_bpe import is_empty

TEXTS = ["low lower lowest", "new newer newest", "low low new"] * 5


class Dataset:
    """Like HF's datasets: rows are dicts, and a name returns a column."""

    column_names = ["label", "text"]

    def __iter__(self):
        return ({"label": 1, "text": text} for text in TEXTS)

    def __getitem__(self, name):
        return [row[name] for row in self]

    def iter(self, size):
        return ({"text": TEXTS[i : i + size]} for i in range(0, len(TEXTS), size))


class Table:
    """Like a table of pandas: iterating returns the names of columns."""

    columns = ("content", "label")

    def __iter__(self):
        return iter(self.columns)


class Stream(Dataset):
    """Like HF's streams, whose columns are unknown before the first row."""

    column_names = None


class Arguments(unittest.TestCase):
    def test_a_string_is_no_list_of_strings(self) -> None:
        for name, given in [
            ("texts", {"texts": "some text"}),
            ("texts", {"texts": b"some text"}),
            ("special_tokens", {"texts": TEXTS, "special_tokens": "<|e|>"}),
            ("special_tokens", {"texts": TEXTS, "special_tokens": b"<|e|>"}),
        ]:
            with self.assertRaisesRegex(TypeError, f"{name} is a string: give a list, as in {name}="):
                bpe.train(**given, vocab_size=260)
        with self.assertRaisesRegex(TypeError, "special_tokens must be strings, found bytes"):
            bpe.train(texts=TEXTS, vocab_size=260, special_tokens=["<|e|>", b"<|f|>"])

    def test_batches_of_texts_are_taken(self) -> None:
        one = bpe.train(texts=TEXTS, vocab_size=265).to_hf().to_str()
        batches = [TEXTS[:4], tuple(TEXTS[4:9]), [], TEXTS[9:14], TEXTS[14]]
        dataset = Dataset()
        for given in [
            {"texts": batches},
            {"files": iter(batches)},
            {"files": (batch["text"] for batch in dataset.iter(4))},
            {"texts": dataset["text"]},
        ]:
            self.assertEqual(bpe.train(**given, vocab_size=265).to_hf().to_str(), one)
        with self.assertRaisesRegex(TypeError, "texts must be strings, found int"):
            bpe.train(texts=[TEXTS, ["low", 5]], vocab_size=265)

    def test_texts_given_as_files_are_refused_with_the_right_argument(self) -> None:
        hint = r"hint: pass texts as texts=\[...\]"
        for files in [["low lower", "new"], "low lower\nnew", b"low"]:
            with self.assertRaisesRegex(bpe.BpeError, f"no such file(?s:.*){hint}"):
                bpe.train(files, 260)
        with self.assertRaises(bpe.BpeError) as caught:
            bpe.train("low\x1b7\nbpe: error: \u202enone", 260)
        self.assertEqual(
            str(caught.exception).split("\n")[0], r'"low\x1b7\nbpe: error: \u202enone": no such file'
        )
        with self.assertRaisesRegex(TypeError, "files must be a path, found list: pass texts as texts="):
            bpe.train([["low lower"], ["new"]], 260)
        with self.assertRaisesRegex(TypeError, "like must be a path, found 7: save the tokenizer"):
            bpe.train(texts=TEXTS, vocab_size=260, like=7)
        with tempfile.TemporaryDirectory() as home:
            path = Path(home, "corpus.txt")
            path.write_text("low lower")
            with self.assertRaisesRegex(bpe.BpeError, "^(?!(?s:.*)hint: what is no path)"):
                bpe.train(path, 3)
            with self.assertRaisesRegex(TypeError, "is the path of a file"):
                bpe.train(iter([[str(path)]]), 260)
            self.assertEqual(bpe.train(os.fsencode(path), 256).vocab_size, 256)

    def test_a_data_set_without_a_column_is_refused_with_the_column_to_use(self) -> None:
        for given, name in [
            (Dataset(), "text"),
            (Stream(), "text"),
            (Table(), "content"),
            ({"train": TEXTS, "test": TEXTS}, "train"),
            (Dataset().iter(3), "text"),
        ]:
            for argument in ("files", "texts"):
                with self.assertRaisesRegex(TypeError, rf"""texts is a .*, as in texts=dataset\["{name}"\]"""):
                    bpe.train(**{argument: given}, vocab_size=260)


class Warned(unittest.TestCase):
    """Warnings of the executable become Python warnings."""

    def test_every_kind_is_raised(self) -> None:
        source = Path(__file__).parents[2] / "src" / "jobs" / "warnings.ts"
        kinds = set(re.findall(r'readonly kind: "([^"]+)"', source.read_text()))
        # Two kinds are not raised here: skipped files give no warning, and "files in the old result" needs a program
        # that writes into the output during the run.
        kinds -= {"skipped file", "files in the old result"}
        text = "some words and more of these words\n" * 20
        with tempfile.TemporaryDirectory() as home:

            def put(name: str, content: bytes) -> str:
                path = Path(home, name)
                path.write_bytes(content)
                return str(path)

            plain, long = put("plain.txt", text.encode()), put("long.txt", text.encode() * 5)
            invalid = put("invalid.txt", text.encode() + b"\xff")
            marked = put("marked.txt", f"{text}<e>{text}".encode())
            template = put("chat.jinja", b"{{ messages }}")
            first, second = (os.path.join(home, name) for name in ("a.counts", "b.counts"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for counts in (first, second):
                    bpe.train(plain, 265, save_counts=counts)
                bpe.train(plain, 265, output=os.path.join(home, "base"))
            calls: "dict[str, tuple[dict[str, object], str]]" = {
                "invalid bytes": ({"files": invalid}, "1 byte is not valid UTF-8"),
                "class of a model": ({"tokenizer_class": "LlamaTokenizer"}, "LlamaTokenizer"),
                "early stop": ({"vocab_size": 5000}, "stopped early"),
                "equal counts": ({"files": None, "counts": [first, second]}, "contain the same word counts"),
                "stream with a cache": (
                    {"files": None, "texts": [text], "cache": os.path.join(home, "cache")},
                    "cannot keep the counts of ",
                ),
                "uneven languages": ({"files": None, "languages": {"en": plain, "de": long}}, "most of the merges"),
                "normalizer": ({"normalize": "NFC"}, "can store the normalizer"),
                "no pad": ({"chat_template": template}, 'add special_tokens=["<|pad|>"]'),
                "seed tokens that are bytes": ({"seed_tokens": ["a"]}, "because they are single bytes"),
                "seed tokens without a space": (
                    {"extend": os.path.join(home, "base"), "vocab_size": "+8", "seed_tokens": ["wordsmith"]},
                    "within a sentence",
                ),
                "special tokens in the text": (
                    {"files": marked, "compat": "huggingface", "special_tokens": ["<e>"]},
                    "to do as HF does, add special_tokens_as_text",
                ),
                "note": ({"files": None, "languages": {"en": plain, "de": plain}}, 'is listed for language "en" and again for language "de"'),
            }
            self.assertEqual(set(calls), kinds)
            for kind, (given, words) in calls.items():
                with self.subTest(kind), warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    bpe.train(**{"files": plain, "vocab_size": 265, "workers": 1, **given})
                    self.assertEqual(len([one for one in caught if words in str(one.message)]), 1)


class Lists(unittest.TestCase):
    """Lists that are too long for the arguments of a program, zero bytes, and other odd values."""

    def setUp(self) -> None:
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = Path(home.name, "home")
        self.home.mkdir()
        self.enterContext(mock.patch.object(tempfile, "tempdir", str(self.home)))

    def test_long_lists_of_tokens_go_in_a_file_and_mean_the_same(self) -> None:
        given = {"special_tokens": ["<b>", " a ", 'q"', "[1]", "\r\n"], "seed_tokens": ["lower", "newest"]}
        right = bpe.train(texts=TEXTS, vocab_size=275, **given).to_hf().to_str()
        with mock.patch.object(_executable, "_TYPED_CHARACTERS", 5):
            with bpe.train(texts=TEXTS, vocab_size=275, **given) as trained:
                self.assertEqual(trained.to_hf().to_str(), right)
                trained.save(Path(self.home.parent, "saved"))
            with self.assertRaisesRegex(bpe.BpeError, '^special token "<same>" is given twice\nhint: give each special token once$'):
                bpe.train(texts=TEXTS, vocab_size=275, special_tokens=["<same>", "<same>"])
            # A file of ranks has no special tokens, so the caller gives them.
            ranks = Path(self.home.parent, "ranks.tiktoken")
            ranks.write_text("".join(f"{base64.b64encode(bytes([i])).decode()} {i}\n" for i in range(256)))
            with bpe.Tokenizer.load(ranks, pattern="gpt2", special_tokens={"<a>": 256, "<b>": 300}) as loaded:
                self.assertEqual(loaded.special_tokens, {"<a>": 256, "<b>": 300})
                self.assertEqual(loaded.encode("<a><b>"), [256, 300])
        self.assertTrue(is_empty(self.home))

    def test_what_is_typed_fits_into_a_command_line_of_windows(self) -> None:
        lists = [[f"--special-token={text * (1 << size)}"] for text in ("a", '"', "\U0001f600") for size in range(10, 16)]
        for arguments in [*lists, ["a"] * 20_000, ["a b"] * 10_000]:
            run = _executable.Run(arguments)
            self.addCleanup(run.close_pipes)
            self.assertLess(len(subprocess.list2cmdline(run._command).encode("utf-16-le")) // 2, 32_767)
            self.assertEqual(len(run._command) == 1, run._environment["BPE_ARGUMENTS"] != "")

    def test_special_tokens_may_exceed_the_size_limit_of_arguments(self) -> None:
        tokens = [f"<{i:01000}>" for i in range(3000)]
        with bpe.train(texts=TEXTS, vocab_size=3258, special_tokens=tokens, workers=1, ledger=False) as trained:
            self.assertEqual(trained.encode(tokens[0] + tokens[-1]), [258, 3257])

    def test_a_zero_byte_is_accepted_in_tokens_and_refused_elsewhere(self) -> None:
        with bpe.train(texts=TEXTS, vocab_size=260, special_tokens=["a\0b", "<e>"]) as trained:
            self.assertEqual(trained.encode("a\0b<e>"), [258, 259])
        for given in ({"files": "a\0b"}, {"texts": TEXTS, "pattern": "a\0b"}, {"texts": TEXTS, "chat_template": "a\0b"}):
            with self.assertRaisesRegex(bpe.BpeError, r"a\\x00b' contains a zero byte"):
                bpe.train(**given, vocab_size=260)
        self.assertTrue(is_empty(self.home))

    def test_arguments_of_any_length_are_taken(self) -> None:
        corpus = Path(self.home.parent, "corpus.txt")
        corpus.write_text("".join(TEXTS))
        weights = {f"{i:0100}": 1 for i in range(20_000)}
        files = [str(corpus)] * 50_000
        with bpe.train(files, 260) as trained:
            self.assertEqual(trained.vocab_size, 260)
        with self.assertRaisesRegex(bpe.BpeError, "^the weight .* has no effect"):
            bpe.train(corpus, 260, weights=weights)
        with self.assertRaisesRegex(bpe.BpeError, "^unknown pattern"):
            bpe.train(corpus, 260, pattern="a" * 300_000)
        # Arguments of another run, inherited from its environment, are not read.
        with mock.patch.dict(os.environ, {"BPE_ARGUMENTS": str(corpus)}), bpe.train(corpus, 260) as trained:
            self.assertEqual(trained.vocab_size, 260)

    def test_texts_that_are_all_empty_are_told_as_texts(self) -> None:
        for texts in ([""], ["", ["", ""]], iter([""])):
            with self.assertRaisesRegex(bpe.BpeError, "^all texts are empty: there is nothing to learn from$"):
                bpe.train(texts=texts, vocab_size=260)

    def test_a_name_in_a_pickle_stays_in_its_directory(self) -> None:
        kind, (path, options, fingerprint, files) = bpe.train(texts=TEXTS, vocab_size=260).__reduce__()
        (_, content), *others = files
        self.assertEqual(kind(path, options, fingerprint, files).vocab_size, 260)
        for name in ("../../x", "/x", "tokenizer/../../x", "", ".."):
            with self.assertRaisesRegex(bpe.BpeError, "is not a path in its directory"):
                kind(path, options, fingerprint, ((name, content), *others))
            with self.assertRaisesRegex(bpe.BpeError, "is not a path in its directory"):
                kind(name, options, fingerprint, files)


class Warnings(unittest.TestCase):
    def test_warnings_of_bpe_become_python_warnings(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            broken = Path(home, "broken.txt")
            broken.write_bytes(b"low \xff lower")
            early = "stopped early: the corpus has only enough pairs for [0-9]+ of 744 merges"
            for given, size, message in [
                ({"texts": ["low lower"]}, 1000, early),
                ({"files": broken}, 257, "1 byte is not valid UTF-8"),
            ]:
                for progress in (False, lambda *_: None):
                    with self.assertWarnsRegex(UserWarning, message) as caught:
                        bpe.train(**given, vocab_size=size, progress=progress)
                    self.assertEqual(caught.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            bpe.train(texts=TEXTS, vocab_size=260)

    def test_a_warning_that_is_an_error_leaves_no_files(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            before = tempfile.tempdir
            tempfile.tempdir = home
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    with self.assertRaisesRegex(UserWarning, "stopped early"):
                        bpe.train(texts=["low lower"], vocab_size=1000)
            finally:
                tempfile.tempdir = before
            self.assertTrue(is_empty(home))


if __name__ == "__main__":
    unittest.main()
