"""Tests `compare.py` and `first.py` of bench/peers, with real rivals and fake ones in a directory of PYTHONPATH."""

import importlib.metadata  # Loaded here, because test_missing_rivals_are_named replaces sys.path.
import importlib.util
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import bpe_trainer as bpe

PEERS = Path(__file__).resolve().parents[2] / "bench" / "peers"
sys.path.insert(0, str(PEERS))
import compare as bench
import first
import work

END = "<|endoftext|>"
random.seed(20261123)
WORDS = ["".join(random.choices("abcdeßй好", k=random.randrange(1, 9))) for _ in range(300)]

#: The source of a fake gigabpe that learns the right merges. Tests put a statement in place of CHANGE.
GIGABPE = """
import json, os, sys, time
import bpe_trainer as bpe

def train_bpe(files, vocab_size, *, special_tokens, pretokenizer, threads):
    kept = os.environ["KEPT"] + "-" + str(vocab_size)
    if not os.path.exists(kept):
        bytes_seen = len(set(open(files[0], "rb").read()))
        trained = bpe.train(files, vocab_size - bytes_seen + 256, special_tokens=special_tokens, compat="huggingface")
        with open(kept, "w") as file:
            json.dump(json.loads(trained.to_hf().to_str())["model"]["merges"], file)
    merges = json.load(open(kept))
    CHANGE
    return {}, merges
"""
RAISES = "def train_bpe(*_, **__): raise RuntimeError('of its own\\nkind')"


def lines(count: int) -> str:
    return "".join(" ".join(random.choices(WORDS, k=12)) + "\n" for _ in range(count))


