"""With little memory, calls return right ids or raise MemoryError. Nothing hangs or crashes."""

import os
import resource
import select
import signal
import sys
import tempfile
import time
import unittest
from _thread import allocate_lock, start_new_thread
from unittest import mock

import bpe_trainer as bpe
from bpe_trainer import _executable
from bpe_trainer._executable import Home
from test_bpe import made_texts

#: Only a call that hangs takes this long.
HANGS_SECONDS = 60
TEXT = " ".join(made_texts(300)) * 120


def address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def keep_stacks(count: int) -> None:
    """Leaves stacks of ended threads for later threads to reuse."""
    locks = [allocate_lock() for _ in range(count)]
    for lock in locks:
        lock.acquire()
        start_new_thread(lambda held: (time.sleep(0.01), held.release()), (lock,))
    for lock in locks:
        lock.acquire()


def said_with(more_bytes: int, stacks: int, work) -> str:
    """Runs `work` in a child that has `more_bytes` more address space than it uses now."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Python prints that threads had no memory.
        keep_stacks(stacks)
        resource.setrlimit(resource.RLIMIT_AS, (address_space() + more_bytes, resource.RLIM_INFINITY))
        try:
            said = "right" if work() else "wrong"
        except BaseException as error:
            said = type(error).__name__
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        ready, _, _ = select.select([pipe], [], [], HANGS_SECONDS)
        said = pipe.read().decode() or "died" if ready else "hangs"
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return said


@unittest.skipUnless(sys.platform == "linux", "reads /proc")
class Limited(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.tokenizer = cls.enterClassContext(bpe.train(texts=made_texts(200), vocab_size=400))
        cls.ids = cls.tokenizer.encode(TEXT, threads=1)
        assert len(TEXT) > 1 << 20

    def check(self, work) -> None:
        said = {
            (stacks, more): said_with(more, stacks, work)
            for stacks in (0, 1, 3)
            for more in (0, 1 << 14, 1 << 17, 10**6, 1 << 23, 1 << 25)
        }
        wrong = {case: what for case, what in said.items() if what not in ("right", "MemoryError")}
        self.assertEqual(wrong, {})

    def test_work_of_another_thread(self) -> None:
        def work() -> bool:
            done = []
            _executable._without_interrupts(lambda: done.append(1))
            return done == [1]

        self.check(work)

    def test_encoding_by_several_threads(self) -> None:
        fresh = bpe.Tokenizer.load(self.tokenizer._path)
        self.check(lambda: fresh.encode(TEXT, threads=4) == self.ids)

    def test_a_batch(self) -> None:
        texts = [TEXT[:300_000]] * 8
        wanted = self.tokenizer.encode(texts[0])
        self.check(lambda: self.tokenizer.encode_batch(texts, threads=4) == [wanted] * 8)

    def test_threads_that_end_before_their_first_line(self) -> None:
        """Threads do not run, as if they had no memory: most calls do the work themselves."""
        with mock.patch.object(_executable, "start_new_thread", lambda *_: 1):
            home = Home()
            self.assertTrue(os.path.isdir(home.name))
            home.cleanup()
            self.assertFalse(os.path.exists(home.name))
            self.assertEqual(self.tokenizer.encode(TEXT, threads=3), self.ids)
            with self.assertRaises(MemoryError):
                bpe.train(texts=["a text"], vocab_size=300)
            with tempfile.TemporaryDirectory() as directory:
                self.tokenizer.save(os.path.join(directory, "saved"))
                loaded = bpe.Tokenizer.load(os.path.join(directory, "saved"))
            self.assertEqual(loaded.encode("a text"), self.tokenizer.encode("a text"))
            loaded.close()

    def test_a_part_that_no_thread_has_encoded_is_no_result(self) -> None:
        batch = self.tokenizer._encoder().batch([TEXT] * 8, False, True, 2)
        with self.assertRaises(MemoryError):
            batch.check()
        while batch.work():
            pass
        batch.check()
        self.assertEqual(batch.lists(), [self.ids] * 8)


if __name__ == "__main__":
    unittest.main()
