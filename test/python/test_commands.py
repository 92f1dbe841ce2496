"""Commands that return dicts, names of other packages, and messages with Python's names. Run by
suite.ts."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import bpe_trainer as bpe
from bpe_trainer import _training
from bpe_trainer._executable import find_executable
from test_bpe import END, Home


class Commands(Home):
    def setUp(self) -> None:
        super().setUp()
        self.large, self.small = self.home / "large", self.home / "small"
        self.tokenizer = bpe.train(self.corpus, 400, special_tokens=[END], output=self.large)
        bpe.train(self.corpus, 300, special_tokens=[END], output=self.small).close()

    def test_doctor_returns_its_findings_including_errors(self):
        with tempfile.TemporaryDirectory() as home:
            path = os.path.join(home, "tokenizer")
            tokenizer = bpe.train(texts=["the cat sat on the mat"], vocab_size=260, output=path)
            found = bpe.doctor(path)
            self.assertEqual((found["format"], found["errors"]), ("bpe-diagnosis", 0))
            self.assertEqual(found["fingerprint"], tokenizer.fingerprint)
            config = os.path.join(path, "tokenizer_config.json")
            with open(config, "w", encoding="utf-8") as file:
                file.write('{"eos_token": "</s>"}')
            self.assertIn("role-without-token", [each["check"] for each in bpe.doctor(path)["findings"]])
            with self.assertRaises(bpe.BpeError):
                bpe.doctor(os.path.join(home, "absent"))

    def test_verify_returns_differences(self) -> None:
        found = bpe.verify(self.large)
        self.assertEqual((found["format"], found["verified"], found["differences"]), ("bpe-verification", True, []))
        merges = self.small / "merges.txt"
        merges.write_text(merges.read_text("utf-8") + "a b\n", "utf-8")
        self.assertIn("merges.txt", [each["what"] for each in bpe.verify(self.small)["differences"]])
        moved = self.home / "moved.txt"
        self.corpus.rename(moved)
        self.assertFalse(bpe.verify(self.large)["verified"])
        self.assertTrue(bpe.verify(self.large, input={str(self.corpus): moved})["verified"])
        self.assertIsNone(bpe.verify(self.large, files_only=True)["verified"])
        with self.assertRaises(bpe.BpeError):
            bpe.verify(self.home)

    def test_answers_are_those_of_the_command_line(self) -> None:
        large, small, corpus = map(str, (self.large, self.small, self.corpus))
        for answer, command in (
            (bpe.inspect(self.tokenizer), ["inspect", large]),
            (bpe.diff(self.large, small, text=self.corpus), ["diff", large, small, "--text", corpus]),
            (bpe.tokens(corpus, tokenizer=self.large), ["tokens", corpus, "--tokenizer", large]),
            (
                bpe.eval(
                    *(large, {"b": small}),
                    text={"t": [corpus, corpus]},
                    term=["a b", "c"],
                    workers=1,
                    numbers=True,
                    model={"d": 64, "layers": 2},
                ),
                [*("eval", large, f"b={small}", "--text", f"t={corpus}", "--text", f"t={corpus}"), "-w1", "--numbers"]
                + ["--term", "a b", "--term", "c", "--model", "d=64,layers=2"],
            ),
        ):
            said = subprocess.run([find_executable(), *command, "--json", "--quiet"], stdout=subprocess.PIPE, check=True)
            self.assertEqual(answer, json.loads(said.stdout))
        pruned = bpe.prune(self.tokenizer, text=corpus, vocab_size=300, output=self.home / "pruned", progress=False)
        self.assertEqual((pruned["size"], len(bpe.Tokenizer.load(self.home / "pruned"))), (300, 300))
        made = bpe.convert(self.large / "tokenizer.tiktoken", output=self.home / "made", format="huggingface")
        self.assertEqual(made["files"][0], "tokenizer.json")
        cut = bpe.truncate(self.tokenizer, vocab_size=[300, 350], output=self.home / "cut")
        self.assertEqual((cut["sizes"], len(bpe.Tokenizer.load(self.home / "cut/350"))), ([300, 350], 350))

    def test_commands_accept_tokenizer_objects(self) -> None:
        with bpe.train(self.corpus, 400, special_tokens=[END]) as kept:
            self.assertEqual(bpe.inspect(kept)["vocabularySize"], 400)
        with self.assertRaisesRegex(bpe.BpeError, "closed"):
            bpe.inspect(kept)
        given = bpe.Tokenizer.load(self.large / "vocab.json", special_tokens={"<z>": 900})
        self.assertEqual(bpe.inspect(given)["idLimit"], 901)
        with self.assertRaisesRegex(TypeError, "was loaded with pattern or special_tokens"):
            bpe.diff(given, self.large)

    def test_errors_name_the_parameters_of_python(self) -> None:
        for raised, said, call in (
            (bpe.BpeError, "workers is 0, but must be at least 1", lambda: bpe.eval(self.large, text=self.corpus, workers=0)),
            (bpe.BpeError, "^model: layers is missing", lambda: bpe.eval(self.large, text=self.corpus, model={"d": 4})),
            (bpe.BpeError, "give a vocab_size from 257", lambda: bpe.prune(self.large, text=self.corpus, vocab_size=9, output="x")),
            (bpe.BpeError, "unknown option nonsense\nhint: bpe inspect --help", lambda: bpe.inspect(self.large, nonsense=1)),
            (bpe.BpeError, "no such file", lambda: bpe.inspect(self.home / "absent")),
            (bpe.BpeError, "<path> is missing", lambda: bpe.inspect(None)),
            (bpe.BpeError, "zero byte", lambda: bpe.inspect("a\0")),
            (TypeError, "no parameter 'json'", lambda: bpe.inspect(self.large, json=True)),
            (TypeError, "no parameter 'measure': leave it out", lambda: bpe.eval(self.large, text=self.corpus, measure="all")),
            (TypeError, "no parameter 'words': leave it out", lambda: bpe.eval(self.large, text=self.corpus, words=3)),
            (TypeError, "found object", lambda: bpe.inspect(object())),
            (ZeroDivisionError, "", lambda: bpe.eval(self.large, text=self.corpus, progress=lambda *_: 1 // 0)),
        ):
            with self.assertRaisesRegex(raised, said):
                call()

    def test_threads_and_a_forked_process_may_call_commands(self) -> None:
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(bpe.inspect(self.small))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [bpe.inspect(self.small)] * 3)
        pid = os.fork()
        if pid == 0:
            os._exit(int(bpe.inspect(self.small) != answers[0]))
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_a_star_import_keeps_pythons_names(self) -> None:
        names: dict = {}
        exec("from bpe_trainer import *", names)
        self.assertNotIn("eval", names)
        self.assertLessEqual({"eval", "inspect", "diff", "prune", "tokens", "truncate", "explain", "cs336"}, {*dir(bpe)})
        self.assertEqual(f"bpe {bpe.__version__}", subprocess.check_output([find_executable(), "--version"], text=True)[:9])


class Names(Home):
    def test_names_of_other_packages_mean_the_same(self) -> None:
        with bpe.train(self.corpus, 400, special_tokens=[END]) as tokenizer:
            tokenizer.save_pretrained(self.home / "saved")
            self.assertEqual((tokenizer.n_vocab, tokenizer.get_vocab_size()), (400, 400))
            text = "a good day" + END
            self.assertEqual(tokenizer.pre_tokenize("-a  good" + END + "it's"), ["-", "a", " ", " good", END, "it", "'s"])
            self.assertEqual(tokenizer.pre_tokenize(""), [])
            theirs = tokenizer.to_hf().encode(text, add_special_tokens=False)
            self.assertEqual(tokenizer.tokenize(text), theirs.tokens)
            self.assertEqual(tokenizer.tokenize(END, special_tokens_as_text=True)[0], "<")
            for load, path in ((bpe.Tokenizer.from_file, "saved/tokenizer.json"), (bpe.Tokenizer.from_pretrained, "saved")):
                with load(self.home / path) as loaded:
                    self.assertEqual(loaded.encode(text), theirs.ids)

    def test_the_pieces_of_a_text_are_the_text(self) -> None:
        odd = ["a\nb", "\\x0a", "a\0b\x85\x1b[0m", "\u2028\u202e\u200b\ufeff\U0010ffff", "é\r\n" + END + "\t", "ab " * 10_000]
        with bpe.train(self.corpus, 400, special_tokens=[END, "é"], compat="huggingface") as tokenizer:
            self.assertEqual(tokenizer.pre_tokenize("a\nb"), ["a", "\n", "b"])
            splits = tokenizer.to_hf().pre_tokenizer.pre_tokenize_str
            for text in odd:
                self.assertEqual("".join(tokenizer.pre_tokenize(text)), text)
                if END not in text:
                    self.assertEqual(tokenizer.pre_tokenize(text), [text[start:end] for _, (start, end) in splits(text)])
            with self.assertRaises(UnicodeEncodeError):
                tokenizer.pre_tokenize("a\ud800")
            with self.assertRaisesRegex(TypeError, "text must be a string, found b'a'"):
                tokenizer.pre_tokenize(b"a")
        with bpe.train(self.corpus, 300, normalize="NFKC,lowercase", special_tokens=["<S>"]) as tokenizer:
            self.assertEqual(tokenizer.pre_tokenize("ﬁ A<S> Ⅸ\n"), ["fi", " a", "<S>", " ix", "\n"])

    def test_names_of_other_packages_are_refused_with_the_name_to_use(self) -> None:
        with self.assertRaisesRegex(bpe.BpeError, "org/name.*bpe_trainer downloads nothing\nhint: hf download org/name"):
            bpe.Tokenizer.from_pretrained("org/name")
        with self.assertRaisesRegex(bpe.BpeError, "gpt-4o.*bpe_trainer downloads nothing\nhint: pass a local directory"):
            bpe.Tokenizer.from_pretrained("gpt-4o")
        with bpe.train(self.corpus, 300) as tokenizer:
            plain = tokenizer("a b", padding=False, truncation=None, return_tensors=None, stride=0)
            self.assertEqual(plain, tokenizer("a b"))
            for name, value in (("padding", True), ("truncation", True), ("return_tensors", "pt"), ("text_pair", "b"), ("max_length", 0)):
                with self.assertRaisesRegex(bpe.BpeError, f"{name}={value!r} is not supported: save the tokenizer"):
                    tokenizer("a", **{name: value})
            with self.assertRaisesRegex(TypeError, "has no parameter 'paddding'"):
                tokenizer("a", paddding=True)
            with self.assertRaisesRegex(AttributeError, "'add_tokens': use extend.special_tokens=.*seed_tokens="):
                tokenizer.add_tokens(["x"])
            self.assertFalse(hasattr(tokenizer, "nonsense"))


class Numpy(Home):
    def test_ctrl_c_does_not_interrupt_the_import_of_numpy(self) -> None:
        """A module cannot be imported again after an interrupt. So a thread imports it, because
        signal handlers run in the main thread."""
        (self.home / "numpy.py").write_text("import threading\nprint(threading.current_thread() is threading.main_thread())")
        program = "import bpe_trainer as bpe\nbpe.Tokenizer.encode_batch(bpe.train('corpus.txt', 300), ['a'], as_array=True)"
        environment = {**os.environ, "PYTHONPATH": str(self.home)}
        run = subprocess.run([sys.executable, "-c", program], cwd=self.home, env=environment, capture_output=True, text=True)
        self.assertEqual(run.stdout, "False\n", run.stderr)
        self.assertIn("has no attribute 'frombuffer'", run.stderr)


class Messages(Home):
    def test_errors_of_a_training_name_its_parameters(self) -> None:
        for given, said in (
            ({"vocab_size": 100}, "vocab_size is 100, but must be at least"),
            ({"cache_limit": "1GB"}, "cache_limit needs cache\nhint: name a directory for the cache, e.g. cache=\"bpe-cache\"$"),
            ({"special_tokens": ["--cache"], "bos": "x"}, "bos=\"x\" is not a special token\nhint: add special_tokens=\\['x'\\]"),
            ({"languages_dev": {"en": "x"}}, "languages_dev needs languages\nhint: name the files to train on by their languages, e.g. languages={\"en\": \"corpus/en\"}"),
            ({"formats": "x"}, "formats: unknown value"),
            ({"tokenizer_class": ""}, "tokenizer_class=\"\" is not"),
        ):
            with self.assertRaisesRegex(bpe.BpeError, said):
                bpe.train(self.corpus, **{"vocab_size": 300, **given})
        with self.assertRaisesRegex(TypeError, "text_field is for files"):
            bpe.train(texts=["a"], vocab_size=300, text_field="x")

    def test_tokens_come_from_files_too_and_a_log_describes_the_run(self) -> None:
        (self.home / "special").write_text("<|a|>\n<|b|>\n")
        (self.home / "seeds").write_text("zebra\n")
        log = self.home / "log"
        with bpe.train(
            self.corpus, 300, special_tokens=["<|c|>"], special_tokens_file=self.home / "special",
            seed_tokens_file=self.home / "seeds", log_file=log, wait=True, progress=False,
        ) as tokenizer:
            self.assertEqual({*tokenizer.special_tokens}, {"<|a|>", "<|b|>", "<|c|>"})
            self.assertIn("zebra", tokenizer.get_vocab())
        self.assertIn('"success":true', log.read_text().splitlines()[-1])

    def test_the_last_call_of_each_stage_has_the_full_amount(self) -> None:
        calls: list = []
        bpe.train(self.corpus, 400, progress=lambda *call: calls.append(call)).close()
        last = {stage: (done, total) for stage, done, total in calls}
        self.assertEqual(list(last), ["counting", "merging"])
        self.assertEqual(last["merging"], (144, 144))
        self.assertEqual(*last["counting"])
        with contextlib.redirect_stderr(io.StringIO()) as said:
            bpe.train(self.corpus, 400, progress=True).close()
            show = _training._progress_function(True)
            for done in (3, 5, 5):
                show("measuring", done, 5)
        said = io.StringIO(said.getvalue().replace("measuring  5\n", "", 1))
        self.assertRegex(said.getvalue(), r"\Acounting +[\d,]+\nmerging +144\n\Z")


if __name__ == "__main__":
    unittest.main()