class Bench(unittest.TestCase):
    def setUp(self) -> None:
        self.kept = tempfile.TemporaryDirectory()
        self.home = Path(self.kept.name)
        self.places = self.home / "tmp"
        self.places.mkdir()
        self.fakes = self.home / "fakes"
        self.fakes.mkdir()
        self.corpus = self.home / "corpus.txt"
        self.corpus.write_text(lines(600), "utf-8")

    def tearDown(self) -> None:
        self.kept.cleanup()

    def fake(self, name: str, source: str) -> None:
        (self.fakes / name).mkdir()
        (self.fakes / name / "__init__.py").write_text(source, "utf-8")

    def environment(self) -> "dict[str, str]":
        return {**os.environ, "PYTHONPATH": str(self.fakes), "TMPDIR": str(self.places), "KEPT": str(self.home / "kept")}

    def command(self, *arguments: "str | Path") -> "list[str]":
        return [sys.executable, str(PEERS / "compare.py"), *map(str, arguments)]

    def run_bench(self, *arguments: "str | Path") -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            self.command(*arguments), env=self.environment(), capture_output=True, text=True, cwd=self.home
        )
        self.assertEqual(os.listdir(self.places), [])
        self.assertNotIn("Traceback", done.stderr)
        return done

    def tables(self, *arguments: "str | Path") -> "dict[str, dict]":
        """Returns the tables by kind of work. The second table of a training is called train2."""
        done = self.run_bench(self.corpus, "-n", "400", "--json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = {}
        for table in json.loads(done.stdout)["tables"]:
            found[table["work"] + ("2" if table["work"] in found else "")] = table
        return found

    def row(self, table: dict, name: str) -> dict:
        return next(row for row in table["rows"] if row["name"] == name)


class Rivals(Bench):
    def test_real_rivals_do_the_same_work(self) -> None:
        for special in ((), ("-s", END)):
            self.corpus.write_text(END.join(lines(150) for _ in range(4)), "utf-8")
            with self.subTest(special):
                tables = self.tables("--only", "tokenizers,tiktoken", "--runs", "2", *special)
                self.assertEqual(list(tables), ["train", "batch", "again", "calls-20", "calls-200", "calls-2000", "file"])
                ours, theirs = tables["train"]["rows"]
                self.assertEqual(ours["verdict"], f"{400 - 256 - len(special) // 2} merges")
                self.assertEqual((theirs["verdict"], theirs["isRight"]), ("same merges", True))
                for name in ("batch", "again", "calls-20", "calls-200", "calls-2000"):
                    rivals = [row["verdict"] for row in tables[name]["rows"] if not row["name"].startswith("bpe")]
                    self.assertEqual(rivals, ["same ids"] * 2)
                letters = len(self.corpus.read_text("utf-8").replace(END if special else "\n\n\n", ""))
                self.assertLessEqual(abs(letters // 200 - self.row(tables["calls-200"], "bpe")["texts"]), 4)
                for row in (row for table in tables.values() for row in table["rows"]):
                    self.assertEqual(len(row["seconds"]), 2)
                    self.assertGreater(row["processorSeconds"], 0)
                    self.assertGreater(row["peakMemoryBytes"], 5e6)
                # The memory of the executable counts as that of bpe.
                for name in ("train", "file"):
                    self.assertGreater(tables[name]["rows"][0]["peakMemoryBytes"], 60e6)

    def test_a_faster_rival_has_a_ratio_below_one(self) -> None:
        self.fake("gigabpe", GIGABPE.replace("CHANGE", ""))
        self.run_bench(self.corpus, "-n", "400", "--runs", "1", "--only", "gigabpe", "--work", "train")
        table = self.tables("--runs", "3", "--only", "gigabpe", "--work", "train")["train"]
        row = self.row(table, "gigabpe")
        self.assertEqual(row["verdict"], "same merges")
        self.assertEqual(row["timesOurs"], row["medianSeconds"] / self.row(table, "bpe")["medianSeconds"])
        self.assertLess(row["timesOurs"], 1)
        said = self.run_bench(self.corpus, "-n", "400", "--runs", "1", "--only", "gigabpe", "--work", "train").stdout
        self.assertRegex(said, r"\n  gigabpe +0\.\d+ s .* 0\.\d+ .*same merges\n")
        self.assertRegex(said, r"\n  bpe +\d\.\d+ s  .* 1\.00 .*144 merges\n")
        self.assertLessEqual(max(map(len, said.splitlines())), 110)

    def test_a_wrong_rival_is_not_compared(self) -> None:
        self.fake("gigabpe", GIGABPE.replace("CHANGE", "merges[20:22] = [merges[21], merges[20]]"))
        self.run_bench(self.corpus, "-n", "400", "--runs", "1", "--only", "gigabpe", "--work", "train")
        table = self.tables("--runs", "1", "--only", "gigabpe", "--work", "train")["train"]
        row = self.row(table, "gigabpe")
        self.assertEqual((row["verdict"], row["isRight"]), ("OTHER MERGES from 21 on", False))
        self.assertIsNone(row["timesOurs"])

    def test_fewer_merges_are_a_difference(self) -> None:
        self.fake("gigabpe", GIGABPE.replace("CHANGE", "merges.pop()"))
        table = self.tables("--runs", "1", "--only", "gigabpe", "--work", "train")["train"]
        self.assertEqual(self.row(table, "gigabpe")["verdict"], "OTHER MERGES: 143, not 144")

    def test_rivals_that_crash_are_rows(self) -> None:
        self.fake("gigabpe", "import os\ndef train_bpe(*_, **__): print('its last words'); os.abort()")
        self.fake("rustbpe", "class Tokenizer:\n  def train_from_iterator(*_, **__): raise RuntimeError('of its\\nown')")
        self.fake("gigatoken", "import time\ntime.sleep(1000)")
        self.fake("tiktoken", "import os\nos._exit(3)")
        tables = self.tables("--runs", "2", "--timeout", "5", "--work", "train,batch")
        verdicts = {
            ("train", "gigabpe"): "ended with exit code -6: its last words",
            ("train2", "rustbpe"): "failed: RuntimeError: of its\nown",
            ("train2", "gigatoken"): "stopped after 5 s (--timeout)",
            ("batch", "tiktoken"): "ended with exit code 3",
        }
        for (name, rival), verdict in verdicts.items():
            row = self.row(tables[name], rival)
            self.assertEqual((row["verdict"], row["isRight"], row["seconds"]), (verdict, None, []))
        self.assertEqual(self.row(tables["train"], "tokenizers")["verdict"], "same merges")

    def test_an_error_of_two_lines_is_one_line_of_the_table(self) -> None:
        self.fake("gigabpe", RAISES)
        said = self.run_bench(self.corpus, "-n", "400", "--runs", "1", "--only", "gigabpe", "--work", "train")
        self.assertEqual(said.returncode, 0)
        self.assertIn("\n  gigabpe            failed: RuntimeError: of its own\\nkind\n", said.stdout)

    def test_different_ids_are_reported(self) -> None:
        self.fake(
            "tiktoken",
            """
import bpe_trainer as bpe
import os
class Encoding:
    def __init__(self, name, *, pat_str, mergeable_ranks, special_tokens):
        self.ours = bpe.Tokenizer.load(os.path.join(os.environ["TMPDIR"], "huggingface"))
    def encode_ordinary(self, text):
        return self.ours.encode(text)
    def encode_ordinary_batch(self, texts, num_threads):
        ids = self.ours.encode_batch(texts)
        ids[-1] = ids[-1][:-1] + [ids[-1][-1] ^ 1]
        return ids
""",
        )
        tables = self.tables("--runs", "1", "--only", "tiktoken", "--work", "batch,calls")
        row = self.row(tables["batch"], "tiktoken")
        texts = self.row(tables["batch"], "bpe")["verdict"].split()[0]
        self.assertEqual((row["verdict"], row["isRight"]), (f"OTHER IDS from text {texts} on", False))
        self.assertGreater(int(texts), 2)
        self.assertEqual(self.row(tables["calls-200"], "tiktoken")["verdict"], "same ids")

    def test_a_file_is_compared_without_special_tokens_that_a_rival_leaves_out(self) -> None:
        self.fake(
            "gigatoken",
            """
import bpe_trainer as bpe
import numpy, os
class TextFileSource:
    def __init__(self, paths, separator):
        text = open(paths[0], encoding="utf-8").read()
        self.texts = [text] if separator is None else [part for part in text.split(separator) if part]
class Tokenizer:
    def __init__(self, path): self.ours = bpe.Tokenizer.load(path)
    @staticmethod
    def from_tiktoken(path, pretokenizer):
        assert (os.path.basename(path), pretokenizer) == ("tokenizer.tiktoken", "cl100k")
        return Tokenizer(os.path.dirname(path))
    def encode(self, text): return numpy.asarray(self.ours.encode(text), dtype="uint32")
    def encode_batch_list(self, texts): return self.ours.encode_batch(texts)
    def encode_batch(self, texts): return [self.encode(text) for text in texts]
    def encode_files(self, source): return self.encode_batch(source.texts)
""",
        )
        (self.fakes / "gigatoken" / "gigatoken_rs.py").write_text(
            """
import bpe_trainer as bpe, json
from bpe_trainer._characters import byte_of
def train_bpe(file, vocab_size, special_tokens, *, tie_breaking, separator):
    assert separator == b"<|endoftext|>"
    rule = {"raw_token_ids": "rustbpe", "huggingface": "huggingface"}[tie_breaking]
    ours = bpe.train(file, vocab_size, special_tokens=special_tokens, compat=rule).to_hf()
    merges = [merge.split() if isinstance(merge, str) else merge for merge in json.loads(ours.to_str())["model"]["merges"]]
    return {}, [tuple(part.translate(byte_of).encode("latin-1") for part in merge) for merge in merges]
"""
        )
        self.corpus.write_text(END.join(lines(100) for _ in range(5)) + END * 2, "utf-8")
        tables = self.tables("--runs", "1", "--only", "gigatoken", "-s", END, "--work", "train,batch,again,file")
        self.assertEqual(self.row(tables["train2"], "gigatoken")["verdict"], "same merges")
        names = ("batch", "again", "file")
        rivals = [row for name in names for row in tables[name]["rows"] if not row["name"].startswith("bpe")]
        self.assertEqual([row["verdict"] for row in rivals], ["same ids"] * 5)
        tables = self.tables("--runs", "1", "--only", "gigatoken", "-p", "cl100k", "--work", "train,file")
        self.assertEqual(self.row(tables["train2"], "gigatoken")["verdict"], "trains as gpt2 cuts only")
        self.assertEqual(tables["file"]["rows"][1]["verdict"], "same ids")

    def test_without_numpy_a_file_is_not_encoded(self) -> None:
        self.fake("numpy", "raise ImportError('not here')")
        self.fake("gigatoken", "")
        done = self.run_bench(self.corpus, "-n", "300", "--runs", "1", "--only", "gigatoken", "--work", "file")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\n  bpe, arrays        its array is one of numpy: pip install numpy\n", done.stdout)

    def test_tokenizers_without_trainers_encode_only(self) -> None:
        self.fake(
            "tokenizers",
            """
import bpe_trainer as bpe
class Encoding:
    def __init__(self, ids): self.ids = ids
class Tokenizer:
    @staticmethod
    def from_file(path):
        made = Tokenizer()
        made.ours = bpe.Tokenizer.load(path)
        return made
    def encode(self, text, *, add_special_tokens): return Encoding(self.ours.encode(text))
    def encode_batch(self, texts, *, add_special_tokens): return [Encoding(ids) for ids in self.ours.encode_batch(texts)]
""",
        )
        tables = self.tables("--runs", "1", "--only", "tokenizers", "--work", "train,batch")
        self.assertRegex(self.row(tables["train"], "tokenizers")["verdict"], "has no trainers$")
        self.assertEqual(self.row(tables["batch"], "tokenizers")["verdict"], "same ids")

    def test_a_file_without_lines_or_merges_is_measured(self) -> None:
        for data, special in (("\n\n\n", ()), (END * 3, ("-s", END)), ("a", ())):
            self.corpus.write_text(data)
            done = self.run_bench(self.corpus, "-n", "300", "--runs", "1", "--only", "tokenizers,tiktoken", *special)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual((done.stdout.count("same merges"), done.stdout.count("same ids")), (1, 10 + 2))

    def test_a_large_file_is_a_batch_by_its_beginning(self) -> None:
        self.corpus.write_text(END.join(["low lower\nlow " * 2000] * 4))
        for limit, texts in ((-1, 8), (60_000, 5)):
            ask = work.Ask(file=str(self.corpus), special_token=END)
            found = work.texts_of_file(ask, limit)
            self.assertEqual(len(found), texts)
            self.assertEqual("".join(found), self.corpus.read_text()[: limit if limit > 0 else None].replace(END, ""))
        self.corpus.write_text(f"low lower{END}low{END}lowest")
        ask = work.Ask(file=str(self.corpus), special_token=END)
        self.assertEqual(work.equal_texts(ask, 4), ["low ", "lowe", "lowe"])
        with mock.patch.object(work, "CALLS_CHARACTERS", 7), mock.patch.object(work, "CALLS", 2):
            self.assertEqual(work.equal_texts(ask, 2), ["lo", "w "])

    def test_a_pattern_that_a_rival_lacks_is_reported(self) -> None:
        self.fake("gigabpe", RAISES)
        table = self.tables("--runs", "1", "--only", "gigabpe,tokenizers", "-p", "cl100k", "--work", "train")["train"]
        self.assertEqual(self.row(table, "gigabpe")["verdict"], "cuts text as gpt2 only")
        self.assertEqual(self.row(table, "tokenizers")["verdict"], "same merges")

    def test_missing_rivals_are_named(self) -> None:
        (self.fakes / "gigabpe").mkdir()
        with mock.patch.object(sys, "path", [str(self.fakes)]), mock.patch.dict(sys.modules):
            for name in bench.RIVALS:
                sys.modules.pop(name, None)
            self.assertEqual(bench.installed(bench.RIVALS), {})
        said = self.run_bench(self.corpus, "-n", "300", "--runs", "1", "--only", "gigabpe", "--work", "train").stdout
        self.assertIn("\nnotInstalled: ['gigabpe']\n", said)
        self.assertNotIn("\n  gigabpe", said)

    def test_each_run_has_to_be_right(self) -> None:
        for wrong in (0, 2):
            runs = [{"seconds": 1.0, "found": ["a b"]} for _ in range(6)]
            # The order of the runs alternates: ours and theirs, theirs and ours, ours and theirs.
            runs[(1, 2, 5)[wrong]]["found"] = ["a c"]
            made = mock.Mock(home="", options=mock.Mock(runs=3), _run=mock.Mock(side_effect=runs))
            rows = [bench.Row("bpe"), bench.Row("tokenizers")]
            bench.Bench._take_turns(made, "", "train", "huggingface", rows)
            self.assertEqual([row.verdict for row in rows], ["1 merges", "OTHER MERGES from 1 on"])

    def test_tokens_are_compared_where_there_are_no_merges(self) -> None:
        for theirs, is_same in ((["ab"], True), (["ac"], False), (["a b"], True), (["ab", "abc"], False)):
            self.assertEqual(bench.verdict_of("train", theirs, ["a b"])[0], is_same)


class First(Bench):
    def test_the_first_calls_are_compared_by_their_ids(self) -> None:
        self.fake(
            "gigatoken",
            """
import bpe_trainer as bpe, os
class Tokenizer:
    def __init__(self, path): self.ours = bpe.Tokenizer.load(path)
    def encode_batch(self, texts):
        ids = self.ours.encode_batch(texts)
        if len(texts) > 1 and os.environ["RAYON_NUM_THREADS"] == "2": ids[-1][-1] ^= 1
        return ids
""",
        )
        self.fake("awkward", "to_numpy = list\nflatten = lambda lists: sum(lists, [])")
        self.fake("fastokens", "import os\nclass Tokenizer:\n  from_file = lambda path: os._exit(3)")
        bpe.train([self.corpus], 400, output=self.home / "made", compat="huggingface")
        said = subprocess.run(
            [sys.executable, PEERS / "first.py", self.corpus, self.home / "made" / "tokenizer.json", "--runs", "1"]
            + ["--size", "15000", "--units", "lines", "--only", "tokenizers,gigatoken,fastokens"],
            env=self.environment(),
            capture_output=True,
            text=True,
            cwd=self.home,
        )
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        number = r" +\d+\.\d{4}"
        rows = re.findall(rf"^  (\w+){number * 3} +\d+ MB  (.*)$", said.stdout, re.MULTILINE)
        right = [("bpe", "same ids"), ("tokenizers", "same ids"), ("gigatoken", "same ids")]
        self.assertEqual(rows, right + right[:2] + [("gigatoken", "OTHER IDS")])
        self.assertEqual(said.stdout.count("\n  fastokens   exit code 3: \n"), 2)
        self.assertEqual(os.listdir(self.places), [])

    def test_parts_are_consecutive(self) -> None:
        self.corpus.write_text("a\nb\r\n" + "ß" * 12_000, "utf-8")
        self.assertEqual(first.parts(str(self.corpus), 4, "lines"), (["a\n", "b\r"], ["\n", "ßßß"]))
        whole, rest = first.parts(str(self.corpus), 11_000, "documents")
        self.assertEqual([len(text) for text in whole + rest], [10_000, 1_000, 1_005])
        self.assertEqual("".join(whole + rest), "a\nb\r\n" + "ß" * 12_000)


class Files(Bench):
    def test_a_file_that_cannot_be_read_is_refused(self) -> None:
        (self.home / "empty").touch()
        (self.home / "latin").write_bytes(b"caf\xe9 au lait\n" * 9)
        (self.home / "cut").write_bytes("ß".encode()[:1])
        os.mkfifo(self.home / "pipe")
        (self.home / "gone").symlink_to("nowhere")
        for name, message in {
            "nothing": '"nothing": no such file',
            ".": '"." is not a regular file',
            "empty": '"empty" is empty',
            "latin": '"latin" is not UTF-8 near byte 0: all libraries here take text',
            "cut": '"cut" is not UTF-8 near byte 1: all libraries here take text',
            "pipe": '"pipe" is not a regular file',
            "gone": '"gone" is not a regular file',
            "a\x1b\n": '"a\\x1b\\n": no such file',
        }.items():
            done = self.run_bench(name)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr, f"compare.py: error: {message}\n")

    def test_wrong_arguments_are_named(self) -> None:
        for arguments, named in [
            ((), "file"),
            (("x", "-n", "256"), "'256' is not a number of at least 257"),
            (("x", "--runs", "0"), "'0' is not a number"),
            (("x", "--runs", "x"), "'x' is not a number"),
            (("x", "--only", "hf"), "'hf' is none of tokenizers, "),
            (("x", "-p", "spaces"), "'spaces'"),
            (("x", "--work", "lines"), "'lines' is none of train, "),
        ]:
            done = self.run_bench(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(named, done.stderr)

    def test_a_file_is_text_whatever_its_name_is(self) -> None:
        name = os.fsdecode(b"-x \n\xff.jsonl")
        (self.home / name).write_text('{"text": "low lower"}\nno JSON\n' * 99, "utf-8")
        done = self.run_bench("-n", "270", "--runs", "1", "--only", "tokenizers", "--work", "train", "--", name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("file: -x \\n\\udcff.jsonl\nbytes: 2970\n"))
        self.assertIn("same merges", done.stdout)

    def test_an_error_of_bpe_is_shown_verbatim(self) -> None:
        self.corpus.write_bytes(b"a\0b" * 50)
        done = self.run_bench(self.corpus, "-n", "300", "--only", "tokenizers")
        self.assertEqual(done.returncode, 1)
        message = f'compare.py: error: bpe: "{self.corpus}" is not text: it has a zero byte at offset 1\n'
        self.assertEqual(done.stderr, message)

    def test_quick_uses_the_beginning_of_the_file(self) -> None:
        for data, kept in [(b"abc\nd\nefgh", b"abc\nd\n"), (b"abcdefg\xc3\x9f!", b"abcdefg"), (b"ab\n", b"ab\n")]:
            self.corpus.write_bytes(data)
            with mock.patch.object(bench, "QUICK_BYTES", 8), tempfile.TemporaryDirectory() as home:
                path, *facts = bench.use_file(str(self.corpus), home, True)
                self.assertEqual(Path(path).read_bytes(), kept)
                self.assertEqual(facts, [len(kept), len(set(kept))])

    def test_texts_of_a_document_have_its_ids(self) -> None:
        marks = ["\n", "\n\n", " \n", "\r\n", "\t\n", "\n ", "x", "é\n", "e\u0301\n", "'s\n", "7\n8", ".\n", "/\n", "好\n好", "ab\nAb"]
        document = "".join(random.choices(marks, k=6000))
        for pattern in bench.PATTERNS:
            tokenizer = bpe.train(texts=[document], vocab_size=400, pattern=pattern)
            for least in (1, 50, 10_000):
                texts = list(work.texts_of(document, least))
                self.assertEqual("".join(texts), document)
                self.assertEqual(sum(tokenizer.encode_batch(texts), []), tokenizer.encode(document))
            self.assertGreater(len(list(work.texts_of(document, 50))), 20)
            tokenizer.close()


class Ends(Bench):
    def test_nothing_is_left_of_a_run_that_is_stopped(self) -> None:
        self.fake(
            "gigabpe",
            """
import os, subprocess, tempfile, time
def train_bpe(*_, **__):
    tempfile.mkstemp()
    near = subprocess.Popen(["sleep", "1000"])
    with open(os.environ["KEPT"] + ".new", "w") as file:
        file.write(f"{os.getpid()} {near.pid}")
    os.rename(os.environ["KEPT"] + ".new", os.environ["KEPT"])
    time.sleep(1000)
""",
        )
        kept = self.home / "kept"
        for number, exit_code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            command = self.command(self.corpus, "-n", "300", "--only", "gigabpe")
            with subprocess.Popen(
                command, env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            ) as process:
                while not kept.exists():
                    self.assertIsNone(process.poll())
                    time.sleep(0.02)
                pids = [int(pid) for pid in kept.read_text().split()]
                process.send_signal(number)
                _, said = process.communicate()
            self.assertEqual((process.returncode, said), (exit_code, ""))
            kept.unlink()
            self.assertEqual(os.listdir(self.places), [])
            for pid in pids:
                while is_running(pid):
                    time.sleep(0.02)

    def test_a_closed_stdout_ends_the_run_silently(self) -> None:
        with subprocess.Popen(
            self.command(self.corpus, "-n", "300", "--runs", "1", "--only", "tokenizers"),
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), "")
        self.assertEqual(process.returncode, 141)
        self.assertEqual(os.listdir(self.places), [])

    def test_a_terminal_shows_the_current_rival_and_keeps_no_trace(self) -> None:
        self.fake("gigabpe", "import os, signal\ndef train_bpe(*_, **__): os.kill(int(os.environ['BENCH']), signal.SIGINT)")
        ours, theirs = os.openpty()
        script = "import os, sys; os.environ['BENCH'] = str(os.getpid()); import compare; sys.exit(compare.main())"
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(self.corpus), "-n", "300", "--only", "gigabpe"],
            env=self.environment(),
            cwd=PEERS,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 1 << 12):
                said += part
        except OSError:
            pass  # On Linux, reading a closed terminal is an error.
        os.close(ours)
        self.assertEqual(process.wait(), 130)
        turns = [f"\r\x1b[Ktrain, as HF does: {name}, run 1 of 3" for name in ("bpe", "gigabpe")]
        self.assertEqual(said.decode(), "".join(turns) + "\r\x1b[K")
        self.assertEqual(os.listdir(self.places), [])


def is_running(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    unittest.main()
