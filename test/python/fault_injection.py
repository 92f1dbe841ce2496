"""`npm run suite python-faults -- [--seed N] [--rounds 1000] [--only ACTION]`. Each round disturbs a tokenizer, and
then compares its ids with those of HF."""

import argparse
import concurrent.futures
import copy
import faulthandler
import gc
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import bpe_trainer as bpe
from bpe_trainer import _executable
from bpe_trainer._executable import Run

END = "<|endoftext|>"
ALPHABET = "aaabbc  \n\tde'stß你好й😀1\u0301"
#: Only a call that hangs takes this long.
HANG_SECONDS = 120
#: The maximum number of rounds in one process. A failure ends only its own process.
ROUNDS_PER_PROCESS = 20
LANES = 2


class Lost(Exception):
    """Raised for every violation: a wrong id, a lost training, a file left over."""


def must(holds, what):
    if not holds:
        raise Lost(what)


def made_text(source, size):
    return "".join(source.choices(ALPHABET, k=size)) + source.choice(("", END))


class Round:
    """A tokenizer trained in memory, the reference for its ids, and the ways to disturb it."""

    def __init__(self, seed, tokenizer, reference, home, corpus):
        self.random = random.Random(seed)
        self.tokenizer, self.reference, self.home, self.corpus = tokenizer, reference, home, corpus

    def large(self, size):
        """Returns a text of about `size` characters, and its ids. The text repeats a small document."""
        text = made_text(self.random, 500) + END
        return text * (size // 500), self.reference([text])[0] * (size // 500)

    def check(self, tokenizer=None, source=None):
        """Encodes random texts by one of several calls, and compares the ids with the reference."""
        tokenizer, source = tokenizer or self.tokenizer, source or self.random
        texts = [made_text(source, source.choice((0, 1, 20, 200, 3000))) for _ in range(source.randrange(1, 6))]
        right = self.reference(texts)
        call = source.randrange(7)
        if call == 0:
            ids = [tokenizer.encode(text) for text in texts]
        elif call == 1:
            ids = tokenizer.encode_batch(texts)
        elif call == 2:
            ids, right = list(tokenizer.encode_iterable(texts)), sum(right, [])
        elif call == 3:
            ids = tokenizer.encode_batch(texts)
            must(tokenizer.decode_batch(right) == texts, "wrong text")
        elif call == 4:
            ids = tokenizer(texts, return_offsets_mapping=True)["input_ids"]
            without = [text.replace(END, "") for text in texts]
            must(tokenizer.decode_batch(ids, skip_special_tokens=True) == without, "wrong text without special tokens")
        elif call == 5:
            ids = []
            for text in texts:
                found, spans = tokenizer.encode_with_offsets(text, unit="bytes")
                parts = [text.encode()[start:end] for start, end in spans]
                must([tokenizer.token_bytes(id) for id in found] == parts, f"wrong offsets: {spans}")
                ids.append(found)
        else:
            vocab = tokenizer.get_vocab()
            must(len(vocab) == len(tokenizer) == 320, f"{tokenizer!r} has a vocabulary of {len(vocab)}")
            ids = [[tokenizer.token_to_id(tokenizer.id_to_token(id)) for id in each] for each in right]
        must(ids == right, f"wrong ids: {ids} instead of {right}")

    # The disturbances. The tokenizer must work after each of them.

    def reenter(self):
        """A signal handler encodes in the middle of a call."""
        text, right = self.large(300_000)
        done = []

        def handle(*_):
            self.check()
            done.append(1)

        before = signal.signal(signal.SIGALRM, handle)
        try:
            while not done:
                signal.setitimer(signal.ITIMER_REAL, self.random.random() * 0.02 + 1e-6)
                must(self.tokenizer.encode_batch([text] * 3, threads=self.random.randrange(1, 4)) == [right] * 3, "wrong ids")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def interrupt(self):
        texts = [made_text(self.random, 2000) for _ in range(100)]
        delay = self.random.random() * self.random.choice((0.001, 0.01, 0.1))
        ways = (
            self.tokenizer.encode_batch,
            lambda texts: list(self.tokenizer.encode_iterable(texts)),
            lambda texts: self.tokenizer.encode("".join(texts) * 20, threads=3),
            lambda texts: self.tokenizer.encode_batch(texts * 10, as_array=True),
            lambda texts: self.tokenizer.encode_with_offsets("".join(texts)),
        )
        call = self.random.choice(ways)
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                for _ in range(5):
                    call(texts)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            pass

    def interrupt_training(self):
        delay = self.random.random() * 0.3
        output = self.home / "interrupted"
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                bpe.train(str(self.corpus), 300, special_tokens=[END], output=output, workers=1).close()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            pass
        # The output exists completely or not at all.
        if output.exists():
            with bpe.Tokenizer.load(output) as loaded:
                must(loaded.vocab_size == 300, "half a tokenizer")
            shutil.rmtree(output)
        left = sorted(path.name for path in self.home.iterdir() if path.name not in ("corpus.txt", "saved"))
        must(not left, f"left over: {left}")

    def interrupt_start(self):
        """Ctrl-C at a random moment while a process starts, in a program with a second thread."""
        output = self.home / "started"

        def explain():
            run = Run(["explain", "--only-pieces", "--", self.tokenizer._path, "-"], takes_input=True, answers=True)
            try:
                run.start()
                run.stop()
                run.close()
            except BaseException:
                run.abandon()
                raise

        def encode():
            with pickle.loads(pickle.dumps(self.tokenizer)) as other:
                other.encode("x")

        def train():
            bpe.train(texts=["low lower"], vocab_size=257, output=output, workers=1).close()

        # The ways to start a process, each with the number of seconds within which Ctrl-C comes.
        starts = (
            (explain, 0.003),
            (encode, 0.05),
            (train, 0.1),
        )
        start, seconds = self.random.choice(starts)
        while len(_executable._endings) > 1:
            time.sleep(0.001)  # Until a thread has ended all tokenizers but this round's.
        before = held()
        end = threading.Event()
        other = threading.Thread(target=end.wait)
        other.start()
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, self.random.random() * seconds + 1e-6)
                start()
                end.wait(seconds)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            pass
        end.set()
        other.join()
        # Removes the output only here, where Ctrl-C can no longer interrupt that.
        shutil.rmtree(output, ignore_errors=True)
        deadline = time.monotonic() + 10
        while held() != before and time.monotonic() < deadline:
            time.sleep(0.001)
        must(held() == before, f"was {before}, is {held()}")

    def fork(self):
        """Forks children that each use the tokenizer in some way, while this process continues
        to use it."""
        children = [self.forked() for _ in range(self.random.randrange(1, 4))]
        for _ in range(3):
            self.check()
        for child in children:
            ended(child)

    def fork_among_threads(self):
        """Forks while other threads are in calls."""
        sources = [random.Random(self.random.random()) for _ in range(3)]
        wrong = []

        def work(source):
            try:
                for _ in range(10):
                    self.check(source=source)
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(source,)) for source in sources]
        for thread in threads:
            thread.start()
        children = [self.forked() for _ in range(3)]
        for thread in threads:
            thread.join()
        for child in children:
            ended(child)
        if wrong:
            raise wrong[0]

    def forked(self, tokenizer=None):
        tokenizer = tokenizer or self.tokenizer
        source = random.Random(self.random.random())
        sys.stdout.flush()
        pid = os.fork()
        if pid != 0:
            return pid
        # Without a handler, the alarm kills a child that hangs.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(HANG_SECONDS)
        try:
            for _ in range(source.randrange(1, 4)):
                self.check(tokenizer, source)
            if source.random() < 0.2:
                ended(self.forked(tokenizer))
                self.check(tokenizer, source)
        except BaseException as error:
            sys.stderr.write(f"in a child: {error!r}\n")
            os._exit(3)
        way = source.randrange(3)
        if way == 0:
            os._exit(0)
        if way == 1:
            tokenizer.close()
            os._exit(0)
        # Ends like an interpreter, which runs all exit handlers.
        import atexit

        del self.tokenizer, tokenizer
        gc.collect()
        atexit._run_exitfuncs()
        os._exit(0)

    def copies(self):
        copied = self.random.choice((copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))))(self.tokenizer)
        must(pickle.dumps(copied) == pickle.dumps(self.tokenizer), "a copy is pickled otherwise")
        self.check(copied)
        if self.random.random() < 0.5:
            copied.close()
            must(self.tokenizer.vocab_size == 320, "closed with its copy")

    def save(self):
        saved = self.home / "saved"
        delay = self.random.random() * self.random.choice((0, 0.05))
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                self.tokenizer.save(saved)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            pass
        if saved.exists():
            with bpe.Tokenizer.load(saved) as loaded:
                self.check(loaded)

    def close_within_a_call(self):
        other = copy.copy(self.tokenizer)
        text, right = self.large(200_000)
        wrong = []

        def work():
            try:
                while True:
                    if other.encode(text) != right:
                        wrong.append("wrong ids")
            except bpe.BpeError as error:
                if "closed" not in str(error):
                    wrong.append(repr(error))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(self.random.random() * 0.03)
        other.close()
        for thread in threads:
            thread.join()
        must(not wrong, wrong)

    def train_with_workers(self):
        """The source of the texts forks workers that outlive it. These workers must not keep the pipe open."""
        children = []
        source = random.Random(self.random.random())

        def texts():
            for i in range(200):
                if i in (50, 100):
                    pid = os.fork()
                    if pid == 0:
                        signal.signal(signal.SIGALRM, signal.SIG_DFL)
                        signal.alarm(HANG_SECONDS)
                        while True:
                            time.sleep(1)
                    children.append(pid)
                yield made_text(source, 100)

        try:
            with bpe.train(texts=texts(), vocab_size=280, special_tokens=[END], workers=1) as trained:
                must(trained.vocab_size == 280, "trained otherwise")
                self.check()
        finally:
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)

    def actions(self):
        return {name: getattr(self, name) for name in ACTIONS}


