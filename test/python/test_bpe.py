"""Tests the installed package, in part against HF's tokenizers and tiktoken."""

import contextlib
import gc
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib
from pathlib import Path
from unittest import mock

import numpy
import tokenizers
from tokenizers import models, pre_tokenizers, trainers

import bpe_trainer as bpe
from bpe_trainer._executable import find_executable
from bpe_trainer.cs336 import get_tokenizer, run_train_bpe

END = "<|endoftext|>"
random.seed(20261122)

ALPHABET = "aaabbc  \n\tde'stß你好й😀1\u0301"


def made_texts(count: int) -> list[str]:
    """Short texts of few letters, so that pairs repeat and tie. Some contain the special token."""
    texts = ["".join(random.choices(ALPHABET, k=random.randrange(60))) for _ in range(count)]
    return [text + END + text if i % 7 == 0 else text for i, text in enumerate(texts)]


def are_gone(*paths: "str | Path") -> bool:
    """Waits until the paths no longer exist, because a thread removes them. Returns whether they are gone."""
    deadline = time.monotonic() + 20
    while any(map(os.path.exists, paths)) and time.monotonic() < deadline:
        time.sleep(0.001)
    return not any(map(os.path.exists, paths))


def is_empty(home: "str | Path") -> bool:
    return are_gone(*(os.path.join(home, name) for name in os.listdir(home)))


class Home(unittest.TestCase):
    def setUp(self) -> None:
        self.kept = tempfile.TemporaryDirectory()
        self.home = Path(self.kept.name)
        self.texts = made_texts(300)
        self.corpus = self.home / "corpus.txt"
        self.corpus.write_text(END.join(self.texts), "utf-8")

    def tearDown(self) -> None:
        self.kept.cleanup()


