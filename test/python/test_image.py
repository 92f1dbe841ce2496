"""Forged and damaged images next to the files of a tokenizer."""

import contextlib
import hashlib
import json
import os
import signal
import struct
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from typing import Any, Callable, Iterator
from unittest import mock

import bpe_trainer as bpe
from bpe_trainer._image import _saved_image
from bpe_trainer._options import FILES

TEXT = "the cat sat on the mat " * 20


def facts_of(image: bytes) -> dict:
    start, size = struct.unpack_from("<2I", image, 56)
    return json.loads(image[start : start + size])


def forged(image: bytes, facts: "bytes | dict") -> bytes:
    """Returns the image with other facts and a matching checksum."""
    said = facts if isinstance(facts, bytes) else json.dumps(facts).encode()
    changed = bytearray(image + said + bytes(-len(said) % 4))
    struct.pack_into("<2I", changed, 56, len(image), len(said))
    struct.pack_into("<I", changed, 12, zlib.crc32(changed[16:]))
    return bytes(changed)


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    def end(*_: Any) -> None:
        raise TimeoutError("it waits for ever")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(20)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Forged(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.kept = tempfile.TemporaryDirectory()
        cls.home = Path(cls.kept.name, "tokenizer")
        with bpe.train(texts=[TEXT], vocab_size=262, output=cls.home, special_tokens=["<s>"], formats=["image"]) as made:
            cls.right = made.encode(TEXT)
        cls.image = (cls.home / "tokenizer.image").read_bytes()
        cls.facts = facts_of(cls.image)
        # An image of another tokenizer, whose ids differ.
        with bpe.train(texts=["dog days, no cats"], vocab_size=262, output=cls.home.parent / "other", formats=["image"]) as other:
            assert other.encode(TEXT) != cls.right
        cls.other = (cls.home.parent / "other/tokenizer.image").read_bytes()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.kept.cleanup()

    def setUp(self) -> None:
        self.put(self.image)

    def put(self, image: bytes) -> None:
        path = self.home / "tokenizer.image"
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        path.write_bytes(image)

    def loads(self, run_count: int) -> None:
        """Checks that loading gives the right ids, with `run_count` runs of the executable."""
        runs: list = []
        spawn = os.posix_spawn
        with mock.patch.object(os, "posix_spawn", lambda *args, **named: runs.append(args) or spawn(*args, **named)):
            with time_limit(), bpe.Tokenizer.load(self.home) as tokenizer:
                self.assertEqual(tokenizer.encode(TEXT), self.right)
                self.assertEqual(len(tokenizer.get_vocab()), 262)
                self.assertIn("of 262 tokens", repr(tokenizer))
                tokenizer.encode("a", add_special_tokens=True)
                tokenizer.encode_with_offsets("a")
        self.assertEqual(len(runs), run_count)

    def refused(self) -> None:
        with time_limit():
            self.assertIsNone(_saved_image(str(self.home)))

    def test_an_image_of_the_files_next_to_it_is_used(self) -> None:
        self.loads(0)
        self.put(forged(self.image, self.facts))
        self.loads(0)

    def test_names_that_no_training_writes_are_never_opened(self) -> None:
        made_of = self.facts["madeOf"]
        outside, pipe = self.home.parent / "outside", self.home.parent / "pipe"
        outside.write_bytes(b"x")
        os.mkfifo(pipe)
        digest = hashlib.sha256(b"x").hexdigest()
        opened: list = []

        def hook(event: str, given: tuple) -> None:
            if event == "open" and opened is not None:
                opened.append(given[0])

        sys.addaudithook(hook)
        for name in (
            str(outside), "../outside", str(pipe), "../pipe", "/dev/zero", "/dev/stdin", "", ".", "..", "tokenizer.image",
            "sub/../../outside", "./tokenizer.json", "tokenizer.json/", "\0", "\ud800", "x" * 5000, "TOKENIZER.JSON",
        ):
            for image in (self.image, self.other):
                for forgery in (
                    {name: digest}, {name: None}, {**made_of, name: digest}, {**made_of, name: None},
                    {name: digest, **{each: made_of[each] for each in FILES[1:]}},
                ):
                    with self.subTest(name=name, forgery=forgery):
                        self.put(forged(image, {**self.facts, "madeOf": forgery}))
                        self.refused()
        self.loads(1)
        foreign = {str(outside), str(pipe), "/dev/zero", os.path.join(self.home, "../outside"), os.path.join(self.home, "../pipe")}
        self.assertFalse(foreign & {os.fspath(each) for each in opened if isinstance(each, (str, os.PathLike))})

    def test_an_image_names_all_files_that_determine_the_tokenizer(self) -> None:
        made_of = self.facts["madeOf"]
        for forgery in (
            {}, None, [], "tokenizer.json", 5, True, {name: None for name in FILES}, [*made_of],
            *({**made_of, "tokenizer.json": digest} for digest in (None, 0, True, [], "", "0" * 64, made_of["tokenizer.json"].upper())),
            *({name: digest for name, digest in made_of.items() if name != left_out} for left_out in FILES),
        ):
            for image in (self.image, self.other):
                with self.subTest(forgery=forgery):
                    self.put(forged(image, {**self.facts, "madeOf": forgery}))
                    self.refused()
        self.loads(1)

    def test_an_image_with_malformed_facts_is_not_used(self) -> None:
        deep = b'{"madeOf":' * 200_000
        wrong = [
            b"", b"{", b"null", b"[]", b"5", b'""', b"\xff", b"[" * 200_000, deep, deep + b"1" + b"}" * 200_000, b"1" * 100_000,
            b'{"idLimit": NaN}', json.dumps(self.facts).encode("utf-16"),
        ]
        for name in ("idLimit", "tokenCount", "specialTokens", "addedTokens", "roles", "around", "fingerprint", "hasAllBytes",
                     "offsetObstacle", "trimObstacle", "nameObstacle", "madeOf"):
            wrong.append({key: value for key, value in self.facts.items() if key != name})
            for value in (
                0, -1, True, 1e9, 2**70, [], [[]], {"a": {}}, {"\ud800": 1}, {"a": -1}, {"a": 2**40}, {"before": [], "after": ["x"]},
                {"before": 5, "after": []}, {"before": [9999], "after": []}, "\ud800", float("nan"),
            ):
                if (name, value) not in (("tokenCount", 0), ("hasAllBytes", True)):
                    wrong.append({**self.facts, name: value})
            if not name.endswith("Obstacle"):
                wrong.append({**self.facts, name: None})
        for facts in wrong:
            with self.subTest(facts=facts if isinstance(facts, dict) else facts[:40]):
                self.put(forged(self.image, facts))
                self.refused()
        self.loads(1)

    def test_an_image_is_used_only_if_it_is_a_regular_file(self) -> None:
        path = self.home / "tokenizer.image"
        ways: "dict[str, Callable[[], None]]" = {
            "pipe": lambda: os.mkfifo(path),
            "device": lambda: path.symlink_to("/dev/zero"),
            "terminal": lambda: path.symlink_to("/dev/tty"),
            "link to a pipe": lambda: path.symlink_to(self.home.parent / "fifo"),
            "link to itself": lambda: path.symlink_to(path),
            "link to nothing": lambda: path.symlink_to("nothing"),
            "directory": path.mkdir,
            "cut off": lambda: path.write_bytes(self.image[:100]),
            "without a body": lambda: path.write_bytes(self.image[:144]),
            "longer": lambda: path.write_bytes(self.image + bytes(4)),
            "too large": lambda: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 40),
            "of an odd size": lambda: path.write_bytes(odd_part(self.image)),
        }
        os.mkfifo(self.home.parent / "fifo")
        for name, make in ways.items():
            with self.subTest(name=name):
                path.unlink()
                make()
                self.loads(1)
                path.rmdir() if name == "directory" else path.unlink()
                path.touch()
        # Snapshots of a model hub are links to files.
        path.unlink()
        (self.home.parent / "blob").write_bytes(self.image)
        path.symlink_to(self.home.parent / "blob")
        self.loads(0)

    def test_a_replaced_file_is_noticed(self) -> None:
        # tokenizer.json alone determines this tokenizer, so it loads whatever is in place of these other files. A pipe,
        # device or directory counts as no file: if there was none before either, the image is still used.
        for name in ("vocab.json", "tekken.json", "chat_template.json"):
            path = self.home / name
            kept = path.read_bytes() if path.exists() else None
            for make, run_count in (
                (lambda: os.mkfifo(path), int(kept is not None)),
                (lambda: path.symlink_to("/dev/zero"), int(kept is not None)),
                (path.mkdir, int(kept is not None)),
                (lambda: path.write_bytes(b"{}"), 1),
                (lambda: path.write_bytes((kept or b"") + b" "), 1),
            ):
                with self.subTest(name=name):
                    with contextlib.suppress(FileNotFoundError):
                        path.unlink()
                    make()
                    self.loads(run_count)
                    path.rmdir() if path.is_dir() else path.unlink()
            if kept is not None:
                path.write_bytes(kept)
        # A changed modification time alone does not matter.
        os.utime(self.home / "tokenizer.json", (1, 1))
        self.loads(0)

    def test_ranks_for_tiktoken_are_files_and_a_damaged_record_says_so(self) -> None:
        pipe, record = self.home / "a.tiktoken", self.home / "training.json"
        kept = record.read_bytes()
        os.mkfifo(pipe)
        try:
            with time_limit(), bpe.Tokenizer.load(self.home) as tokenizer:
                self.assertEqual(tokenizer.to_tiktoken().encode(TEXT), self.right)
            for content in (b"{", b"[]", b"{}", b'{"options": 5}', b'{"options": {"pattern": null}}', b"[" * 100_000):
                record.write_bytes(content)
                with self.subTest(content=content[:20]), time_limit():
                    try:
                        with bpe.Tokenizer.load(self.home) as tokenizer:
                            self.assertEqual(tokenizer.to_tiktoken().encode(TEXT), self.right)
                    except bpe.BpeError:
                        self.assertNotIn(content, (b"[]", b"{}"))
        finally:
            pipe.unlink()
            record.write_bytes(kept)

    def test_a_file_that_becomes_a_pipe_while_it_is_looked_at_does_not_hang(self) -> None:
        path, stat, swapped = self.home / "added_tokens.json", os.stat, []
        self.assertFalse(path.exists())
        path.write_bytes(b"{}")

        def swap(each: Any, *given: Any, **named: Any) -> os.stat_result:
            found = stat(each, *given, **named)
            if str(each) == str(path) and not swapped and sys._getframe(1).f_code.co_filename.endswith("_image.py"):
                swapped.append(path.unlink())
                os.mkfifo(path)
            return found

        try:
            with mock.patch.object(os, "stat", swap), time_limit():
                with contextlib.suppress(bpe.BpeError), bpe.Tokenizer.load(self.home) as loaded:
                    self.assertEqual(loaded.encode(TEXT), self.right)
        finally:
            path.unlink()
        self.assertEqual(len(swapped), 1)


def odd_part(image: bytes) -> bytes:
    """Returns the image with one byte too many in its part ``texts``."""
    changed = bytearray(image)
    start, size = struct.unpack_from("<2I", image, 56 + 8 * 3)
    struct.pack_into("<2I", changed, 56 + 8 * 3, start, size + 1)
    struct.pack_into("<I", changed, 12, zlib.crc32(changed[16:]))
    return bytes(changed)
