"""Where the executable of this package is, and how it is run.

`import bpe_trainer` loads what a training needs before the executable runs, and no more: typing, pathlib and subprocess would
cost as much as the rest of Python's start, each. So annotations are not evaluated here, and their names are for checkers.
"""

from __future__ import annotations

import _signal  # The module signal makes names of its numbers, which takes longer than to use them.
import atexit
import os
import sys
import sysconfig
from _functools import partial
from _operator import methodcaller
# The module threading takes as long to load as Python to start, weakref a fifth of it.
from _thread import RLock, allocate_lock, start_new_thread
from _weakref import ref
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any, Callable, Iterator, Sequence, Union


class Later:
    """A module that only annotations name. It is loaded where they are evaluated."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        import importlib

        return getattr(importlib.import_module(self._name), name)


class BpeError(Exception):
    """What `bpe` refused, or could not do: its own message, with its hint."""

    #: What it had written to stdout.
    answer: bytes = b""


def find_executable() -> str:
    """The `bpe` that came with this package."""
    name = "bpe.exe" if sys.platform == "win32" else "bpe"
    looked: list[str] = []
    for place in _places():
        path = os.path.join(place, name)
        if os.path.isfile(path):
            return path
        looked.append(place)
    raise BpeError(f"the executable {name} is not in {', '.join(looked)}; install the package again")


def _places() -> Iterator[str]:
    """Where pip puts scripts: in this environment, for the user, and next to a package installed with --target."""
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", f"{os.name}_user")
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")


def message_of(stderr: str) -> str:
    """The error among the lines of stderr, without the name of the program."""
    lines = [line for line in stderr.splitlines() if not line.startswith("{")]
    for i, line in enumerate(lines):
        if line.startswith("bpe: error: "):
            return "\n".join([line[len("bpe: error: ") :], *lines[i + 1 :]])
    return stderr.strip() or "bpe ended without a word"


#: Held while pipes are made: a fork in between would give the child ends that nobody knows of.
_starting = RLock()
#: This process's ends of all pipes.
_ends: set[ref[IO[bytes]]] = set()


def _after_fork() -> None:
    """A child reads and writes none of its parent's pipes, and holds none of them open: they end with the parent."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
    except OSError:
        nowhere = -1
    for end in list(_ends):
        stream = end()
        try:
            if stream is None or stream.closed:
                continue
            # Its number stays taken: what the child still has in a buffer, or closes, must be no other file's.
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


#: How long a new thread may take to its first line. One for which there is no memory ends before, and nobody hears of it.
_START_SECONDS = 0.2
_PENDING = BaseException()


class _Thread:
    """A task that a new thread runs, or the first caller that takes it.

    A `threading.Thread` runs lines of Python where it is dropped, as `__del__` does: a Ctrl-C that comes there is lost.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        #: Held from the moment on at which it is certain who does the work. The thread that does it releases `ended`, once.
        self._begun, self._ended = allocate_lock(), allocate_lock()
        self._ended.acquire()
        self._works = [work]
        #: What the work has raised, or None. To put it here takes no memory.
        self._outcomes: list[Union[BaseException, None]] = [_PENDING]

    def start(self) -> bool:
        """False where there is no room for a thread, or the interpreter ends."""
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
        """Whether nobody has begun with the work. Then it is for the caller to do, or is left."""
        return self._begun.acquire(False)

    def work(self) -> None:
        # Keep no reference when it is done: otherwise its thread would be the last to hold the result.
        self._works.pop()()

    def has_begun(self) -> bool:
        """Waits until it has begun; where it has not for a while, it does not any more."""
        deadline, pause = monotonic() + _START_SECONDS, 0.00005
        while not self._begun.locked() and monotonic() < deadline:
            sleep(pause)
            pause = min(2 * pause, 0.01)
        return not self.take()

    def has_ended(self) -> bool:
        """Waits for its end; False where it has not even begun for a while."""
        while not self._ended.acquire(True, _START_SECONDS):
            if not self._begun.locked():
                return False
        return True

    def cancel(self) -> None:
        """It is not begun from now on, or has ended."""
        while not self.take() and self._outcomes[0] is _PENDING:
            self._ended.acquire(True, _START_SECONDS)

    def raise_outcome(self) -> None:
        outcome = self._outcomes.pop()
        try:
            if outcome is not None:
                raise outcome
        finally:
            del outcome  # Its traceback has this frame.


def _undisturbed(work: Callable[[], None]) -> None:
    """Does the work in a thread of its own. Handlers of signals run in the main thread alone, so none interrupts the work.

    One may interrupt this call, as Ctrl-C does. Then the work is not begun, or it is done when that is raised. Where no thread
    comes to it, this one does the work.
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
    """Starts a thread, if there is room for one; `await_end` takes what it returns."""
    thread = _Thread(work)
    thread.start()
    return thread


