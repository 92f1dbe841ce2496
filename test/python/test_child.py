"""A child process encodes where the native module is not: on Python 3.9, without a GIL, on a platform that has none."""

import os
import pickle
import signal
import sys
import threading
import unittest

import bpe_trainer as bpe
from test_bpe import END, Home, are_gone, made_texts

NATIVE = "bpe_trainer._native"


class Child(Home):
    """The same answers as the module's, whatever happens to the process."""

    def setUp(self) -> None:
        super().setUp()
        self.texts = ["", "a b" + END, "你 bc é", *made_texts(50), " ".join(made_texts(2000))]
        self.tokenizer = bpe.train(self.corpus, 320, special_tokens=[END])
        self.right = self.answers(self.tokenizer)
        self.module = sys.modules.pop(NATIVE, None)
        sys.modules[NATIVE] = None  # type: ignore[assignment]
        self.child = pickle.loads(pickle.dumps(self.tokenizer))

    def tearDown(self) -> None:
        del sys.modules[NATIVE]
        if self.module is not None:
            sys.modules[NATIVE] = self.module
        self.tokenizer.close()
        self.child.close()
        super().tearDown()

    def answers(self, each: bpe.Tokenizer) -> list:
        ids, offsets = each.encode_batch(self.texts, as_array=True)
        return [
            each.encode_batch(self.texts, threads=2),
            each.encode_batch(self.texts, add_special_tokens=True, special_tokens_as_text=True),
            [each.encode(text, special_tokens_as_text=True) for text in self.texts],
            [each.encode_with_offsets(text, unit="bytes") for text in self.texts],
            [each.encode_with_offsets(text, special_tokens_as_text=True) for text in self.texts],
            [each.count(text) for text in self.texts] + [each.count(text, 3) for text in self.texts],
            each.decode_batch(each.encode_batch(self.texts)),
            list(each.encode_iterable(self.texts)),
            (ids.tolist(), offsets.tolist(), each.get_vocab(), each.special_tokens, len(each), each("a b")),
        ]

    def pid(self) -> int:
        self.child.encode("x")
        ((children),) = self.child._model._children.values()
        return int(children.servers[0].process._pid)

    def test_it_answers_as_the_module_does(self) -> None:
        if self.module is None:
            self.skipTest("the native module is not built")
        self.assertEqual(self.answers(self.child), self.right)
        self.assertTrue(hasattr(self.tokenizer._model, "batch"))
        self.assertFalse(hasattr(self.child._model, "batch"))

    def test_wrong_input_is_the_same_error(self) -> None:
        for call in (
            lambda each: each.encode(3),
            lambda each: each.encode("\ud800"),
            lambda each: each.encode_batch(["a", b"b"]),
            lambda each: each.decode([1, 999]),
            lambda each: each.decode([-1]),
            lambda each: each.decode(["a"]),
        ):
            said = []
            for each in (self.tokenizer, self.child):
                with self.assertRaises(Exception) as caught:
                    call(each)
                said.append((type(caught.exception), str(caught.exception)))
            self.assertEqual(said[0], said[1])

    def test_where_it_is_killed_one_call_fails_and_the_next_starts_another(self) -> None:
        for number in (signal.SIGKILL, signal.SIGTERM):
            os.kill(self.pid(), number)
            with self.assertRaisesRegex(bpe.BpeError, "ended by signal"):
                for _ in range(100):
                    self.child.encode("a b")
            self.assertEqual(self.child.encode("a b"), self.tokenizer.encode("a b"))

    def test_a_forked_process_has_its_own(self) -> None:
        ours = self.pid()
        pid = os.fork()
        if pid == 0:
            self.kept._finalizer.detach()  # The corpus is the parent's.
            right = self.child.encode_batch(self.texts) == self.right[0]
            mine = self.child._model._children[os.getpid()].servers[0].process._pid
            self.child.close()
            os._exit(0 if right and mine != ours else 1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual((self.child.encode_batch(self.texts), self.pid()), (self.right[0], ours))

    def test_threads_take_turns(self) -> None:
        results = []
        threads = [threading.Thread(target=lambda: results.append(self.child.encode_batch(self.texts))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [self.right[0]] * 6)

    def test_the_handler_of_a_signal_may_encode_in_the_middle_of_a_call(self) -> None:
        inner = []
        before = signal.signal(signal.SIGALRM, lambda *_: inner.append(self.child.encode("a b")))
        try:
            while not inner:
                signal.setitimer(signal.ITIMER_REAL, 0.002)
                self.assertEqual(self.child.encode_batch(self.texts * 20), self.right[0] * 20)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertEqual(inner, [self.tokenizer.encode("a b")] * len(inner))

    def test_it_ends_with_the_tokenizer(self) -> None:
        for end in (lambda: self.child.close(), lambda: setattr(self, "child", bpe.train(texts=["a"], vocab_size=257))):
            self.child = pickle.loads(pickle.dumps(self.tokenizer))
            pid = self.pid()
            end()
            # Also no zombie.
            self.assertTrue(are_gone(f"/proc/{pid}"))


if __name__ == "__main__":
    unittest.main()
