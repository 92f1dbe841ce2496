"""Where the executable of this package is, and how it is run.

`import bpe` loads what a training needs before the executable runs, and no more: typing, pathlib and subprocess would
cost as much as the rest of Python's start, each. So annotations are not evaluated here, and their names are for checkers.
"""

from __future__ import annotations

import os
import sys
import sysconfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Iterator, Sequence, Union


class BpeError(Exception):
    """What `bpe` refused, or could not do: its own message, with its hint."""


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
    """Where pip puts scripts: of this environment, of the user, and beside a package that was installed with --target."""
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


class Run:
    """A run of `bpe`. Its stdout goes nowhere, its stdin is a pipe or empty, and its stderr has to be read."""

    stdin: Union[IO[bytes], None] = None
    stderr: IO[bytes]

    def __init__(self, arguments: Sequence[str], *, takes_input: bool = False) -> None:
        command = [find_executable(), *arguments]
        if sys.platform == "win32":
            import subprocess

            source = subprocess.PIPE if takes_input else subprocess.DEVNULL
            self._process = subprocess.Popen(
                command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            assert self._process.stderr is not None
            self.stdin, self.stderr = self._process.stdin, self._process.stderr
        else:
            self._exit_code: Union[int, None] = None
            self._spawn(command, takes_input)

    def _spawn(self, command: list[str], takes_input: bool) -> None:
        """As subprocess.Popen, whose module takes longer to load than the executable to start."""
        theirs: list[int] = []
        ours: list[int] = []
        try:
            # Where a standard stream of this process is closed, its number would be given to a pipe.
            while not theirs or theirs[-1] <= 2:
                theirs.append(os.open(os.devnull, os.O_RDWR))
            stdin = stdout = theirs[-1]
            said, stderr = os.pipe()
            ours.append(said)
            theirs.append(stderr)
            if takes_input:
                stdin, told = os.pipe()
                ours.append(told)
                theirs.append(stdin)
            actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate((stdin, stdout, stderr))]
            self._pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
        except BaseException:
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        self.stderr = open(said, "rb")
        if takes_input:
            self.stdin = open(told, "wb")

    def wait(self) -> int:
        """Waits for its end, so that Ctrl-C is served; its exit code, of a signal a number below 0."""
        if sys.platform == "win32":
            import subprocess

            while True:
                try:
                    return self._process.wait(0.2)
                except subprocess.TimeoutExpired:
                    continue
        if self._exit_code is None:
            try:
                self._exit_code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
            except ChildProcessError:
                # This process ignores SIGCHLD, or reaps all its children: what was said has to do.
                self._exit_code = 0
        return self._exit_code

    def stop(self) -> None:
        """Ends it as Ctrl-C does, so that it leaves nothing behind."""
        if sys.platform == "win32":
            self._process.terminate()
        elif self._exit_code is None:
            import signal

            try:
                os.kill(self._pid, signal.SIGINT)
            except ProcessLookupError:
                pass

    def close(self) -> None:
        """Closes its pipes and waits for its end."""
        for stream in (self.stdin, self.stderr):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        self.wait()


def main() -> int:
    """`python -m bpe`: the command line."""
    executable = find_executable()
    if sys.platform == "win32":
        import subprocess

        return subprocess.call([executable, *sys.argv[1:]])
    os.execv(executable, [executable, *sys.argv[1:]])
    return 1


__all__ = ["BpeError", "Run", "find_executable", "main", "message_of"]
