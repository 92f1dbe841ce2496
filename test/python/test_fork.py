"""Tests tokenizers in forks and threads, during signals, and after pickling; also odd arguments of their methods."""

import atexit
import copy
import gc
import itertools
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import bpe_trainer as bpe
from test_bpe import END, Home, made_texts

TEXTS = made_texts(60)


def encoded(given):
    """Encodes with a pickled tokenizer, like a worker of a pool."""
    tokenizer, text = given
    return tokenizer.encode(text)


def serve(tokenizer, indices, answers) -> None:
    """Encodes one text after the other until no index is left, like a worker of a data loader."""
    for i in iter(indices.get, None):
        answers.put((i, tokenizer.encode(TEXTS[i])))


def run(script: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=90)


class Made(Home):
    def setUp(self) -> None:
        super().setUp()
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        self.tokenizer = bpe.train(self.corpus, 320, special_tokens=[END])
        theirs = self.tokenizer.to_hf()
        self.right = [theirs.encode(text).ids for text in TEXTS]

    def tearDown(self) -> None:
        self.tokenizer.close()
        super().tearDown()

    def check(self) -> None:
        self.assertEqual([self.tokenizer.encode(text) for text in TEXTS], self.right)

    def in_child(self, work) -> int:
        """Runs `work` in a forked child, and returns its exit code: 1 after an error."""
        pid = os.fork()
        if pid == 0:
            signal.alarm(60)
            self.kept._finalizer.detach()  # The parent removes the corpus.
            code = 1
            try:
                work()
                code = 0
            except BaseException as error:
                sys.stderr.write(f"in a child: {error!r}\n")
            finally:
                atexit._run_exitfuncs()
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Forks(Made):
    def test_parent_and_child_encode_at_the_same_time(self) -> None:
        for is_used in (False, True):
            if is_used:
                self.check()
            read, write = os.pipe()

            def work() -> None:
                os.write(write, b"x")
                for _ in range(5):
                    self.check()

            thread = threading.Thread(target=lambda: codes.append(self.in_child(work)))
            codes: list = []
            thread.start()
            os.read(read, 1)
            while thread.is_alive():
                self.check()
            thread.join()
            os.close(read)
            os.close(write)
            self.assertEqual(codes, [0])

    def test_a_fork_while_other_threads_are_in_calls(self) -> None:
        stop = threading.Event()
        wrong = []

        def work() -> None:
            while not stop.is_set():
                for text, ids in zip(TEXTS, self.right):
                    if self.tokenizer.encode(text) != ids:
                        wrong.append(text)
                if self.tokenizer.encode_batch(TEXTS * 300, threads=2) != self.right * 300:
                    wrong.append("a batch")

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()

        def threads_too() -> None:
            inner = [threading.Thread(target=self.check) for _ in range(3)]
            for each in inner:
                each.start()
            for each in inner:
                each.join(30)
                self.assertFalse(each.is_alive())
            self.check()
            self.assertEqual(self.tokenizer.encode_batch(TEXTS * 300, threads=2), self.right * 300)

        codes = [self.in_child(threads_too) for _ in range(8)]
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual((codes, wrong), ([0] * 8, []))

    def test_a_child_that_ends_or_closes_does_not_affect_its_parent(self) -> None:
        path = self.tokenizer._path

        def drops() -> None:
            self.tokenizer = None
            gc.collect()

        for work in (lambda: None, self.tokenizer.close, drops, self.check, lambda: self.in_child(self.check)):
            self.assertEqual(self.in_child(work), 0)
            self.assertTrue(os.path.isfile(os.path.join(path, "tokenizer.json")))
            self.check()

    def test_pools_of_every_kind(self) -> None:
        for is_used in (False, True):
            if is_used:
                self.check()
            for method in ("fork", "spawn", "forkserver"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    given = [(self.tokenizer, text) for text in TEXTS[:20]]
                    self.assertEqual(pool.map(encoded, given, chunksize=5), self.right[:20], method)
                    self.check()

    def test_workers_of_a_data_loader(self) -> None:
        self.check()
        for method in ("fork", "spawn"):
            context = multiprocessing.get_context(method)
            indices, answers = context.Queue(), context.Queue()
            workers = [context.Process(target=serve, args=(self.tokenizer, indices, answers)) for _ in range(2)]
            for worker in workers:
                worker.start()
            for i in (*range(len(TEXTS)), None, None):
                indices.put(i)
                if i is not None and i % 5 == 0:
                    self.assertEqual(self.tokenizer.encode(TEXTS[i]), self.right[i])
            got = dict(answers.get(timeout=60) for _ in TEXTS)
            for worker in workers:
                worker.join(60)
                self.assertEqual(worker.exitcode, 0)
                worker.close()
            self.assertEqual([got[i] for i in range(len(TEXTS))], self.right)

    def test_a_generator_that_forks_workers_trains(self) -> None:
        children = []

        def texts():
            for i, text in enumerate(self.texts):
                if i % 50 == 0:
                    children.append(os.fork())
                    if children[-1] == 0:
                        time.sleep(600)
                        os._exit(0)
                yield text

        try:
            trained = bpe.train(texts(), 300, special_tokens=[END])
            with trained, bpe.train(texts=self.texts, vocab_size=300, special_tokens=[END]) as alone:
                self.assertEqual(trained.to_hf().to_str(), alone.to_hf().to_str())
        finally:
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)

    def test_a_child_of_the_generator_does_not_end_the_training_and_cannot_continue_it(self) -> None:
        script = (
            "import bpe_trainer as bpe, os, sys\n"
            "def texts():\n"
            "    for i in range(3000):\n"
            "        if i == 1000 and (child := os.fork()) == 0:\n"
            "            if {leaves}: sys.exit(0)\n"
            "        yield f'word{{i}} and some more'\n"
            "    if child: os.waitpid(child, 0)\n"
            "try:\n"
            "    tokenizer = bpe.train(texts=texts(), vocab_size=300)\n"
            "    print('trained', tokenizer.vocab_size, flush=True)\n"
            "except bpe.BpeError as error:\n"
            "    print('refused', 'parent process' in str(error), flush=True)\n"
        )
        for leaves, said in ((True, ["trained 300"]), (False, ["refused True", "trained 300"])):
            done = run(script.format(leaves=leaves))
            self.assertEqual((sorted(done.stdout.splitlines()), done.stderr), (said, ""))

    def test_datasets_map_with_two_processes_and_its_cache(self) -> None:
        script = (
            "import datasets, sys\n"
            "import bpe_trainer as bpe\n"
            "datasets.disable_progress_bars()\n"
            "sys.path.insert(0, {here!r})\n"
            "from test_bpe import made_texts\n"
            "texts = made_texts(60)\n"
            "tokenizer = bpe.Tokenizer.load({path!r})\n"
            "rows = datasets.load_dataset('json', data_files={data!r}, split='train', cache_dir={cache!r})\n"
            "def add(batch): return {{'ids': tokenizer.encode_batch(batch['text'])}}\n"
            "tokenizer.encode('used before')\n"
            "made = rows.map(add, batched=True, num_proc=2)\n"
            "assert made['ids'] == tokenizer.encode_batch(rows['text'])\n"
            "print(*sorted(each['filename'] for each in made.cache_files))\n"
        )
        import json

        data = self.home / "rows.jsonl"
        data.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), "utf-8")
        here = str(Path(__file__).parent)
        saved = self.home / "saved"
        self.tokenizer.save(saved)

        def said() -> str:
            done = run(script.format(here=here, path=str(saved), data=str(data), cache=str(self.home / "cache")))
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        first = said()
        self.assertEqual(said(), first)
        # Another tokenizer at the same path has another cache entry.
        bpe.train(self.corpus, 300, special_tokens=[END], output=saved).close()
        self.assertNotEqual(said(), first)