def await_end(thread: _Thread) -> None:
    """Waits for the end of the work, and raises what it has raised. If no thread has begun with it, nobody does it."""
    if thread.take():
        return
    # Ctrl-C of Windows does not end a wait: it comes in between.
    while not thread.has_ended():
        pass
    thread.raise_outcome()


class _Reference(ref):  # type: ignore[type-arg]
    """Has a method that is made of C."""

    start: Callable[[], int]


#: What `when_dropped` waits for.
_endings: dict[_Reference, Callable[[], None]] = {}


def when_dropped(thing: object, work: Callable[[], None]) -> Callable[[], None]:
    """The work is done when the thing is dropped, or Python ends, or what this returns is called. It may be done twice.

    Where the thing is dropped, C starts a thread, and no line of Python runs, as one of `weakref.finalize` would.
    """
    reference = _Reference(thing, methodcaller("start"))

    def end() -> None:
        work()
        _endings.pop(reference, None)
        reference.start = int  # It does nothing.

    reference.start = partial(start_new_thread, end, ())
    _endings[reference] = end
    return end


@atexit.register
def _end_all() -> None:
    for end in list(_endings.values()):
        end()


class Home:
    """A directory for temporary files. It goes with the object, and only in the process that made it."""

    def __init__(self) -> None:
        import tempfile

        owner = os.getpid()

        def make() -> None:
            name = self.name = tempfile.mkdtemp(prefix="bpe-")
            self._end = when_dropped(self, lambda: _remove(name, owner))

        _undisturbed(make)

    def cleanup(self) -> None:
        _undisturbed(self._end)


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:
        import shutil

        shutil.rmtree(path, ignore_errors=True)


#: Windows has no name for it.
_SIGKILL = 9
#: Up to this many characters, tokens are passed as arguments, which fit on every system.
_TYPED_CHARACTERS = 1 << 15


#: A program that is refused memory ends by one of these: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV.
_CRASHES = (4, 5, 6, 7, 10, 11)


def ended_by(signal: int) -> BpeError:
    """What to say of a run that a signal ended: with the limits of memory, if there are any and it may have met them."""
    said = f"bpe was ended by signal {signal}"
    if signal not in _CRASHES or sys.platform == "win32":
        return BpeError(said)
    import resource

    limits = [
        f"{name} is {soft / 1e6:,.0f} MB"
        for name in ("RLIMIT_AS", "RLIMIT_DATA")
        if (soft := resource.getrlimit(getattr(resource, name))[0]) != resource.RLIM_INFINITY
    ]
    if not limits:
        return BpeError(said)
    return BpeError(f"{said}; memory is limited ({', '.join(limits)})\nhint: raise the limit (ulimit -v, ulimit -d)")


def _too_long(command: Sequence[str]) -> BpeError:
    longest = max(command, key=len)
    if len(longest) > _TYPED_CHARACTERS:
        return BpeError(f"{longest[:60]!r}… has {len(longest)} characters: more than this system takes as an argument")
    return BpeError(
        f"{len(command) - 1} arguments are more than this system takes"
        "\nhint: name a directory or a glob instead of many files"
    )


def _environment() -> dict[str, str]:
    """Messages of the executable name parameters of this package instead of options (src/terminal/caller.ts)."""
    return {**os.environ, "BPE_CALLER": "python"}


