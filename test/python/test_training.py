"""What `bpe.train` takes for texts, what it refuses with the right name, and what it warns of. Run by suite.ts."""

import os
import tempfile
import unittest
import warnings
from pathlib import Path

import bpe_trainer as bpe

TEXTS = ["low lower lowest", "new newer newest", "low low new"] * 5


class Dataset:
    """As HF's datasets have it: rows are dicts, and a name gives a column."""

    column_names = ["label", "text"]

    def __iter__(self):
        return ({"label": 1, "text": text} for text in TEXTS)

    def __getitem__(self, name):
        return [row[name] for row in self]

    def iter(self, size):
        return ({"text": TEXTS[i : i + size]} for i in range(0, len(TEXTS), size))


class Table:
    """As pandas has it: names come out of an iteration."""

    columns = ("content", "label")

    def __iter__(self):
        return iter(self.columns)


class Stream(Dataset):
    """As HF's streams are: its columns are not known before the first row."""

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

    def test_texts_in_the_place_of_files_are_told_their_argument(self) -> None:
        hint = r"hint: give texts as texts=\[...\]"
        for files in [["low lower", "new"], "low lower\nnew", b"low"]:
            with self.assertRaisesRegex(bpe.BpeError, f"no such file(?s:.*){hint}"):
                bpe.train(files, 260)
        with self.assertRaises(bpe.BpeError) as caught:
            bpe.train("low\x1b7\nbpe: error: \u202enone", 260)
        self.assertEqual(
            str(caught.exception).split("\n")[0], r'"low\x1b7\nbpe: error: \u202enone": no such file'
        )
        with self.assertRaisesRegex(TypeError, "files must be paths, found list: give texts as texts="):
            bpe.train([["low lower"], ["new"]], 260)
        with tempfile.TemporaryDirectory() as home:
            path = Path(home, "corpus.txt")
            path.write_text("low lower")
            with self.assertRaisesRegex(bpe.BpeError, "^(?!(?s:.*)hint: what is no path)"):
                bpe.train(path, 3)
            with self.assertRaisesRegex(TypeError, "is the path of a file"):
                bpe.train(iter([[str(path)]]), 260)
            self.assertEqual(bpe.train(os.fsencode(path), 256).vocab_size, 256)

    def test_a_data_set_is_told_its_column(self) -> None:
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


class Warnings(unittest.TestCase):
    def test_what_the_program_warns_of_is_a_warning(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            broken = Path(home, "broken.txt")
            broken.write_bytes(b"low \xff lower")
            early = "stopped early: the corpus gives no more than [0-9]+ of 744 merges"
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
            self.assertEqual(os.listdir(home), [])


if __name__ == "__main__":
    unittest.main()