class Pickles(Made):
    def copies(self, tokenizer):
        return (copy.copy(tokenizer), copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer)))

    def test_a_copy_gives_the_same_ids_and_is_independent(self) -> None:
        before = pickle.dumps(self.tokenizer)
        self.check()
        self.assertEqual(pickle.dumps(self.tokenizer), before)
        for copied in self.copies(self.tokenizer):
            self.assertEqual(copied.encode_batch(TEXTS), self.right)
            self.assertEqual(copied.special_tokens, {END: 319})
            self.assertEqual(pickle.dumps(copied), before)
            self.assertEqual(copied.encode_file(self.corpus).tolist(), self.tokenizer.encode_file(self.corpus).tolist())
            self.assertEqual(copied.to_hf().to_str(), self.tokenizer.to_hf().to_str())
            self.assertEqual(copied.to_tiktoken().encode(TEXTS[1], allowed_special="all"), self.right[1])
            copied.close()
        copies = self.copies(self.tokenizer)
        self.tokenizer.close()
        for n, copied in enumerate(copies):
            self.assertEqual(copied.encode_batch(TEXTS), self.right)
            copied.save(self.home / f"saved{n}")
            with bpe.Tokenizer.load(self.home / f"saved{n}") as loaded:
                self.assertEqual(loaded.encode_batch(TEXTS), self.right)
            copied.close()
        with self.assertRaisesRegex(bpe.BpeError, "closed"):
            pickle.dumps(self.tokenizer)

    def test_equal_trainings_have_equal_pickles_and_others_do_not(self) -> None:
        with bpe.train(self.corpus, 320, special_tokens=[END]) as again, bpe.train(self.corpus, 319) as other:
            self.assertEqual(pickle.dumps(again), pickle.dumps(self.tokenizer))
            self.assertNotEqual(pickle.dumps(other), pickle.dumps(self.tokenizer))

    def test_a_pickle_of_a_path_refuses_another_tokenizer_at_the_path(self) -> None:
        saved = self.home / "saved"
        self.tokenizer.save(saved)
        with bpe.Tokenizer.load(saved) as loaded:
            pickled = pickle.dumps(loaded)
            self.assertLess(len(pickled), 1000)
            shutil.copytree(saved, self.home / "twin")
            with pickle.loads(pickled) as copied:
                self.assertEqual(copied.encode_batch(TEXTS), self.right)
        bpe.train(self.corpus, 300, special_tokens=[END], output=saved).close()
        with pickle.loads(pickled) as copied, self.assertRaisesRegex(bpe.BpeError, "has been replaced by another tokenizer"):
            copied.encode("x")
        with bpe.Tokenizer.load(saved) as loaded:
            self.assertNotEqual(pickle.dumps(loaded), pickled)

    def test_options_are_pickled(self) -> None:
        self.tokenizer.save(self.home / "saved")
        path = self.home / "saved" / "vocab.json"
        with bpe.Tokenizer.load(path, special_tokens={END: 319, "<|x|>": 400}) as loaded:
            with pickle.loads(pickle.dumps(loaded)) as copied:
                self.assertEqual(copied.special_tokens, {END: 319, "<|x|>": 400})
                self.assertEqual(copied.encode("<|x|>"), [400])


