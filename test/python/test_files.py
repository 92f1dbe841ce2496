"""Tests of `encode_file`: this process encodes plain text, and the executable everything else."""

import gzip
import os
import random
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy

import bpe_trainer as bpe
from bpe_trainer import _files, _tokenizer

END, PAD = "<|endoftext|>", "<|pad|>"
WORDS = ["the", " of", "\n", "\r\n", "  ", "'ll", "Größe", "мир", "東京", "한국", "e\u0301", "ﬁ", "🙂", "3141", "!?", "\x00", "\u2028"]


def made_text(size: int, is_valid: bool = False) -> bytes:
    parts, left = [], size
    while left > 0:
        kind = random.random()
        if kind < 0.02:
            part = random.choice([END, PAD, END + END, END[:7], "<|endoftext|" * 3]).encode()
        elif kind < 0.03 and not is_valid:
            part = bytes(random.randrange(256) for _ in range(random.randrange(1, 9)))
        elif kind < 0.04:
            part = random.choice("東京都に行く").encode() * random.randrange(1, 300)
        else:
            part = random.choice(WORDS).encode()
        parts.append(part)
        left -= len(part)
    return b"A head of plain text. " * 400 + b"".join(parts)


def opened(number: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        return ""


class Files(unittest.TestCase):
    def setUp(self) -> None:
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.home = Path(kept.name)
        random.seed(40)
        self.corpus = self.write("corpus.txt", made_text(100_000, is_valid=True))

    def write(self, name: str, data: bytes) -> Path:
        path = self.home / name
        path.write_bytes(data)
        return path

    def train(self, **options: object) -> bpe.Tokenizer:
        tokenizer = bpe.train(self.corpus, 600, special_tokens=[END, PAD], **options)
        self.addCleanup(tokenizer.close)
        return tokenizer

    def encoded(self, tokenizer: bpe.Tokenizer, files: object, **options: object) -> "tuple[numpy.ndarray, bool]":
        """Returns the ids of files, and whether they were encoded without another process."""
        with mock.patch.object(_tokenizer, "Run", side_effect=_tokenizer.Run) as run:
            ids = tokenizer.encode_file(files, **options)
        return ids, not run.called

    def check(self, tokenizer: bpe.Tokenizer, files: object, **options: object) -> None:
        ids, is_here = self.encoded(tokenizer, files, **options)
        self.assertTrue(is_here)
        with mock.patch.object(bpe.Tokenizer, "_ids_of_plain", return_value=None):
            expected, is_there = self.encoded(tokenizer, files, **options)
        self.assertFalse(is_there)
        self.assertEqual(ids.dtype, expected.dtype)
        self.assertTrue(ids.flags.writeable)
        self.assertTrue(numpy.array_equal(ids, expected))

    def test_the_ids_are_those_of_the_executable(self) -> None:
        large, small = self.write("large.txt", made_text(1_500_000)), self.write("small", made_text(10))
        for options in ({"pattern": "gpt2"}, {"pattern": "o200k"}, {"pattern": "none"}, {"normalize": "nfc"}):
            with self.subTest(options):
                tokenizer = self.train(**options)
                self.check(tokenizer, large)
                self.check(tokenizer, [small, str(large), small], append_token=END, workers=3)
                self.check(tokenizer, small, workers=1)

    def test_a_text_without_a_place_to_cut_is_one_part(self) -> None:
        tokenizer = self.train()
        self.check(tokenizer, self.write("word", b"a" * 1_200_000))
        self.check(tokenizer, self.write("han", "東".encode() * 400_000 + b" a"))
        with mock.patch.object(_files, "_WHOLE_BYTES", 1 << 19):
            self.assertFalse(self.encoded(tokenizer, self.home / "word")[1])

    def test_no_part_and_no_read_splits_a_special_token(self) -> None:
        tokenizer = self.train()
        for edge in (1 << 18, _files._READ_BYTES):
            for shift in range(-len(END) - 2, 3):
                # A part or a read ends near `edge`. If END were treated as plain text, the first safe cut after `edge`
                # would often be inside it.
                text = "a" * ((edge + shift) % 3) + "東" * ((edge + shift) // 3) + END + " b" * 100_000
                found, is_here = self.encoded(tokenizer, self.write("shifted", text.encode()))
                self.assertTrue(is_here)
                self.assertEqual(found.tolist(), tokenizer.encode(text, threads=1))

    def test_the_executable_encodes_files_that_may_not_be_plain_text(self) -> None:
        tokenizer = self.train()
        text = made_text(2000)
        record = b'{"text": "a b"}\n{"text": "c"}\n'
        ids = tokenizer.encode("a b") + tokenizer.encode("c")
        for name, data in (("a.jsonl", record), ("a.txt", record), ("b.txt", b" \n" + record), ("c", b"\xef\xbb\xbf" + record), ("d.gz", gzip.compress(record))):
            found, is_here = self.encoded(tokenizer, self.write(name, data))
            self.assertFalse(is_here, name)
            self.assertEqual(found.tolist(), ids, name)
        for name, data in (("a.json", text), ("b", b"\x0b" + text), ("c", b"ab\x00" + text), ("d", b"\xff" + text), ("e", b""), ("f", b"%PDF-1.4\n" + text), ("g", b"\xff\xfe" + text)):
            path = self.write(name, data)
            with self.subTest(name), self.assertRaises(_files.Unfit):
                _files.Reading([str(path)], -1)
        with self.assertRaisesRegex(ValueError, "workers is 0"):
            tokenizer.encode_file(self.corpus, workers=0)
        with self.assertRaisesRegex(bpe.BpeError, "other"):
            tokenizer.encode_file(self.corpus, append_token="<|other|>")
        found, is_here = self.encoded(tokenizer, self.home)
        self.assertFalse(is_here)
        self.assertGreater(len(found), 0)

    def test_a_file_that_changes_is_read_again_by_the_executable(self) -> None:
        tokenizer = self.train()
        read_at = _files._read_at
        for change in (lambda: path.write_bytes(path.read_bytes()[:1000]), lambda: os.utime(path)):
            path = self.write("changed", made_text(600_000))

            def changing(*args: object) -> bytes:
                if args[1] > 0:
                    change()
                return read_at(*args)

            with mock.patch.object(_files, "_read_at", changing):
                found, is_here = self.encoded(tokenizer, path)
            self.assertFalse(is_here)
            self.assertEqual(found.tolist(), tokenizer.encode_file(path).tolist())
        with mock.patch.object(_files, "_read_at", lambda *args: path.unlink() or read_at(*args)):
            with self.assertRaisesRegex(bpe.BpeError, "no such file"):
                tokenizer.encode_file(path)

    def test_an_error_in_one_thread_ends_all(self) -> None:
        tokenizer = self.train()
        path, read_at = self.write("large", made_text(2_000_000)), _files._read_at
        for struck_at in (0, 1 << 18):

            def struck(file: object, at: int, size: int) -> bytes:
                data = read_at(file, at, size)
                if at >= struck_at:
                    raise KeyboardInterrupt
                return data

            with mock.patch.object(_files, "_read_at", struck), self.assertRaises(KeyboardInterrupt):
                tokenizer.encode_file(path, workers=3)
            self.assertFalse([name for name in map(opened, os.listdir("/proc/self/fd")) if name == str(path)])
        self.check(tokenizer, path)


if __name__ == "__main__":
    unittest.main()
