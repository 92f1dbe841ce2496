"""Where the executable of this package is, and how it is run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, Sequence


class BpeError(Exception):
    """What `bpe` refused, or could not do: its own message, with its hint."""


def find_executable() -> str:
    """The `bpe` that came with this package."""
    name = "bpe.exe" if sys.platform == "win32" else "bpe"
    # Where pip puts scripts: of this environment, of the user, and beside a package that was installed with --target.
    places = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", f"{os.name}_user"),
        str(Path(__file__).parent.parent / "bin"),
    ]
    for place in places:
        path = os.path.join(place, name)
        if os.path.isfile(path):
            return path
    raise BpeError(f"the executable {name} is not in {', '.join(places)}; install the package again")


def message_of(stderr: str) -> str:
    """The error among the lines of stderr, without the name of the program."""
    lines = [line for line in stderr.splitlines() if not line.startswith("{")]
    for i, line in enumerate(lines):
        if line.startswith("bpe: error: "):
            return "\n".join([line[len("bpe: error: ") :], *lines[i + 1 :]])
    return stderr.strip() or "bpe ended without a word"


def start(arguments: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Starts `bpe` with its arguments."""
    return subprocess.Popen([find_executable(), *arguments], **options)


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ends a run as Ctrl-C does, so that it leaves nothing behind, and waits for its end."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGINT)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None and not stream.closed:
            try:
                stream.close()
            except OSError:
                pass
    process.wait()


def main() -> int:
    """`python -m bpe`: the command line."""
    executable = find_executable()
    if sys.platform == "win32":
        return subprocess.call([executable, *sys.argv[1:]])
    os.execv(executable, [executable, *sys.argv[1:]])
    return 1


__all__ = ["BpeError", "find_executable", "interrupt", "main", "message_of", "start"]