class Replaced(Made):
    """A path may later have another tokenizer. Its ids must not be returned as those of the first one."""

    def test_another_tokenizer_at_the_path_is_refused_wherever_it_would_be_read(self) -> None:
        saved = self.home / "saved"
        loaded = bpe.train(self.corpus, 320, special_tokens=[END], output=saved)
        unused = copy.copy(loaded)
        self.assertEqual(loaded.encode_batch(TEXTS), self.right)
        self.assertEqual(loaded.encode_file(self.corpus).tolist(), self.tokenizer.encode_file(self.corpus).tolist())
        bpe.train(self.corpus, 300, special_tokens=[END], output=saved).close()
        calls = (lambda each: each.encode_file(self.corpus), lambda each: each.save(self.home / "x"))
        refused = self.assertRaisesRegex(bpe.BpeError, "has been replaced by another tokenizer")
        for call in (*calls, bpe.Tokenizer.to_hf, bpe.Tokenizer.to_tiktoken):
            for each in (unused, loaded):
                with refused:
                    call(each)
        with refused:
            unused.encode("x")
        # A loaded tokenizer keeps working.
        self.assertEqual(loaded.encode_batch(TEXTS), self.right)
        self.assertFalse((self.home / "x").exists())
        # Then the same tokenizer is trained again at this path. The loaded one must still give the same ids.
        bpe.train(self.corpus, 320, special_tokens=[END], output=saved).close()
        self.assertEqual(loaded.encode_batch(TEXTS), self.right)
        self.assertEqual(loaded.encode_file(self.corpus).tolist(), self.tokenizer.encode_file(self.corpus).tolist())
        loaded.close()
        unused.close()

    def test_a_relative_path_stays_valid_after_chdir(self) -> None:
        self.tokenizer.save(self.home / "saved")
        before = os.getcwd()
        try:
            os.chdir(self.home)
            with bpe.Tokenizer.load("saved") as loaded, bpe.train("corpus.txt", 320, special_tokens=[END], output="out") as trained:
                os.chdir("/")
                for each in (loaded, trained):
                    self.assertEqual(each.encode_batch(TEXTS), self.right)
                    os.chdir(self.home)
                    each.save("relative")
                    os.chdir("/")
            self.assertTrue((self.home / "relative" / "tokenizer.json").is_file())
        finally:
            os.chdir(before)


