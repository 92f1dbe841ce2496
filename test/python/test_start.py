"""Ctrl-C while a process starts, in a program with other threads: nothing else is raised, and nothing is left."""

import gc
import os
import signal
import sys
import tempfile
import threading
import unittest
from unittest import mock

from bpe_trainer import _executable, _tokenizer
from bpe_trainer._executable import Home, Run

#: It waits for its input, and SIGINT ends it at once.
PROGRAM = "/bin/cat"
CALLS = ("pipe", "posix_spawn", "close")


def started() -> Run:
    return Run(["-"], takes_input=True, answers=True)


class Threads(unittest.TestCase):
    def test_threads_of_a_call_that_failed_are_not_left_to_the_collector(self) -> None:
        """It frees them anywhere, and a Ctrl-C that comes just then is lost: Python cannot raise it there."""

        class Model:
            def __init__(self, fails_in_main: bool) -> None:
                self.fails_in_main = fails_in_main

            def batch(self, *_: object) -> "Model":
                return self

            def work(self) -> bool:
                if (threading.current_thread() is threading.main_thread()) == self.fails_in_main:
                    raise KeyboardInterrupt
                return False

        def threads() -> int:
            return sum(isinstance(each, threading.Thread) for each in gc.get_objects())

        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        for fails_in_main in (True, False):
            before = threads()
            try:
                # assertRaises would clear the frames.
                _tokenizer._worked(Model(fails_in_main), ["a" * (1 << 20)], False, True, 3)
                self.fail()
            except KeyboardInterrupt:
                pass
            while threading.active_count() > 1:
                pass
            self.assertEqual(threads(), before)


class Starts(unittest.TestCase):
    def setUp(self) -> None:
        self.enterContext(mock.patch.object(_executable, "find_executable", lambda: PROGRAM))
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.enterContext(mock.patch.object(tempfile, "tempdir", temporary.name))
        # Signals of a process go to any of its threads.
        end = threading.Event()
        other = threading.Thread(target=end.wait)
        other.start()
        self.addCleanup(lambda: (end.set(), other.join()))
        self.descriptors = os.listdir("/proc/self/fd")

    def check_nothing_is_left(self, moment: str) -> None:
        self.assertEqual(len(os.listdir("/proc/self/fd")), len(self.descriptors), f"descriptors, {moment}")
        self.assertEqual(os.listdir(tempfile.gettempdir()), [], f"files, {moment}")
        with self.assertRaises(ChildProcessError, msg=f"a child, {moment}"):
            os.waitpid(-1, os.WNOHANG)

    def interrupted_at(self, n: int, make) -> bool:
        """Whether the main thread came to its n-th operation in the package, and was interrupted there."""
        done = 0

        def trace(frame, event, _):
            nonlocal done
            if frame.f_globals.get("__package__") != "bpe_trainer":
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                done += 1
                if done == n:
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            made = make()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        made.stop() if isinstance(made, Run) else None
        made.close() if isinstance(made, Run) else made.cleanup()
        return False

    def test_in_the_main_thread_it_may_strike_anywhere(self) -> None:
        for make in (started, Home):
            n = 1
            while self.interrupted_at(n, make):
                self.check_nothing_is_left(f"operation {n} of {make.__name__}")
                n += 1
            self.check_nothing_is_left("not interrupted")
            self.assertGreater(n, 20)

    def test_it_may_strike_at_any_call_of_the_system(self) -> None:
        """Each is made in another thread: this one is interrupted meanwhile."""
        n = 1
        while self.interrupted_at_call(n, started, os, CALLS):
            self.check_nothing_is_left(f"call {n}")
            n += 1
        self.assertGreater(n, 7)
        for n in (1, 2):
            self.assertTrue(self.interrupted_at_call(n, Home, tempfile, ("mkdtemp",)))
            self.check_nothing_is_left(f"call {n}")

    def interrupted_at_call(self, n: int, make, module, names) -> bool:
        """Whether Ctrl-C struck before the n-th half of a call, and only KeyboardInterrupt came of it."""
        struck = threading.Event()
        halves = 0

        def strike() -> None:
            nonlocal halves
            halves += 1
            if halves == n:
                os.kill(os.getpid(), signal.SIGINT)
                struck.wait(1)

        def disturbed(call):
            def run(*given, **named):
                strike()
                result = call(*given, **named)
                strike()
                return result

            return run

        def handle(*_) -> None:
            struck.set()
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGINT, handle)
        try:
            with mock.patch.multiple(module, **{name: disturbed(getattr(module, name)) for name in names}):
                made = make()
        except KeyboardInterrupt:
            self.assertTrue(struck.is_set())
            return True
        finally:
            signal.signal(signal.SIGINT, before)
        if made is not None:
            made.stop()
            made.close()
        return False

    def test_what_is_dropped_ends_though_ctrl_c_strikes_meanwhile(self) -> None:
        def drop() -> None:
            started()

        for n in (1, 2):
            ignored = []
            with mock.patch.object(sys, "unraisablehook", lambda raised: ignored.append(raised.exc_type)):
                self.interrupted_at_call(n, drop, os, ("waitpid",))
            self.assertEqual(ignored, [KeyboardInterrupt])
            self.check_nothing_is_left(f"half {n} of the wait")

    def test_where_no_thread_can_be_started_it_starts_all_the_same(self) -> None:
        refusing = mock.Mock(side_effect=RuntimeError("can't start new thread"))
        with mock.patch.object(_executable, "start_new_thread", refusing):
            run, home = started(), Home()
        run.write(b"x")
        assert run.stdout is not None
        self.assertEqual(run.stdout.read(1), b"x")
        run.stop()
        run.close()
        home.cleanup()
        self.check_nothing_is_left("without a thread")

    def test_what_cannot_be_started_leaves_nothing(self) -> None:
        with mock.patch.object(_executable, "find_executable", lambda: "/bin/no-such-program"):
            with self.assertRaises(FileNotFoundError):
                started()
        self.check_nothing_is_left("not started")


if __name__ == "__main__":
    unittest.main()