class Run:
    """A run of `bpe`, of the process that began it: in a forked child it can be neither heard nor ended.

    Its stdin is a pipe or empty, its stdout a pipe or goes nowhere, and its stderr must be read. The caller has the
    object before the process starts, and so can `abandon` it wherever Ctrl-C strikes.
    """

    stdin: Union[IO[bytes], None] = None
    stdout: Union[IO[bytes], None] = None
    stderr: IO[bytes]

    def __init__(self, arguments: Sequence[str], *, takes_input: bool = False, answers: bool = False) -> None:
        #: Where lists are that the arguments name.
        self._lists: Union[Home, None] = None
        self._command = [find_executable(), *self._fitting(arguments)]
        self._takes_input, self._answers = takes_input, answers
        self._owner = os.getpid()
        #: Before the start as if it had ended; None while it runs.
        self._exit_code: Union[int, None] = 0
        self._reaping = allocate_lock()
        #: This process's ends of its pipes.
        self._streams: list[IO[bytes]] = []

    def start(self) -> None:
        _undisturbed(self._popen if sys.platform == "win32" else self._spawn)

    def abandon(self) -> None:
        """Ends it, if it runs."""
        _undisturbed(self._abandon)

    def _abandon(self) -> None:
        self.stop()
        self.close()

    def _fitting(self, arguments: Sequence[str]) -> list[str]:
        """The arguments as the system takes them: tokens that are too many or too long, or have zero bytes, are in a file."""
        fitting = list(arguments)
        for option in ("--special-token", "--seed-token"):
            end = fitting.index("--") if "--" in fitting else len(fitting)
            places = [i for i in range(end) if fitting[i].startswith(f"{option}=")]
            tokens = [fitting[i][len(option) + 1 :] for i in places]
            if sum(map(len, tokens)) <= _TYPED_CHARACTERS and not any("\0" in token for token in tokens):
                continue
            import json

            self._lists = self._lists or Home()
            path = os.path.join(self._lists.name, f"{option[2:]}s.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(tokens, file, ensure_ascii=False)
            listed = set(places)
            fitting = [each for i, each in enumerate(fitting) if i not in listed]
            fitting.insert(places[0], f"{option}s={path}")
        for argument in fitting:
            if "\0" in argument:
                raise BpeError(f"{argument[:200]!r} has a zero byte, which no path and no option of a program can have")
        return fitting

    def plain(self, message: str) -> str:
        """A message without the files that nobody knows of."""
        if self._lists is not None:
            import re

            message = message.replace(f"{self._lists.name}{os.sep}", "")
            message = re.sub(r'(special|seed)_tokens(?:_file)?=\\?"\1-tokens\.json\\?"', r"\1_tokens", message)
        return message

    def _popen(self) -> None:
        import subprocess

        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE if self._takes_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE if self._answers else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=_environment(),
            bufsize=0,
        )
        self._exit_code = None
        assert self._process.stderr is not None
        self.stdin, self.stdout, self.stderr = self._process.stdin, self._process.stdout, self._process.stderr
        self._streams = [stream for stream in (self.stdin, self.stdout, self.stderr) if stream is not None]

    def _spawn(self) -> None:
        """As subprocess.Popen, whose module takes longer to load than the executable to start."""
        #: Descriptors that only this call has. An end of a pipe that is ours belongs to its stream alone.
        theirs: list[int] = []

        def end_of_pipe(mode: str) -> IO[bytes]:
            """A new pipe. The other end is the last of theirs."""
            read, write = os.pipe()
            theirs.append(write if mode == "rb" else read)
            # A buffer has a lock. Where another thread holds it in a fork, the child could not even close it.
            stream = open(read if mode == "rb" else write, mode, 0)
            self._streams.append(stream)
            _ends.add(ref(stream, _ends.discard))
            return stream

        with _starting:
            try:
                # Where a standard stream of this process is closed, its number would be given to a pipe.
                while not theirs or theirs[-1] <= 2:
                    theirs.append(os.open(os.devnull, os.O_RDWR))
                stdin = stdout = theirs[-1]
                self.stderr, stderr = end_of_pipe("rb"), theirs[-1]
                if self._takes_input:
                    self.stdin, stdin = end_of_pipe("wb"), theirs[-1]
                if self._answers:
                    self.stdout, stdout = end_of_pipe("rb"), theirs[-1]
                actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate((stdin, stdout, stderr))]
                # Ctrl-C is for the program that uses a tokenizer, not for the tokenizer: it has a group of its own.
                group: dict[str, Any] = {"setpgroup": 0} if self._answers else {}
                program = self._command[0]
                self._pid = os.posix_spawn(program, self._command, _environment(), file_actions=actions, **group)
                self._exit_code = None
            except BaseException as error:
                self.close_pipes()
                import errno

                if isinstance(error, OSError) and error.errno == errno.E2BIG:
                    raise _too_long(self._command) from None
                if isinstance(error, OSError) and error.errno == errno.ENOMEM:
                    raise MemoryError("there is no memory to start bpe") from None
                raise
            finally:
                for fd in theirs:
                    os.close(fd)

    def write(self, data: Union[bytes, bytearray]) -> None:
        """Gives it all of the data."""
        assert self.stdin is not None
        rest = memoryview(data)
        while rest:
            rest = rest[self.stdin.write(rest) :]

    def said(self) -> Iterator[bytes]:
        """The lines of its stderr, as they come."""
        line = b""
        while part := self.stderr.read(1 << 16):
            *lines, line = (line + part).split(b"\n")
            yield from lines
        if line:
            yield line

    @property
    def is_ours(self) -> bool:
        """Whether this process began it."""
        return os.getpid() == self._owner

    def wait(self) -> int:
        """Waits for its end, so that Ctrl-C is served; its exit code, of a signal a number below 0."""
        if not self.is_ours:
            raise BpeError("a run of bpe belongs to the process that started it, and this process was forked from that one")
        if sys.platform == "win32":
            self._await(sys.float_info.max)
        else:
            self._has_ended(0)
        assert self._exit_code is not None
        return self._exit_code

    def _await(self, seconds: float) -> None:
        deadline, pause = monotonic() + seconds, 0.0002
        while not self._has_ended() and monotonic() < deadline:
            sleep(pause)
            pause = min(2 * pause, 0.02)

    def _has_ended(self, options: int = getattr(os, "WNOHANG", 0)) -> bool:
        with self._reaping:
            if self._exit_code is not None:
                pass
            elif sys.platform == "win32":
                self._exit_code = self._process.poll()
            else:
                try:
                    pid, status = os.waitpid(self._pid, options)
                    self._exit_code = None if pid == 0 else os.waitstatus_to_exitcode(status)
                except ChildProcessError:
                    # This process ignores SIGCHLD, or reaps all its children: rely on the output alone.
                    self._exit_code = 0
        return self._exit_code is not None

    def finish(self, text: bytes = b"") -> bytes:
        """Starts it, writes a text to its stdin if it takes one, and waits for its end.

        Returns what it has written to stdout, if that is a pipe. BpeError where it failed.
        """
        parts: list[bytes] = []
        try:
            self.start()
            if self.stdin is not None:
                try:
                    self.write(text)
                except OSError:
                    pass  # It has ended, and says why.
                self.stdin.close()
            while self.stdout is not None and (part := self.stdout.read(1 << 20)):
                parts.append(part)
            said = self.stderr.read().decode("utf-8", "replace")
            exit_code = self.wait()
            self.close()
        except BaseException:
            self.abandon()
            raise
        if exit_code < 0:
            raise ended_by(-exit_code)
        if exit_code != 0:
            raise BpeError(self.plain(message_of(said)))
        return b"".join(parts)

    def stop(self) -> None:
        """Interrupts it as Ctrl-C does, so that it cleans up."""
        self._send(_signal.SIGINT)

    def terminate(self) -> None:
        """Asks it to end. Another thread may be waiting for its answer, and finds that it has ended."""
        self._send(_signal.SIGTERM)

    def _send(self, number: int) -> None:
        if self._exit_code is None and self.is_ours:
            try:
                if sys.platform == "win32":
                    self._process.terminate()
                else:
                    os.kill(self._pid, number)
            except ProcessLookupError:
                pass

    def end(self, patience_seconds: float = 1.0) -> int:
        """Waits for its end, but not for long: then it is ended, also where it is stopped (SIGSTOP). Its exit code."""
        if not self.is_ours:
            return 0
        for _ in range(2):
            self._await(patience_seconds)
            self._send(_SIGKILL)
        return self._exit_code or 0

    def close_pipes(self) -> None:
        """Closes its pipes, whatever they still hold, and removes the lists that it has read."""
        if self._lists is not None:
            self._lists.cleanup()
        for stream in self._streams:
            try:
                stream.close()
            except OSError:
                pass

    def close(self) -> None:
        """Closes its pipes and waits for its end."""
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


__all__ = ["BpeError", "Home", "Later", "Run", "await_end", "find_executable", "in_thread", "main", "message_of", "when_dropped"]