class Interrupts(Made):
    def setUp(self) -> None:
        super().setUp()
        #: Two long texts: one with many special tokens, and one without any.
        document = END.join([*TEXTS, ""])
        self.long = document * 1500, document.replace(END, " ") * 1500

    def interrupted(self, handle, call) -> object:
        """Returns the result of a call during which a signal arrives, whose handler is `handle`."""
        before = signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        try:
            return call()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def test_ctrl_c_interrupts_every_kind_of_long_call(self) -> None:
        calls = (
            lambda text: self.tokenizer.encode(text),
            lambda text: self.tokenizer.encode(text, threads=1),
            lambda text: self.tokenizer.encode_batch([text] * 3, threads=3, as_array=True),
            lambda text: self.tokenizer.encode_batch(text.splitlines(True)),
            lambda text: self.tokenizer.encode_with_offsets(text),
            lambda text: self.tokenizer.count(text),
        )
        for call in calls:
            for text in self.long:
                done = []
                with self.assertRaises(KeyboardInterrupt):
                    self.interrupted(signal.default_int_handler, lambda: [call(text), done.append(1)])
                self.assertEqual(done, [])
        self.check()

    def test_a_handler_may_encode_and_a_finalizer_too(self) -> None:
        inner = []
        for text in self.long:
            right = self.tokenizer.encode(text)
            for threads in (1, 2):
                handle = lambda *_: inner.append([self.tokenizer.encode(each) for each in TEXTS])
                self.assertEqual(self.interrupted(handle, lambda: self.tokenizer.encode(text, threads=threads)), right)

        class Dropped:
            def __del__(dropped) -> None:
                inner.append([self.tokenizer.encode(each) for each in TEXTS])

        before = gc.get_threshold()
        gc.set_threshold(1)
        try:
            for text, ids in zip(TEXTS, self.right):
                dropped = Dropped()
                dropped.own = dropped
                del dropped
                self.assertEqual(self.tokenizer.encode(text), ids)
                self.assertEqual(self.tokenizer.encode_with_offsets(text)[0], ids)
        finally:
            gc.set_threshold(*before)
        self.assertGreater(len(inner), len(TEXTS))
        self.assertTrue(all(each == self.right for each in inner))

    def test_a_tokenizer_has_no_child_process(self) -> None:
        self.tokenizer.save(self.home / "saved")
        script = (
            "import bpe_trainer as bpe, os\n"
            f"tokenizer = bpe.Tokenizer.load({str(self.home / 'saved')!r})\n"
            "print(tokenizer.encode_batch(['a b'] * 3, threads=2) == [tokenizer.encode('a b')] * 3, flush=True)\n"
            "os.waitpid(-1, os.WNOHANG)\n"
        )
        done = run(script)
        self.assertEqual((done.stdout, "ChildProcessError" in done.stderr), ("True\n", True), done.stderr)

    def test_closed_in_another_thread_a_call_is_an_error_and_no_other_file_is_read(self) -> None:
        text = END.join([*TEXTS, ""]) * 1000
        right = self.tokenizer.to_hf().encode(END.join([*TEXTS, ""])).ids * 1000
        for n in range(5):
            copied = copy.copy(self.tokenizer)
            wrong = []

            def work() -> None:
                try:
                    while True:
                        if copied.encode(text) != right:
                            wrong.append("ids")
                except bpe.BpeError as error:
                    if "closed" not in str(error):
                        wrong.append(error)

            threads = [threading.Thread(target=work) for _ in range(2)]
            for thread in threads:
                thread.start()
            time.sleep(0.02 * n)
            copied.close()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])