ACTIONS = (
    *("reenter", "interrupt", "interrupt_training", "interrupt_start"),
    *("fork", "fork_among_threads", "copies", "save", "close_within_a_call", "train_with_workers"),
)


def held():
    """Returns the children of this process, including ended ones, and the targets of its
    descriptors."""
    children = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid():
            children.append((int(name), state == "Z"))
    descriptors = []
    for name in os.listdir("/proc/self/fd"):
        try:
            descriptors.append((name, os.readlink(f"/proc/self/fd/{name}")))
        except OSError:
            pass  # The descriptor that listdir used.
    return sorted(children), sorted(descriptors)


def ended(pid):
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    must(code != -signal.SIGALRM, "a child hung")
    must(code == 0, f"a child ended with {code}")


def do_rounds(seed, first, count, only):
    """Runs some of the rounds in this process, and prints a tally."""
    faulthandler.dump_traceback_later(HANG_SECONDS - 20, exit=False)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    tally = dict.fromkeys(ACTIONS, 0)

    def unraisable(raised):
        print(f"LOST: {raised.err_msg or 'ignored'} {raised.object!r}: {raised.exc_value!r}", flush=True)
        tally["lost"] = tally.get("lost", 0) + 1

    sys.unraisablehook = unraisable
    home = Path(tempfile.mkdtemp(prefix="bpe-faults-"))
    try:
        source = random.Random(f"{seed} {first}")
        corpus = home / "corpus.txt"
        corpus.write_text("".join(made_text(source, 200) for _ in range(300)), "utf-8")
        tokenizer = bpe.train(corpus, 320, special_tokens=[END], workers=1)
        theirs = tokenizer.to_hf()

        def reference(texts):
            return [encoding.ids for encoding in theirs.encode_batch(texts)]

        for n in range(first, first + count):
            faulthandler.dump_traceback_later(HANG_SECONDS - 20, exit=False)
            one = Round(f"{seed} {n}", tokenizer, reference, home, corpus)
            names = [only] if only else one.random.choices(ACTIONS, k=one.random.randrange(1, 5))
            try:
                for name in names:
                    one.actions()[name]()
                    tally[name] += 1
                    if one.random.random() < 0.7:
                        one.check()
                one.check()
                must(os.path.isfile(os.path.join(tokenizer._path, "tokenizer.json")), "the training is lost")
            except Exception as error:
                print(f"LOST: round {n} of seed {seed} ({', '.join(names)}): {error!r}", flush=True)
                tally["lost"] = tally.get("lost", 0) + 1
                if not isinstance(error, Lost):
                    import traceback

                    traceback.print_exc()
        path = tokenizer._path
        tokenizer.close()
        deadline = time.monotonic() + 10
        while os.path.exists(path) and time.monotonic() < deadline:
            time.sleep(0.001)
        if os.path.exists(path):
            print("LOST: a directory is left over")
            tally["lost"] = tally.get("lost", 0) + 1
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print("TALLY", *(f"{name}={number}" for name, number in tally.items()), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default=str(int(time.time()) % 1_000_000))
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--only", choices=ACTIONS)
    parser.add_argument("--first", type=int)
    asked = parser.parse_args()
    if asked.first is not None:
        do_rounds(asked.seed, asked.first, asked.rounds, asked.only)
        return 0
    print(f"fault injection, Python module, seed {asked.seed}", flush=True)
    start = time.monotonic()
    total = {"lost": 0, "hung": 0}

    def lane(first):
        count = min(ROUNDS_PER_PROCESS, asked.rounds - first)
        command = [sys.executable, __file__, "--seed", asked.seed, "--first", str(first), "--rounds", str(count)]
        command += ["--only", asked.only] if asked.only else []
        # A separate temporary directory, in which nothing may be left.
        with tempfile.TemporaryDirectory(prefix="bpe-faults-") as temporary:
            environment = {**os.environ, "TMPDIR": temporary, "TOKENIZERS_PARALLELISM": "false"}
            run = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
            try:
                said, _ = run.communicate(timeout=HANG_SECONDS * 5)
            except subprocess.TimeoutExpired:
                run.kill()
                said, _ = run.communicate()
                total["hung"] += 1
                print(f"HUNG: rounds {first} to {first + count - 1}")
            left = os.listdir(temporary)
            if left and run.returncode == 0:
                total["lost"] += 1
                print(f"LOST: left in the temporary directory after rounds {first} and following: {left}")
        if run.returncode != 0:
            total["lost"] += 1
            print(f"LOST: rounds {first} to {first + count - 1} ended with {run.returncode}")
        for line in said.splitlines():
            if not line.startswith("TALLY"):
                print(line, flush=True)
                continue
            for item in line.split()[1:]:
                name, number = item.split("=")
                total[name] = total.get(name, 0) + int(number)

    with concurrent.futures.ThreadPoolExecutor(LANES) as lanes:
        list(lanes.map(lane, range(0, asked.rounds, ROUNDS_PER_PROCESS)))
    for name in ACTIONS:
        print(f"{name.replace('_', ' '):24}{total.get(name, 0):6}")
    seconds = round(time.monotonic() - start)
    print(f"{asked.rounds} rounds in {seconds} s, {total['lost']} lost, {total['hung']} hung")
    return 1 if total["lost"] or total["hung"] else 0


if __name__ == "__main__":
    sys.exit(main())
