"""A signal during a long call, with a handler that raises: the call ends early."""

import random
import resource
import signal
import sys
import time
import unittest
from _thread import _count

import bpe_trainer as bpe
from test_bpe import made_texts

#: Processor time after which the signal arrives. Each call takes longer.
COMES_SECONDS = 0.02


class Struck(BaseException):
    pass


@unittest.skipUnless(hasattr(signal, "setitimer"), "this system has no such timer")
class Interrupts(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.tokenizer = cls.enterClassContext(bpe.train(texts=made_texts(200), vocab_size=400, normalize="NFC", formats=["huggingface"]))
        cls.wanted = cls.tokenizer.encode("a text")

    def setUp(self) -> None:
        def strike(*_) -> None:
            self.struck = time.process_time()
            raise Struck

        before = signal.signal(signal.SIGPROF, strike)
        self.addCleanup(signal.signal, signal.SIGPROF, before)

    def check(self, work) -> None:
        """Checks that interrupted work ends in time, and that the tokenizer still encodes."""
        start = time.process_time()
        work()
        whole = time.process_time() - start
        start = time.process_time()
        with self.assertRaises(Struck):
            signal.setitimer(signal.ITIMER_PROF, COMES_SECONDS)
            work()
        self.assertLess(self.struck - start, max(whole / 3, 3 * COMES_SECONDS))
        self.assertEqual(self.tokenizer.encode("a text"), self.wanted)

    def test_a_word_of_megabytes(self) -> None:
        draw = random.Random(1)
        word = "".join(draw.choices("abcdefghij", k=1 << 20)) * 3
        self.check(lambda: self.tokenizer.encode(word, threads=1))
        self.check(lambda: self.tokenizer.count(word))

    def test_text_that_changes_as_a_whole(self) -> None:
        text = f"a{chr(0x344) * 600_000}{chr(0x316) * 600_000}"
        self.check(lambda: self.tokenizer.encode(text, threads=1))

    def test_many_ids(self) -> None:
        ids = list(range(97, 122)) * 300_000
        self.check(lambda: self.tokenizer.decode_bytes(ids))
        self.check(lambda: self.tokenizer.decode_bytes(tuple(ids)))
        self.check(lambda: self.tokenizer.decode(ids))

    def test_offsets(self) -> None:
        text = "a b " * 1_000_000
        with bpe.train(texts=["a b"], vocab_size=257) as plain:
            self.check(lambda: plain.encode_with_offsets(text))

    @unittest.skipUnless(sys.platform == "linux", "reads /proc")
    def test_other_threads_stop_and_nothing_is_left(self) -> None:
        draw = random.Random(1)
        words = ["".join(draw.choices("abcdefghij", k=1 << 20)) * 4 for _ in range(3)]
        before = _count()
        taken = []
        for _ in range(4):
            start = time.process_time()
            with self.assertRaises(Struck):
                signal.setitimer(signal.ITIMER_PROF, COMES_SECONDS)
                self.tokenizer.encode_batch(words, threads=3)
            while _count() > before:
                time.sleep(0.001)
            self.assertLess(time.process_time() - start, 2)
            with open("/proc/self/statm") as file:
                taken.append(int(file.read().split()[1]) * resource.getpagesize())
        self.assertLess(taken[-1] - taken[0], 1 << 26)
        self.assertEqual(self.tokenizer.encode("a text"), self.wanted)


if __name__ == "__main__":
    unittest.main()
