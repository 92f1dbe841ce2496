"""Starts runs of bpe, in some tests with a Ctrl-C meanwhile. No process, descriptor or file may be left."""

import dis
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

from bpe_trainer import _executable, _tokenizer
from bpe_trainer._executable import Home, Run, when_dropped
from bpe_trainer._training import run_bpe

#: A program that waits for input, and that SIGINT ends at once.
PROGRAM = "/bin/cat"
CALLS = ("pipe", "posix_spawn", "close")


def started() -> Run:
    run = Run(["-"], takes_input=True, answers=True)
    try:
        run.start()
    except BaseException:
        run.abandon()
        raise
    return run


class Starts(unittest.TestCase):
    def setUp(self) -> None:
        self.enterContext(mock.patch.object(_executable, "find_executable", lambda: PROGRAM))
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.enterContext(mock.patch.object(tempfile, "tempdir", temporary.name))
        # With a second thread, a signal may arrive in either thread.
        end = threading.Event()
        other = threading.Thread(target=end.wait)
        other.start()
        self.addCleanup(lambda: (end.set(), other.join()))
        self.descriptors = os.listdir("/proc/self/fd")

    def check_nothing_is_left(self, moment: str) -> None:
        # Wait for the threads that end dropped runs.
        while _executable._endings:
            time.sleep(0.0005)
        self.assertEqual(len(os.listdir("/proc/self/fd")), len(self.descriptors), f"descriptors, {moment}")
        self.assertEqual(os.listdir(tempfile.gettempdir()), [], f"files, {moment}")
        with self.assertRaises(ChildProcessError, msg=f"a child, {moment}"):
            os.waitpid(-1, os.WNOHANG)

    def interrupted_at(self, n: int, make) -> bool:
        """Interrupts `make` at the n-th operation at which Python may handle a signal. Returns whether `make` got that
        far."""
        done, last = 0, ""

        def trace(frame, event, _):
            nonlocal done, last
            if frame.f_globals["__name__"] in (__name__, "unittest.mock"):
                return None
            frame.f_trace_opcodes = True
            if event == "call":
                last = "RESUME"
            if event == "opcode":
                # Python handles signals only after these operations, so Ctrl-C is raised only after one of them, too.
                is_served = last.startswith(("CALL", "JUMP_BACKWARD", "RESUME"))
                last = dis.opname[frame.f_code.co_code[frame.f_lasti]]
                if not is_served:
                    return trace
                done += 1
                if done == n:
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            made = make()
            # If the object is dropped here, an interrupt must raise KeyboardInterrupt, too.
            made = made if isinstance(made, Run) else None
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        self.assertLess(done, n, "it was lost")
        if made is not None:
            made.abandon()
        return False

    def test_ctrl_c_may_come_anywhere_in_the_main_thread(self) -> None:
        """Python ignores exceptions that are raised while an object is dropped."""
        ignored = []
        self.enterContext(mock.patch.object(sys, "unraisablehook", ignored.append))
        for make in (
            started,
            Home,
            lambda: Home().cleanup(),
            lambda: Run(["-"], answers=True).finish(),
            lambda: run_bpe(["-"], False, ["a text"]),
        ):
            make() if make is not started else None
            n = 1
            while self.interrupted_at(n, make):
                self.check_nothing_is_left(f"operation {n} of {make}")
                n += 1
            self.check_nothing_is_left("not interrupted")
            self.assertGreater(n, 5)
        self.assertEqual(ignored, [])

    def test_ctrl_c_may_come_at_any_system_call(self) -> None:
        """Another thread makes the system calls, while the main thread is interrupted."""
        n = 1
        while self.interrupted_at_call(n, started, os, CALLS):
            self.check_nothing_is_left(f"call {n}")
            n += 1
        self.assertGreater(n, 7)
        for n in (1, 2):
            self.assertTrue(self.interrupted_at_call(n, Home, tempfile, ("mkdtemp",)))
            self.check_nothing_is_left(f"call {n}")

    def interrupted_at_call(self, n: int, make, module, names) -> bool:
        """Interrupts at the n-th of the moments just before and after the calls. Returns whether there is an n-th."""
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

    def test_a_dropped_run_ends_in_a_thread_of_its_own(self) -> None:
        for is_called in (False, True):
            run, threads = started(), []
            thing = mock.Mock()
            end = when_dropped(thing, lambda: (threads.append(threading.get_ident()), run.abandon()))
            end() if is_called else None
            del thing
            self.check_nothing_is_left("dropped")
            self.assertEqual([ident == threading.get_ident() for ident in threads], [is_called])

    def test_a_run_starts_even_if_no_thread_can_be_started(self) -> None:
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

    def test_a_run_that_cannot_be_started_leaves_nothing(self) -> None:
        with mock.patch.object(_executable, "find_executable", lambda: "/bin/no-such-program"):
            with self.assertRaises(FileNotFoundError):
                started()
        self.check_nothing_is_left("not started")


if __name__ == "__main__":
    unittest.main()
