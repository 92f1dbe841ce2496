"""Finds the executable of this package, and runs it.

`import bpe_trainer` loads only what a training needs before the executable runs. Loading typing, pathlib or subprocess would
each take as long as the rest of Python's start. So annotations are not evaluated here: their names are imported only for type
checkers.
"""

from __future__ import annotations

import _signal  # Not the module signal, which also makes enums of these numbers: that takes time.
import atexit
import os
import sys
import sysconfig
from _functools import partial
from _operator import methodcaller
# Private modules, because loading threading would take some milliseconds.
from _thread import RLock, allocate_lock, start_new_thread
from _weakref import ref
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any, Callable, Iterator, Sequence, Union

    from . import _types as t


class LazyModule:
    """Loads a module when one of its names is used. Used for names in annotations, which are rarely evaluated."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        import importlib

        return getattr(importlib.import_module(self._name), name)


if not TYPE_CHECKING:
    t = LazyModule("bpe_trainer._types")


class BpeError(Exception):
    """Raised if `bpe` refuses something, or fails. Its text is the message and the hint of `bpe`."""

    #: What `bpe` wrote to stdout before it failed.
    answer: bytes = b""


def find_executable() -> str:
    """Returns the path of the `bpe` that came with this package."""
    name = "bpe.exe" if sys.platform == "win32" else "bpe"
    looked: list[str] = []
    for place in _places():
        path = os.path.join(place, name)
        if os.path.isfile(path):
            return path
        looked.append(place)
    raise BpeError(f"the executable {name} is not in {', '.join(looked)}; reinstall the package")


def _places() -> Iterator[str]:
    """Yields the directories of scripts: the environment's, the user's, and that of a package installed with --target."""
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", f"{os.name}_user")
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")


def message_of(stderr: str) -> str:
    """Returns the error message in the lines of stderr, without the name of the program."""
    lines = [line for line in stderr.splitlines() if not line.startswith("{")]
    for i, line in enumerate(lines):
        if line.startswith("bpe: error: "):
            return "\n".join([line[len("bpe: error: ") :], *lines[i + 1 :]])
    return stderr.strip() or "bpe ended without a message"


#: Held while pipes are created and registered in `_ends`. A child that is forked between these two steps would not find
#: their ends there, and would keep them open.
_starting = RLock()
#: The ends of all pipes that belong to this process.
_ends: set[ref[IO[bytes]]] = set()


def _after_fork() -> None:
    """Closes the parent's pipes in a child: it must not use them, nor hold them open after the parent has ended."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
    except OSError:
        nowhere = -1
    for end in list(_ends):
        stream = end()
        try:
            if stream is None or stream.closed:
                continue
            # Keep the number of the descriptor in use. If the child opened another file with that number, this stream
            # could write to it.
            if nowhere >= 0:
                os.dup2(nowhere, stream.fileno(), inheritable=False)
            else:
                os.close(stream.fileno())
        except (OSError, ValueError):
            pass
    _ends.clear()
    if nowhere >= 0:
        os.close(nowhere)
    _starting.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_after_fork)


#: How long a new thread may take to begin. If it takes longer, it may never begin: a thread that gets no memory ends
#: without an error.
_START_SECONDS = 0.2
_PENDING = BaseException()