class Calls(Made):
    def test_wrong_arguments_are_named(self) -> None:
        one = self.tokenizer
        for words, calls in {
            "texts is a str: give a list of strings": [lambda: one.encode_batch("text")],
            "texts is a dict": [lambda: one.encode_batch({"text": ["a"]})],
            "text is a dict": [lambda: one({"text": ["a"]})],
            "texts is a bytes": [lambda: one.encode_iterable(b"text")],
            "a text must be a string, found list": [lambda: one.encode(["a"]), lambda: one.count(["a"])],
            "ids is a str": [lambda: one.decode("ab")],
            "ids is a bytes": [lambda: one.decode(b"ab")],
            "threads must be a whole number, found '2'": [lambda: one.encode("a", threads="2")],
            "special_tokens must be a dict": [lambda: bpe.Tokenizer.load(self.home, special_tokens=[END])],
        }.items():
            for call in calls:
                with self.assertRaisesRegex(TypeError, words):
                    call()
        for call in (one.encode, lambda text, threads: one.encode_batch([text], threads=threads)):
            with self.assertRaisesRegex(ValueError, "threads is 0, and must be 1 or more"):
                call("a", threads=0)
        with self.assertRaisesRegex(ValueError, "limit is -1"):
            one.count("a", -1)

    def test_texts_of_every_kind_are_taken(self) -> None:
        class Text(str):
            def __len__(self) -> int:
                return 7

        for given in (iter(TEXTS), (text for text in TEXTS), tuple(TEXTS), [Text(text) for text in TEXTS]):
            self.assertEqual(self.tokenizer.encode_batch(given), self.right)
        ids, offsets = self.tokenizer.encode_batch(iter(TEXTS), as_array=True)
        self.assertEqual((ids.tolist(), offsets.tolist()[1:]), (sum(self.right, []), list(itertools.accumulate(map(len, self.right)))))
        self.assertEqual(self.tokenizer(iter(TEXTS))["input_ids"], self.right)
        for as_text in (1, [0]):
            self.assertEqual(self.tokenizer.encode(END, special_tokens_as_text=as_text), self.tokenizer.encode(END, special_tokens_as_text=True))
        self.assertEqual((self.tokenizer.encode_batch([]), self.tokenizer.count("a b", 10**30)), ([], self.tokenizer.count("a b")))
        self.assertEqual(self.tokenizer.decode(self.tokenizer.encode("a\0b\0")), "a\0b\0")

    def test_a_list_that_changes_while_it_is_decoded(self) -> None:
        ids: list = [97] * 8

        class Changing:
            def __index__(self) -> int:
                ids.clear() if self.clears else ids.extend([97] * (len(ids) < 1000))
                return 98

        for clears, right in ((True, "aab"), (False, "aabaaaaa")):
            Changing.clears = clears
            ids[:] = [97] * 8
            ids[2] = Changing()
            self.assertTrue(self.tokenizer.decode(ids).startswith(right))

    def test_a_text_is_taken_from_the_iterator_when_its_ids_are_requested(self) -> None:
        taken = []
        ids = self.tokenizer.encode_iterable(taken.append(text) or text for text in TEXTS)
        self.assertEqual(([next(ids) for _ in self.right[0]], len(taken)), (self.right[0], 1))
        self.assertEqual((list(ids), len(taken)), (sum(self.right[1:], []), len(TEXTS)))

    def test_texts_before_an_error_of_the_source_are_encoded(self) -> None:
        def failing():
            yield from TEXTS
            raise RuntimeError("the source broke")

        for given, raised in ((failing(), RuntimeError), (itertools.chain(TEXTS, [1]), TypeError)):
            got = []
            with self.assertRaises(raised):
                for id in self.tokenizer.encode_iterable(given):
                    got.append(id)
            self.assertEqual(got, sum(self.right, []))

    def test_save_overwrites_no_file_of_others(self) -> None:
        theirs = self.home / "theirs"
        theirs.mkdir()
        (theirs / "tokenizer.json").write_text("theirs")
        (self.home / "link").symlink_to(theirs)
        (theirs / "inner").symlink_to(self.corpus)
        for place in (theirs, self.home / "link", self.corpus):
            with self.assertRaisesRegex(bpe.BpeError, "is not replaced(.|\n)*\nhint: "):
                self.tokenizer.save(place)
        self.assertEqual((theirs / "tokenizer.json").read_text(), "theirs")
        saved = self.home / "saved"
        with bpe.train(self.corpus, 320, special_tokens=[END], model_card=True) as other:
            other.save(saved)
        self.assertTrue((saved / "README.md").exists())
        self.tokenizer.save(saved)
        self.assertFalse((saved / "README.md").exists())
        self.assertEqual([path.name for path in self.home.iterdir() if path.name.startswith(".")], [])