class Training(Home):
    def test_gives_the_merges_of_hf(self) -> None:
        tokenizer = bpe.train(texts=self.texts, vocab_size=400, special_tokens=[END], compat="huggingface")
        theirs = tokenizers.Tokenizer(models.BPE())
        theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=[END],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        # HF's trainer reads files line by line, and so does bpe with HF's rule.
        parts = [part for text in self.texts for part in text.split(END)]
        theirs.train_from_iterator([line for part in parts for line in part.splitlines(keepends=True)], trainer)
        ours = json.loads(tokenizer.to_hf().to_str())["model"]["merges"]
        self.assertGreater(len(ours), 100)
        self.assertEqual(ours, json.loads(theirs.to_str())["model"]["merges"])

    def test_texts_and_a_file_of_them_give_the_same(self) -> None:
        (self.home / "texts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in self.texts))
        named = bpe.train(str(self.home / "texts.jsonl"), 350, special_tokens=[END])
        piped = bpe.train((text for text in self.texts), 350, special_tokens=[END])
        self.assertEqual(named.to_hf().to_str(), piped.to_hf().to_str())

    def test_takes_paths_and_reports_progress(self) -> None:
        told = []
        output = self.home / "tokenizer"
        tokenizer = bpe.train(
            [self.corpus], 300, special_tokens=[END], output=output, progress=lambda *args: told.append(args)
        )
        self.assertEqual(tokenizer.vocab_size, 300)
        self.assertTrue((output / "tokenizer.json").is_file())
        self.assertIn("counting", {stage for stage, _, _ in told})

    def test_an_error_of_the_executable_has_its_message(self) -> None:
        with self.assertRaisesRegex(bpe.BpeError, "no such file"):
            bpe.train(self.home / "none.txt", 300)
        with self.assertRaisesRegex(bpe.BpeError, "^vocab_size is 3, but must be at least"):
            bpe.train(self.corpus, 3)
        with self.assertRaisesRegex(TypeError, "exactly one of files, texts and languages"):
            bpe.train(vocab_size=300)
        with self.assertRaisesRegex(TypeError, "must be strings"):
            bpe.train(texts=[b"bytes"], vocab_size=300)

    def test_an_error_of_the_progress_function_ends_the_run(self) -> None:
        def fails(*_) -> None:
            raise RuntimeError("the screen broke")

        for corpus in ({"files": self.corpus}, {"texts": self.texts}, {"texts": iter(self.texts * 10_000)}):
            with self.assertRaisesRegex(RuntimeError, "the screen broke"):
                bpe.train(**corpus, vocab_size=300, output=self.home / "out", progress=fails)
            self.assertFalse((self.home / "out").exists())

    def test_a_process_without_standard_streams_trains(self) -> None:
        script = (
            "import bpe_trainer as bpe, os\n"
            "for fd in (0, 1, 2): os.close(fd)\n"
            f"bpe.train({str(self.corpus)!r}, 300, output={str(self.home / 'named')!r})\n"
            f"bpe.train(['aab', 'aac'], 300, output={str(self.home / 'paths')!r}) if False else None\n"
            f"bpe.train(texts=['aab', 'aac'], vocab_size=257, output={str(self.home / 'given')!r})\n"
        )
        self.assertEqual(subprocess.run([sys.executable, "-c", script]).returncode, 0)
        with bpe.Tokenizer.load(self.home / "given") as given:
            self.assertEqual(given.decode([256]), "aa")
        self.assertTrue((self.home / "named" / "tokenizer.json").is_file())

    def killed_by(self, number: int, *before: str) -> str:
        """Returns the message for a run that a signal ends."""
        script = (
            "import bpe_trainer as bpe, os, resource\n"
            "spawn = os.posix_spawn\n"
            "def killed(*args, **named):\n"
            "    pid = spawn(*args, **named)\n"
            f"    os.kill(pid, {number})\n"
            "    return pid\n"
            "os.posix_spawn = killed\n"
            f"try: bpe.train({str(self.corpus)!r}, 300)\n"
            "except bpe.BpeError as error: print(error)\n"
        )
        script = script.replace("try:", "".join(f"{line}\n" for line in before) + "try:")
        return subprocess.check_output([sys.executable, "-c", script], text=True)

    def test_a_run_that_was_killed_is_an_error(self) -> None:
        self.assertEqual(self.killed_by(9), "bpe was killed by signal 9\n")
        self.assertEqual(self.killed_by(11), "bpe was killed by signal 11\n")
        # The message names the memory limit after a crash, and not after a kill (signal 9).
        limit = "resource.setrlimit(resource.RLIMIT_AS, (8 << 40, resource.RLIM_INFINITY))"
        self.assertEqual(self.killed_by(9, limit), "bpe was killed by signal 9\n")
        self.assertRegex(
            self.killed_by(11, limit),
            r"^bpe was killed by signal 11; memory is limited \(RLIMIT_AS is 8,796,093 MB\)\nhint: raise the limit",
        )

    def test_errors_are_reported_even_if_the_system_reaps_children(self) -> None:
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            with self.assertRaisesRegex(bpe.BpeError, "no such file"):
                bpe.train(self.home / "none.txt", 300)
            bpe.train(self.corpus, 300, output=self.home / "out")
        finally:
            signal.signal(signal.SIGCHLD, before)
        self.assertTrue((self.home / "out" / "tokenizer.json").is_file())

    def test_an_import_loads_no_module_that_a_training_can_load_later(self) -> None:
        script = "import os, sys; before = {*sys.modules, *sys.builtin_module_names}; import bpe_trainer; print(*sorted({*sys.modules} - before))"
        place = str(Path(bpe.__file__).parent.parent)
        loaded = subprocess.check_output([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {place!r}); {script}"])
        self.assertEqual(
            loaded.decode().split(), ["__future__", *(f"bpe_trainer{name}" for name in ("", "._arguments", "._executable", "._options", "._training")), "sysconfig"]
        )

    def test_an_iterator_of_paths_is_not_taken_for_texts(self) -> None:
        for paths in (iter([str(self.corpus)]), self.home.iterdir()):
            with self.assertRaisesRegex(TypeError, "is the path of a file"):
                bpe.train(paths, 300)

    def test_an_error_of_the_texts_ends_the_run_and_leaves_nothing(self) -> None:
        def failing():
            yield "some text"
            raise RuntimeError("the source broke")

        with self.assertRaisesRegex(RuntimeError, "the source broke"):
            bpe.train(failing(), 300, output=self.home / "out")
        self.assertFalse((self.home / "out").exists())

    def test_ctrl_c_ends_the_run_and_leaves_nothing(self) -> None:
        script = (
            "import bpe_trainer as bpe, itertools, sys\n"
            "def endless():\n"
            "    for i in itertools.count():\n"
            "        if i == 1000: print('reading', flush=True)\n"
            "        yield f'word{i} and some more'\n"
            f"bpe.train(endless(), 300, output={str(self.home / 'out')!r})\n"
        )
        run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert run.stdout is not None
        self.assertEqual(run.stdout.readline(), b"reading\n")
        run.send_signal(signal.SIGINT)
        _, stderr = run.communicate(timeout=60)
        self.assertIn(b"KeyboardInterrupt", stderr)
        self.assertEqual(sorted(path.name for path in self.home.iterdir()), ["corpus.txt"])


class Abilities(Home):
    """Options of train, such as several sizes, weights and superwords, and the method extend."""

    def encoded(self, tokenizer: bpe.Tokenizer) -> list[list[int]]:
        """Returns the ids of texts, and checks them by other calls."""
        name = self.corpus.read_text("utf-8")
        self.assertEqual(tokenizer.encode(name), tokenizer.encode_file(self.corpus).tolist())
        self.assertEqual(tokenizer.decode(tokenizer.encode(name)), name)
        texts = [*made_texts(300), "", END]
        ids = tokenizer.encode_batch(texts)
        self.assertEqual(tokenizer.decode_batch(ids), texts)
        self.assertEqual(ids, [tokenizer.encode(text) for text in texts])
        return [tokenizer.encode(name), *ids]

    def goes_over_spaces(self, tokenizer: bpe.Tokenizer) -> None:
        tokens = tokenizer.decode_batch([[id] for id in range(tokenizer.vocab_size)])
        self.assertTrue([token for token in tokens if re.search("[a-z] [a-z]", token)])

    def same_as_hf(self, tokenizer: bpe.Tokenizer) -> None:
        texts = [*made_texts(300), self.corpus.read_text("utf-8")]
        hf = tokenizer.to_hf()
        self.assertEqual(tokenizer.encode_batch(texts), [encoding.ids for encoding in hf.encode_batch(texts)])
        self.encoded(tokenizer)

    def test_several_sizes_are_directories_and_the_largest_is_loaded(self) -> None:
        output = self.home / "sizes"
        with bpe.train(self.corpus, [360, 300], special_tokens=[END], output=output) as largest:
            self.assertEqual((largest.vocab_size, largest._path), (360, str(output / "360")))
            self.same_as_hf(largest)
            expected = largest.to_hf().to_str()
        with bpe.train(self.corpus, 360, special_tokens=[END]) as alone:
            self.assertEqual(alone.to_hf().to_str(), expected)
        with bpe.Tokenizer.load(output / "300") as small, bpe.train(self.corpus, 300, special_tokens=[END]) as alone:
            self.assertEqual(small.to_hf().to_str(), alone.to_hf().to_str())
        with self.assertRaisesRegex(TypeError, "output is missing"):
            bpe.train(self.corpus, [300, 360])
        with self.assertRaisesRegex(TypeError, "at least two sizes"):
            bpe.train(self.corpus, [300], output=output)
        with self.assertRaisesRegex(TypeError, "as a list"):
            bpe.train(self.corpus, "300,360", output=output)
        with self.assertRaisesRegex(bpe.BpeError, "given twice"):
            bpe.train(self.corpus, [300, 300], output=output)

    def test_reserved_tokens_fill_the_vocabulary(self) -> None:
        with bpe.train(self.corpus, 300, special_tokens=[END], pad_to=64) as tokenizer:
            self.assertEqual(tokenizer.vocab_size, 320)
            self.assertEqual(len(tokenizer.special_tokens), 21)
            self.same_as_hf(tokenizer)
            tiktoken = tokenizer.to_tiktoken()
            texts = [*made_texts(100), *tokenizer.special_tokens]
            ours = tokenizer.encode_batch(texts)
            self.assertEqual(ours, [tiktoken.encode(text, allowed_special="all") for text in texts])

    def test_weights_are_how_often_a_file_counts(self) -> None:
        other = self.home / "lang=en"
        other.write_text("of the old house " * 40, "utf-8")
        with bpe.train([self.corpus, other, other], 400) as tokenizer:
            expected = tokenizer.to_hf().get_vocab()
        for weights in ({str(other): 2}, {"lang=en": 2.0, "./none/../" + self.corpus.name: 1}):
            with bpe.train([self.corpus, other], 400, weights=weights) as tokenizer:
                self.assertEqual(tokenizer.to_hf().get_vocab(), expected)
        with self.assertRaisesRegex(bpe.BpeError, "has a weight with more than six decimal places"):
            bpe.train(self.corpus, 400, weights={self.corpus.name: 1 / 3})
        with self.assertRaisesRegex(bpe.BpeError, "rounded to 0"):
            bpe.train(self.corpus, 400, weights={self.corpus.name: 0.000001})
        with self.assertRaisesRegex(TypeError, "weights has"):
            bpe.train(self.corpus, 400, weights={self.corpus.name: "2"})

    def test_superwords_span_spaces(self) -> None:
        options = {"special_tokens": [END], "superwords_from": 320}
        self.corpus.write_text(("of the old house of the king\n" * 9 + END) * 9 + self.corpus.read_text("utf-8"), "utf-8")
        with bpe.train(self.corpus, 400, **options) as tokenizer:
            self.same_as_hf(tokenizer)
            self.goes_over_spaces(tokenizer)
            tokenizer.save(self.home / "saved")
            expected = self.encoded(tokenizer)
            with self.assertRaises(bpe.BpeError):
                tokenizer.to_tiktoken()
        with bpe.Tokenizer.load(self.home / "saved") as loaded:
            self.assertEqual(loaded.encode(self.corpus.read_text("utf-8")), expected[0])
        with bpe.train(self.corpus, 400, superword_pattern=r"[^\n]+|\n+", **options) as tokenizer:
            self.same_as_hf(tokenizer)
        for texts in (self.texts, iter(self.texts)):
            with self.assertRaisesRegex(TypeError, "superwords_from needs files, not texts: it reads the corpus twice"):
                bpe.train(texts=texts, vocab_size=400, **options)

    def test_a_tokenizer_is_extended(self) -> None:
        base = self.home / "base"
        with bpe.train(self.corpus, 300, special_tokens=[END], output=base) as before:
            ids = dict(before.to_hf().get_vocab())
        for size in ("+40", 340):
            with bpe.train(texts=self.texts, vocab_size=size, extend=base) as tokenizer:
                self.assertEqual(tokenizer.vocab_size, 340)
                self.assertEqual(tokenizer.special_tokens, {END: 299})
                self.same_as_hf(tokenizer)
                vocab = tokenizer.to_hf().get_vocab()
                self.assertEqual({text: vocab[text] for text in ids}, ids)
                tiktoken = tokenizer.to_tiktoken()
                texts = made_texts(100)
                ours = tokenizer.encode_batch(texts)
                self.assertEqual(ours, [tiktoken.encode(text, allowed_special="all") for text in texts])
        own = bpe.train(self.corpus, 300, pattern=r"\w+|\W", special_tokens=[END], compat="huggingface", output=self.home / "own")
        own.close()
        with bpe.train(self.corpus, "+20", extend=self.home / "own") as tokenizer:
            self.same_as_hf(tokenizer)
            tiktoken = tokenizer.to_tiktoken()
            self.assertEqual(tokenizer.encode_batch(texts), [tiktoken.encode(text, allowed_special="all") for text in texts])

    def test_calls_that_need_numpy_say_so(self) -> None:
        with bpe.train(self.corpus, 300) as tokenizer, mock.patch.dict(sys.modules, {"numpy": None}):
            for call in (lambda: tokenizer.encode_file(self.corpus), lambda: tokenizer.encode_batch(["a"], as_array=True)):
                with self.assertRaisesRegex(bpe.BpeError, "need numpy\nhint: pip install numpy"):
                    call()

    def test_a_tokenizer_gets_tokens_without_a_text(self) -> None:
        with bpe.train(self.corpus, 300, special_tokens=[END], pad_to=8) as before:
            with before.extend(special_tokens=["<|tool|>"], seed_tokens=[" mitochondrion"]) as after:
                self.assertEqual(len(after.encode(" mitochondrion")), 1)
                self.assertEqual(after.encode("<|tool|>"), [after.id_limit - 1])
                self.same_as_hf(after)
                text = "a mitochondrion<|tool|>of mitochondria" + END
                self.assertEqual(after.encode(text), after.to_tiktoken().encode(text, allowed_special="all"))
                again = after.extend(texts=["zqxw zqxw zqxw"], vocab_size="+2", rename={"<|tool|>": "<|call|>"})
                self.assertEqual(again.encode("<|call|>"), [after.id_limit - 1])
                self.assertEqual(again.id_limit, after.id_limit + 2)
                again.save(self.home / "again")
            with self.assertRaisesRegex(bpe.BpeError, "extend: there is nothing to add\nhint: add tokens with special_tokens"):
                before.extend()
            for rename in ({"a=b": "c"}, {"a": 1}):
                with self.assertRaisesRegex(TypeError, "must map a string without = to a string"):
                    before.extend(rename=rename)
            with self.assertRaisesRegex(bpe.BpeError, "vocab_size is missing"):
                before.extend(self.corpus, special_tokens=["<|x|>"])
        with bpe.Tokenizer.load(self.home / "again" / "vocab.json", pattern="gpt2") as tokenizer:
            with self.assertRaisesRegex(bpe.BpeError, "given to load are not in its files"):
                tokenizer.extend(seed_tokens=["xyz"])

    def test_files_written_next_to_the_tokenizer(self) -> None:
        output, report = self.home / "out", self.home / "report.html"
        with bpe.train(self.corpus, 300, output=output, model_card=True, ledger=True, report=report):
            self.assertTrue((output / "README.md").is_file())
            self.assertEqual(len((output / "tokens.tsv").read_text("utf-8").splitlines()), 301)
            self.assertIn("<html", report.read_text("utf-8"))
        with bpe.train(self.corpus, 300, output=output, ledger=False):
            self.assertFalse((output / "README.md").exists())
            self.assertFalse((output / "tokens.tsv").exists())


def with_another_kernel(image: bytes) -> bytes:
    """Returns a valid image of another version of bpe, which this native module does not accept."""
    changed = bytes(16) + image[32:]
    return image[:12] + zlib.crc32(changed).to_bytes(4, "little") + changed


class Encoding(Home):
    def setUp(self) -> None:
        super().setUp()
        self.tokenizer = bpe.train(self.corpus, 380, special_tokens=[END])

    def tearDown(self) -> None:
        self.tokenizer.close()
        super().tearDown()

    def test_gives_the_ids_of_hf_and_of_tiktoken(self) -> None:
        texts = [*made_texts(1000), "", END, "\U00010ffff", "a" * 5000]
        hf, tiktoken = self.tokenizer.to_hf(), self.tokenizer.to_tiktoken()
        ours = self.tokenizer.encode_batch(texts)
        self.assertEqual(ours, [encoding.ids for encoding in hf.encode_batch(texts)])
        self.assertEqual(ours, [tiktoken.encode(text, allowed_special="all") for text in texts])
        self.assertEqual(self.tokenizer.decode_batch(ours), texts)
        as_text = self.tokenizer.encode_batch(texts, special_tokens_as_text=True)
        self.assertEqual(as_text, [tiktoken.encode_ordinary(text) for text in texts])

    def test_tiktoken_gets_the_files_that_are_now_at_the_path_and_nothing_is_left(self) -> None:
        path, cache = self.home / "tokenizer", self.home / "cache"
        cache.mkdir()
        mine = {"TMPDIR": str(cache)}
        others = {name: value for name, value in os.environ.items() if name not in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")}
        with mock.patch.dict(os.environ, {**others, **mine}, clear=True), mock.patch.object(tempfile, "tempdir", None):
            for text in ("aaaa bbbb", "cdcdcd cdcd"):
                with bpe.train(texts=[text], vocab_size=258, output=path) as tokenizer:
                    self.assertEqual(tokenizer.to_tiktoken().encode(text), tokenizer.encode(text))
                    self.assertLess(len(tokenizer.encode(text)), len(text))
        self.assertTrue(is_empty(cache))

    def test_special_tokens_that_tiktoken_finds_in_longer_ones_are_refused(self) -> None:
        outcomes = set()
        for n in range(8):
            special = [f"<{n}>", f"<{n}>b", f"<{n}>bc"]
            with contextlib.closing(bpe.train(self.corpus, 280, special_tokens=special)) as tokenizer:
                texts = [a + b for a in special for b in ("", *special)]
                try:
                    tiktoken = tokenizer.to_tiktoken()
                except bpe.BpeError as error:
                    self.assertRegex(str(error), rf'tiktoken would find the special token "<{n}>b?" where "<{n}>bc?" occurs')
                    outcomes.add("refused")
                    continue
                outcomes.add("equal")
                ids = tokenizer.encode_batch(texts)
                self.assertEqual(ids, [tiktoken.encode(text, allowed_special="all") for text in texts])
        self.assertIn("refused", outcomes)

    def test_a_pattern_that_tiktoken_reads_differently_is_translated(self) -> None:
        for compat in ("huggingface", "cs336"):
            tokenizer = bpe.train(self.corpus, 300, pattern=r"\w+|\W", special_tokens=[END], compat=compat)
            texts = [*made_texts(200), "10² a\u200db ½"]
            ours = tokenizer.encode_batch(texts)
            self.assertEqual(ours, [encoding.ids for encoding in tokenizer.to_hf().encode_batch(texts)])
            # HF's engine reads \w differently from tiktoken's, which gets an expression that
            # spells out the characters.
            tiktoken = tokenizer.to_tiktoken()
            self.assertEqual(ours, [tiktoken.encode(text, allowed_special="all") for text in texts])
            tokenizer.close()
        named = bpe.train(self.corpus, 300, pattern="cl100k", special_tokens=[END], compat="huggingface")
        texts = made_texts(200)
        tiktoken = named.to_tiktoken()
        self.assertEqual(named.encode_batch(texts), [tiktoken.encode(text, allowed_special="all") for text in texts])
        named.close()
        several = bpe.train(self.corpus, 300, pattern="deepseek-v3", special_tokens=[END])
        with self.assertRaises(bpe.BpeError):
            several.to_tiktoken()

    def test_a_batch_of_many_requests_keeps_its_order(self) -> None:
        texts = [str(i) for i in range(200_000)]
        ids = self.tokenizer.encode_batch(texts)
        self.assertEqual(self.tokenizer.decode_batch(ids), texts)

    def test_a_text_of_megabytes_goes_through_the_pipe_both_ways(self) -> None:
        text = "".join(random.choices(ALPHABET, k=3_000_000))
        self.assertEqual(self.tokenizer.decode(self.tokenizer.encode(text)), text)

    def test_a_file_gives_an_array_of_the_same_ids(self) -> None:
        ids = self.tokenizer.encode_file(self.corpus)
        self.assertEqual(ids.dtype, numpy.uint16)
        self.assertEqual(ids.tolist(), self.tokenizer.encode(self.corpus.read_text("utf-8")))
        with self.assertRaisesRegex(bpe.BpeError, "no such file"):
            self.tokenizer.encode_file("none.txt")

    def test_threads_take_turns(self) -> None:
        texts = made_texts(200)
        expected = self.tokenizer.encode_batch(texts)
        results = [[] for _ in range(8)]

        def work(ids) -> None:
            for text in texts:
                ids.append(self.tokenizer.encode(text))

        threads = [threading.Thread(target=work, args=(ids,)) for ids in results]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [expected] * 8)

    def test_a_wrong_id_is_an_error_and_the_tokenizer_keeps_working(self) -> None:
        with self.assertRaisesRegex(bpe.BpeError, "id 999 at position 1 is not in the vocabulary"):
            self.tokenizer.decode([97, 999])
        for wrong in (-1, 2**70):
            with self.assertRaisesRegex(bpe.BpeError, f"id {wrong} at position 0 is not in the vocabulary"):
                self.tokenizer.decode([wrong])
        with self.assertRaises(TypeError):
            self.tokenizer.encode(bytearray(b"bytes"))
        with self.assertRaises(UnicodeEncodeError):
            self.tokenizer.encode("half a \ud800 character")
        self.assertEqual(self.tokenizer.decode(self.tokenizer.encode("still here")), "still here")

    def test_a_tokenizer_that_is_saved_and_loaded_is_the_same(self) -> None:
        self.tokenizer.save(self.home / "saved")
        with bpe.Tokenizer.load(self.home / "saved") as loaded, bpe.Tokenizer.load(
            self.home / "saved" / "tokenizer.json"
        ) as of_file:
            texts = made_texts(50)
            expected = self.tokenizer.encode_batch(texts)
            self.assertEqual(loaded.encode_batch(texts), expected)
            self.assertEqual(of_file.encode_batch(texts), expected)
            self.assertEqual(loaded.special_tokens, {END: 379})
        vocab = bpe.Tokenizer.load(self.home / "saved" / "vocab.json", special_tokens={END: 379, "<|x|>": 380})
        with self.assertRaisesRegex(bpe.BpeError, "do not contain the whole tokenizer"):
            vocab.save(self.home / "again")
        vocab.close()
        with self.assertRaisesRegex(bpe.BpeError, "closed"):
            loaded.encode("x")
        with self.assertRaisesRegex(bpe.BpeError, "contains no tokenizer"):
            bpe.Tokenizer.load(self.home)

    def test_an_image_is_used_only_while_the_files_next_to_it_are_unchanged(self) -> None:
        saved, runs, texts = self.home / "saved", [], made_texts(50)
        self.tokenizer.save(saved, image=True)
        expected = self.tokenizer.encode_batch(texts)
        spawn = os.posix_spawn
        os.posix_spawn = lambda *args, **named: runs.append(args) or spawn(*args, **named)
        try:
            with bpe.Tokenizer.load(saved) as loaded:
                self.assertEqual((loaded.encode_batch(texts), len(runs)), (expected, 0))
            image = (saved / "tokenizer.image").read_bytes()
            config = (saved / "tokenizer_config.json").read_bytes()
            for name, content in (
                ("tokenizer.image", image[:-1]),
                ("tokenizer.image", image[:5000] + b"?" + image[5001:]),
                ("tokenizer.image", b""),
                ("tokenizer.image", with_another_kernel(image)),
                ("tokenizer_config.json", config + b"\n"),
                ("added_tokens.json", b"{}"),
            ):
                before = (saved / name).read_bytes() if (saved / name).exists() else None
                (saved / name).write_bytes(content)
                with bpe.Tokenizer.load(saved) as loaded:
                    self.assertEqual((loaded.encode_batch(texts), len(runs)), (expected, 1))
                runs.clear()
                (saved / name).unlink() if before is None else (saved / name).write_bytes(before)
        finally:
            os.posix_spawn = spawn
        # Loading does not use these images: one was made from other files than `load` reads, the other with an option
        # of `bpe image`.
        plain = self.home / "plain"
        plain.mkdir()
        for name in ("vocab.json", "merges.txt"):
            shutil.copy(saved / name, plain)
        for directory, given in ((saved, [saved / "vocab.json"]), (plain, [plain, "--special-token=zz=9000"])):
            subprocess.check_call([find_executable(), "image", *given, "-q", "-o", directory / "tokenizer.image"])
            with bpe.Tokenizer.load(directory) as loaded:
                self.assertEqual(loaded.encode("a zz"), self.tokenizer.encode("a zz"))
        # After loading, one of the files that determine the tokenizer changes. `save` checks the files before it uses
        # them, so it notices the change.
        config = saved / "tokenizer_config.json"
        with bpe.Tokenizer.load(saved) as loaded:
            config.write_bytes(config.read_bytes().replace(b'"eos_token": "<|endoftext|>"', b'"eos_token": "x"') + b" ")
            with self.assertRaisesRegex(bpe.BpeError, "has been replaced by another tokenizer"):
                loaded.save(self.home / "elsewhere")
        # Another training replaces the directory, including the image.
        bpe.train(self.corpus, 300, output=saved).close()
        self.assertFalse((saved / "tokenizer.image").exists())

    def test_a_training_that_writes_an_image_needs_no_other_run(self) -> None:
        runs, spawn = [], os.posix_spawn
        with mock.patch.object(os, "posix_spawn", lambda *args, **named: runs.append(args) or spawn(*args, **named)):
            trained = bpe.train(self.corpus, 300, output=self.home / "made", formats=["gpt2", "image"])
            self.assertEqual(len(trained), 300)
        self.assertEqual(len(runs), 1)
        trained.save(self.home / "copy")
        self.assertFalse((self.home / "copy/tokenizer.image").exists())

    def test_a_dropped_tokenizer_removes_its_files(self) -> None:
        for use in (lambda each: None, lambda each: each.encode("a b")):
            unused = bpe.train(self.corpus, 300)
            use(unused)
            path = unused._path
            del unused
            self.assertTrue(are_gone(path))

    def test_ids_come_as_arrays_and_from_several_threads(self) -> None:
        texts = [*made_texts(300), "", " ".join(made_texts(4000)) * 6, END * 3, "x" * 700_000]
        # Threads look for the first cut of this text from byte 2^18 on (PART_BYTES of python.c). A special token begins
        # there, so no cut is allowed there.
        texts.append(f"ab \n{END}" * 62_000)
        expected = [self.tokenizer.encode(text, threads=1) for text in texts]
        for threads in (None, 1, 2, 3):
            self.assertEqual(self.tokenizer.encode_batch(texts, threads=threads), expected)
            ids, offsets = self.tokenizer.encode_batch(texts, threads=threads, as_array=True)
            self.assertEqual((ids.dtype.name, offsets.dtype.name, len(offsets)), ("uint16", "int64", len(texts) + 1))
            parts = [ids[start:end].tolist() for start, end in zip(offsets, offsets[1:])]
            self.assertEqual(parts, expected)
            self.assertEqual(self.tokenizer.encode(texts[301], threads=threads), expected[301])
        ids, offsets = self.tokenizer.encode_batch([], as_array=True)
        self.assertEqual((ids.tolist(), offsets.tolist()), ([], [0]))
        with self.assertRaisesRegex(ValueError, "threads is 0"):
            self.tokenizer.encode_batch(["a"], threads=0)

    def test_parts_that_are_near_go_to_one_instance(self) -> None:
        batch = self.tokenizer._encoder().batch(["a b " * (1 << 16)] * 40, False, True, 2)
        # With two threads, there are two instances of the kernel, and each owns every other group of 8 texts. This call
        # encodes 32 of the 40 texts: groups 0, 2 and 4, which the first instance owns, and group 1, because the second
        # instance has not begun. Group 3, texts 24 to 31, is not encoded yet, so its items are still strings.
        self.assertTrue(batch.work())
        self.assertEqual("".join(type(ids).__name__[0] for ids in batch.lists()), "l" * 24 + "s" * 8 + "l" * 8)
        self.assertFalse(batch.work())
        self.assertEqual({len(ids) for ids in batch.lists()}, {len(self.tokenizer.encode("a b " * (1 << 16)))})

    def test_the_garbage_collector_does_not_track_lists_of_ids(self) -> None:
        for ids in (self.tokenizer.encode("a b"), *self.tokenizer.encode_batch(["a", "", "x" * 700_000], threads=2)):
            self.assertFalse(gc.is_tracked(ids))
            ids.append(1)
            self.assertEqual(ids.pop(), 1)
        self.assertTrue(gc.isenabled())

    def test_counting_stops_once_the_limit_is_exceeded(self) -> None:
        text = " ".join(made_texts(4000)) * 6
        count = len(self.tokenizer.encode(text))
        self.assertEqual(self.tokenizer.count(text), count)
        self.assertEqual(self.tokenizer.count(END, special_tokens_as_text=True), len(self.tokenizer.encode(END, special_tokens_as_text=True)))
        for limit in (0, 1, 10, count - 1, count, count + 1):
            self.assertEqual(self.tokenizer.count(text, limit), min(count, limit + 1))
        self.assertEqual(self.tokenizer.count("", 0), 0)
        with self.assertRaisesRegex(ValueError, "limit is -1"):
            self.tokenizer.count("a", -1)


class Assignment(Home):
    def test_the_adapters_of_cs336(self) -> None:
        vocab, merges = run_train_bpe(self.corpus, 330, [END])
        self.assertEqual(len(vocab), 330)
        self.assertEqual(len(merges), 330 - 256 - 1)
        self.assertEqual(set(vocab.values()), {bytes([b]) for b in range(256)} | {END.encode()} | {a + b for a, b in merges})
        tokenizer = get_tokenizer(vocab, merges, [END, END + END])
        text = f"aab {END}{END} bc{END}"
        ids = tokenizer.encode(text)
        self.assertEqual(tokenizer.decode(ids), text)
        self.assertIn(330, ids)
        self.assertEqual(list(tokenizer.encode_iterable(["aab ", "bc"])), tokenizer.encode("aab ") + tokenizer.encode("bc"))
        self.assertEqual(get_tokenizer(vocab, merges).decode(get_tokenizer(vocab, merges).encode("ab ")), "ab ")


class CommandLine(unittest.TestCase):
    def test_is_installed_under_its_name_and_as_a_module(self) -> None:
        here = os.path.join(os.path.dirname(sys.executable), "bpe")
        said = [subprocess.check_output(command) for command in ([here, "--version"], [sys.executable, "-m", "bpe_trainer", "--version"])]
        self.assertRegex(said[0], rb"^bpe \d")
        self.assertEqual(*said)


if __name__ == "__main__":
    unittest.main()