class _Thread:
    """A task that a new thread does, unless a caller takes it first.

    It is not a `threading.Thread`, because dropping one runs Python code, as `__del__` does, and a Ctrl-C during that is lost.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        #: `_begun` is acquired by the thread that takes the work. `_ended` is released when the new thread has done it.
        self._begun, self._ended = allocate_lock(), allocate_lock()
        self._ended.acquire()
        self._works = [work]
        #: `_PENDING` until the new thread has done the work; then what the work raised, or None. The list is made in
        #: advance, so that storing the outcome takes no memory.
        self._outcomes: list[Union[BaseException, None]] = [_PENDING]

    def start(self) -> bool:
        """Starts the thread. Returns False if the system refuses it, memory runs out, or the interpreter is shutting down."""
        try:
            start_new_thread(self._run, ())
        except (RuntimeError, MemoryError):
            return False
        return True

    def _run(self) -> None:
        if self.take():
            try:
                self.work()
                self._outcomes[0] = None
            except BaseException as error:
                self._outcomes[0] = error
            finally:
                self._ended.release()

    def take(self) -> bool:
        """Claims the work. Returns False if it has been claimed before. After True, only the caller may do the work."""
        return self._begun.acquire(False)

    def work(self) -> None:
        # Take the work off the list, because this thread could otherwise be the last to hold what the work refers to.
        self._works.pop()()

    def has_begun(self) -> bool:
        """Waits until the work has begun. If that takes too long, claims the work, so that it never begins, and returns False."""
        deadline, pause = monotonic() + _START_SECONDS, 0.00005
        while not self._begun.locked() and monotonic() < deadline:
            sleep(pause)
            pause = min(2 * pause, 0.01)
        return not self.take()

    def has_ended(self) -> bool:
        """Waits until the work has ended. Returns False if it has not even begun after a while."""
        while not self._ended.acquire(True, _START_SECONDS):
            if not self._begun.locked():
                return False
        return True

    def cancel(self) -> None:
        """Makes sure that the work never begins; if it has begun, waits until it has ended."""
        while not self.take() and self._outcomes[0] is _PENDING:
            self._ended.acquire(True, _START_SECONDS)

    def raise_outcome(self) -> None:
        outcome = self._outcomes.pop()
        try:
            if outcome is not None:
                raise outcome
        finally:
            del outcome  # Otherwise the error and this frame, which its traceback has, would be a cycle.


def _without_interrupts(work: Callable[[], object]) -> None:
    """Does the work in a thread of its own. Signal handlers run only in the main thread, so none interrupts the work.

    A handler may interrupt this call, as Ctrl-C does. When the exception is raised, the work is either done, or will
    never begin. If no thread can be started, the calling thread does the work.
    """
    thread = _Thread(work)
    is_started = has_ended = False
    while not has_ended:
        try:
            has_ended = (is_started or thread.start()) and thread.has_ended()
            is_started = True
        except BaseException:
            thread.cancel()
            raise
        if not has_ended and thread.take():
            return thread.work()
    thread.raise_outcome()


def in_thread(work: Callable[[], None]) -> _Thread:
    """Starts the work in a thread, if one can be started. Give the result to `await_end`."""
    thread = _Thread(work)
    thread.start()
    return thread


def await_end(thread: _Thread) -> None:
    """Waits until the work has ended, and raises what it raised. Work that no thread has begun is never done."""
    if thread.take():
        return
    # On Windows, Ctrl-C does not interrupt a wait, so each wait is short.
    while not thread.has_ended():
        pass
    thread.raise_outcome()


class _Reference(ref):  # type: ignore[type-arg]
    """A weak reference that has a method `start`, which is not Python code."""

    start: Callable[[], int]


#: The work registered by `when_dropped` that has not been done yet.
_endings: dict[_Reference, Callable[[], None]] = {}


def when_dropped(thing: object, work: Callable[[], None]) -> Callable[[], None]:
    """Registers work to do when the object is dropped, when Python ends, or when the returned function is called.

    The work may be done twice. When the object is dropped, C code starts a thread for it. `weakref.finalize` would run Python
    code at that point, where a Ctrl-C is lost.
    """
    reference = _Reference(thing, methodcaller("start"))

    def end() -> None:
        work()
        _endings.pop(reference, None)
        reference.start = int  # `int()` does nothing.

    reference.start = partial(start_new_thread, end, ())
    _endings[reference] = end
    return end


@atexit.register
def _end_all() -> None:
    for end in list(_endings.values()):
        end()


class Home:
    """A temporary directory. It is removed when the object is dropped, but only by the process that created it.

    As a context, it is the path of the directory, which is removed when the context ends.
    """

    def __init__(self) -> None:
        import tempfile

        owner = os.getpid()

        def make() -> None:
            name = self.name = tempfile.mkdtemp(prefix="bpe-")
            self._end = when_dropped(self, lambda: _remove(name, owner))

        _without_interrupts(make)

    def cleanup(self) -> None:
        _without_interrupts(self._end)

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:
        import shutil

        shutil.rmtree(path, ignore_errors=True)


#: The maximum number of characters that are passed as arguments. Of all systems, Windows allows the fewest: 32,767 code
#: units of UTF-16 for the whole command line. A character takes at most two of them, even if it is escaped.
_TYPED_CHARACTERS = 1 << 13
#: The quotes and the space of an argument.
_SEPARATING_CHARACTERS = 3
#: Signals that end a program that gets no memory: SIGILL, SIGTRAP, SIGABRT, SIGBUS (7 or 10), SIGSEGV.
_CRASHES = (4, 5, 6, 7, 10, 11)


def signal_error(signal: int) -> BpeError:
    """Returns the error for a run that was ended by a signal. It names the limits of memory if they may be the reason."""
    limits: list[str] = []
    if signal in _CRASHES and sys.platform != "win32":
        import resource

        limits = [
            f"{name} is {soft / 1e6:,.0f} MB"
            for name in ("RLIMIT_AS", "RLIMIT_DATA")
            if (soft := resource.getrlimit(getattr(resource, name))[0]) != resource.RLIM_INFINITY
        ]
    reason = f"; memory is limited ({', '.join(limits)})\nhint: raise the limit (ulimit -v, ulimit -d)" if limits else ""
    return BpeError(f"bpe was killed by signal {signal}{reason}")


class Run:
    """A run of `bpe`. Only the process that started it can read its output and end it, not a forked child.

    Its stdin is a pipe or empty, its stdout is a pipe or discarded, and its stderr must be read. The object exists before the
    process starts, so that the caller can `abandon` it whenever Ctrl-C comes.
    """

    stdin: Union[IO[bytes], None] = None
    stdout: Union[IO[bytes], None] = None
    stderr: IO[bytes]

    def __init__(self, arguments: Sequence[str], *, takes_input: bool = False, answers: bool = False) -> None:
        # Messages then name parameters of this package, not options (src/options/python-spelling.ts).
        self._environment = {**os.environ, "BPE_CALLER": "python", "BPE_ARGUMENTS": ""}
        #: The directory of arguments that are passed as a file.
        self._home: Union[Home, None] = None
        self._command = [find_executable(), *self._fit_arguments(arguments)]
        self._takes_input, self._answers = takes_input, answers
        self._owner = os.getpid()
        #: The exit code; None from the start until `wait` finds that the run has ended. Before the start it is 0.
        self._exit_code: Union[int, None] = 0
        self._reaping = allocate_lock()
        #: The ends of the pipes that belong to this process.
        self._streams: list[IO[bytes]] = []

    def start(self) -> None:
        _without_interrupts(self._popen if sys.platform == "win32" else self._spawn)

    def abandon(self) -> None:
        """Ends the run, if it is running."""
        _without_interrupts(self._abandon)

    def _abandon(self) -> None:
        self.stop()
        self.close()

    def _fit_arguments(self, arguments: Sequence[str]) -> Sequence[str]:
        """Moves arguments into a file if they are too long for the system, or if tokens contain zero bytes."""
        with_zeros = [each for each in arguments if "\0" in each]
        for argument in with_zeros:
            if not argument.startswith(("--special-token=", "--seed-token=")):
                raise BpeError(f"{argument[:200]!r} contains a zero byte, which paths and options cannot contain")
        if not with_zeros and sum(len(each) + _SEPARATING_CHARACTERS for each in arguments) <= _TYPED_CHARACTERS:
            return arguments
        import json

        self._home = Home()
        self._environment["BPE_ARGUMENTS"] = path = os.path.join(self._home.name, "arguments.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(arguments, file, ensure_ascii=False)
        return ()

    def _popen(self) -> None:
        import subprocess

        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE if self._takes_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE if self._answers else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self._environment,
            bufsize=0,
        )
        self._exit_code = None
        assert self._process.stderr is not None
        self.stdin, self.stdout, self.stderr = self._process.stdin, self._process.stdout, self._process.stderr
        self._streams = [stream for stream in (self.stdin, self.stdout, self.stderr) if stream is not None]

    def _spawn(self) -> None:
        """Does what subprocess.Popen does. Loading its module would take longer than starting the executable."""
        #: Descriptors for the child, which this method closes. The descriptors that this process uses belong to its
        #: streams.
        child_fds: list[int] = []

        def end_of_pipe(mode: str) -> IO[bytes]:
            """Makes a pipe and returns our end. The other end is appended to `child_fds`."""
            read, write = os.pipe()
            child_fds.append(write if mode == "rb" else read)
            # The stream has no buffer, because a buffer has a lock. If another thread held the lock during a fork, the
            # child could not even close the stream.
            stream = open(read if mode == "rb" else write, mode, 0)
            self._streams.append(stream)
            _ends.add(ref(stream, _ends.discard))
            return stream

        with _starting:
            try:
                # If a standard stream of this process is closed, a new descriptor could get its number. So use up the
                # numbers 0 to 2.
                while not child_fds or child_fds[-1] <= 2:
                    child_fds.append(os.open(os.devnull, os.O_RDWR))
                stdin = stdout = child_fds[-1]
                self.stderr, stderr = end_of_pipe("rb"), child_fds[-1]
                if self._takes_input:
                    self.stdin, stdin = end_of_pipe("wb"), child_fds[-1]
                if self._answers:
                    self.stdout, stdout = end_of_pipe("rb"), child_fds[-1]
                actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate((stdin, stdout, stderr))]
                # Ctrl-C must not reach a process whose output is an answer, so that process gets its own group.
                group: dict[str, Any] = {"setpgroup": 0} if self._answers else {}
                program = self._command[0]
                self._pid = os.posix_spawn(program, self._command, self._environment, file_actions=actions, **group)
                self._exit_code = None
            except BaseException as error:
                self.close_pipes()
                import errno

                if isinstance(error, OSError) and error.errno == errno.ENOMEM:
                    raise MemoryError("there is not enough memory to start bpe") from None
                raise
            finally:
                for fd in child_fds:
                    os.close(fd)

    def write(self, data: Union[bytes, bytearray]) -> None:
        """Writes all of the data to the stdin of the run."""
        assert self.stdin is not None
        rest = memoryview(data)
        while rest:
            rest = rest[self.stdin.write(rest) :]

    def stderr_lines(self) -> Iterator[bytes]:
        """Yields the lines of the stderr of the run as they arrive."""
        line = b""
        while part := self.stderr.read(1 << 16):
            *lines, line = (line + part).split(b"\n")
            yield from lines
        if line:
            yield line

    @property
    def is_ours(self) -> bool:
        """Whether this process started the run."""
        return os.getpid() == self._owner

    def wait(self) -> int:
        """Waits until the run has ended; Ctrl-C interrupts the wait. Returns the exit code, which is negative after a signal."""
        if not self.is_ours:
            raise BpeError("this run of bpe was started by the parent process, and only that process can use it")
        with self._reaping:
            while self._exit_code is None:
                if sys.platform == "win32":
                    # On Windows, Ctrl-C does not interrupt a wait.
                    sleep(0.002)
                    self._exit_code = self._process.poll()
                    continue
                try:
                    self._exit_code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
                except ChildProcessError:
                    # This process ignores SIGCHLD, or reaps all its children: rely on the output alone.
                    self._exit_code = 0
        return self._exit_code

    def finish(self, text: bytes = b"") -> bytes:
        """Starts the run, writes the text to its stdin if that is a pipe, and waits until it has ended.

        Returns the content of its stdout, if that is a pipe. Raises BpeError if the run fails.
        """
        try:
            self.start()
            if self.stdin is not None:
                try:
                    self.write(text)
                except OSError:
                    pass  # The run has ended, and stderr says why.
                self.stdin.close()
            answer = b"" if self.stdout is None else self.stdout.read()
            said = self.stderr.read().decode("utf-8", "replace")
            exit_code = self.wait()
            self.close()
        except BaseException:
            self.abandon()
            raise
        if exit_code < 0:
            raise signal_error(-exit_code)
        if exit_code != 0:
            raise BpeError(message_of(said))
        return answer

    def stop(self) -> None:
        """Interrupts the run like Ctrl-C, so that it cleans up; on Windows, terminates it."""
        if self._exit_code is None and self.is_ours:
            try:
                if sys.platform == "win32":
                    self._process.terminate()
                else:
                    os.kill(self._pid, _signal.SIGINT)
            except ProcessLookupError:
                pass

    def close_pipes(self) -> None:
        """Closes the pipes of the run, even if they still hold data, and removes the file of its arguments."""
        if self._home is not None:
            self._home.cleanup()
        for stream in self._streams:
            try:
                stream.close()
            except OSError:
                pass

    def close(self) -> None:
        """Closes the pipes of the run, and waits until it has ended."""
        self.close_pipes()
        if self.is_ours:
            self.wait()


def main() -> int:
    """`python -m bpe_trainer`: the command line."""
    executable = find_executable()
    if sys.platform == "win32":
        import subprocess

        return subprocess.call([executable, *sys.argv[1:]])
    os.execv(executable, [executable, *sys.argv[1:]])
    return 1


__all__ = ["BpeError", "Home", "LazyModule", "Run", "await_end", "find_executable", "in_thread", "main", "message_of", "t", "when_dropped"]
