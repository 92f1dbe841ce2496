"""`python bench/peers/compare.py FILE`: compares `bpe` with the installed rivals on your own file.

Each run is a separate process (work.py), and the rows of a table take turns. docs/speed.md says what is compared, and how.
"""

from __future__ import annotations

import argparse
import codecs
import importlib.util
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from importlib import metadata
from typing import Any, Iterator

from bpe_trainer import BpeError, __version__
from bpe_trainer._training import _escape as shown

WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "work.py")
RIVALS = ("tokenizers", "gigabpe", "gigatoken", "rustbpe", "bpeasy", "ffbpe", "tiktoken", "fastokens", "tokie", "snaptokens", "tuetoken")
#: Libraries whose call returns a list of ids.
LISTS = ("bpe", "tokenizers", "tiktoken", "fastokens", "tokie", "snaptokens", "tuetoken", "gigatoken")
#: Libraries whose call returns an array of ids.
ARRAYS = ("bpe, arrays", "gigatoken, arrays", "fastokens, arrays", "tuetoken, arrays")
#: Patterns that have a boundary wherever `texts_of` of work.py cuts.
PATTERNS = ("gpt2", "cl100k", "gpt4", "o200k", "llama3", "qwen2")
#: If the first run of a row takes longer, the row is not run again.
LONG_SECONDS = 60.0
QUICK_BYTES = 10_000_000
#: The tables: a title, the work, the rule for merges, and the libraries.
TABLES = (
    ("train, as HF does", "train", "huggingface", ("bpe", "tokenizers", "gigabpe", "gigatoken", "ffbpe")),
    ("train, as rustbpe", "train", "rustbpe", ("bpe", "rustbpe", "gigatoken", "bpeasy")),
    ("encode, a batch", "batch", "huggingface", (*LISTS, *ARRAYS)),
    ("encode it again", "again", "huggingface", (*LISTS, *ARRAYS)),
    *((f"calls of {length}", f"calls-{length}", "huggingface", (*LISTS, ARRAYS[1])) for length in (20, 200, 2000)),
    ("encode, the file", "file", "huggingface", ARRAYS[:2]),
)
WORKS = ("train", "batch", "again", "calls", "file")


class Failed(Exception):
    """Raised if the comparison cannot continue: the file is wrong, or `bpe` failed."""


class Row:
    """One library with one kind of work, and its runs."""

    def __init__(self, library: str) -> None:
        self.library = library
        self.runs: list[dict[str, Any]] = []
        #: The outcome as a text, such as "same ids", or why there is no result.
        self.verdict = ""
        #: Whether the result is that of `bpe`; None if one of the two is missing.
        self.is_right: bool | None = None

    def values(self, name: str) -> list[float]:
        return [run[name] for run in self.runs if run[name] is not None]

    def median(self, name: str) -> float | None:
        values = self.values(name)
        return statistics.median(values) if values else None


def verdict_of(work: str, theirs: list[str], ours: list[str]) -> tuple[bool, str]:
    what = "merges" if work == "train" else "ids"
    if not any(" " in merge for merge in theirs):
        ours = [merge.replace(" ", "") for merge in ours]  # Some libraries only tell the tokens, not their halves.
    if theirs == ours:
        return True, f"same {what}"
    number = next((i for i, (left, right) in enumerate(zip(theirs, ours), 1) if left != right), None)
    if number is None:
        return False, f"OTHER {what.upper()}: {len(theirs):,}, not {len(ours):,}"
    return False, f"OTHER {what.upper()} from {'' if work == 'train' else 'text '}{number:,} on"


def use_file(path: str, home: str, is_quick: bool) -> tuple[str, int, int]:
    """Makes text.txt in `home`: a link to the file, or a copy of its beginning.

    Returns the path of text.txt, its size in bytes, and how many of the 256 byte values occur in it. Reads it into the
    page cache.
    """
    given, link = f'"{shown(path)}"', os.path.join(home, "text.txt")
    decoder = codecs.getincrementaldecoder("utf-8")()
    size, seen = 0, b""
    try:
        if not os.path.isfile(path):
            raise Failed(f"{given} is not a regular file" if os.path.lexists(path) else f"{given}: no such file")
        if is_quick and os.path.getsize(path) > QUICK_BYTES:
            with open(path, "rb") as file, open(link, "wb") as out:
                data = file.read(QUICK_BYTES)
                # Write up to the end of the last line or, if there is no line feed, of the last whole character.
                out.write(data[: data.rfind(b"\n") + 1 or codecs.utf_8_decode(data)[1]])
        else:
            os.symlink(os.path.realpath(path), link)
        with open(link, "rb") as file:
            while data := file.read(1 << 20):
                decoder.decode(data)
                seen += bytes(set(data.translate(None, seen)))
                size += len(data)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise Failed(f"{given} is not UTF-8 near byte {size}: all libraries here take text") from None
    except OSError as error:
        raise Failed(f"{given} cannot be read: {error.strerror}") from None
    if size == 0:
        raise Failed(f"{given} is empty")
    return link, size, len(seen)


class Bench:
    """Schedules the runs, and collects their results."""

    def __init__(self, options: argparse.Namespace, home: str) -> None:
        self.options, self.home = options, home
        self.file, self.bytes, self.byte_count = use_file(options.file, home, options.quick)
        self.threads: int = options.threads or _cores()
        self.versions = installed(options.only)

    def measured(self) -> Iterator[tuple[str, str, list[Row]]]:
        """Yields each table as soon as it is measured, for the rivals that are installed."""
        for title, work, rule, libraries in TABLES:
            rows = [Row(name) for name in libraries if name.partition(",")[0] in ("bpe", *self.versions)]
            if work == "train" and (rule == "huggingface" or len(rows) > 1):
                # An untimed training makes a tokenizer for the runs below.
                self._expect(self._run(work, rule, "bpe", os.path.join(self.home, rule)))
            if work.partition("-")[0] not in self.options.work or (rule == "rustbpe" and len(rows) == 1):
                continue
            try:
                self._take_turns(title, work, rule, rows)
            finally:
                self._say("")
            yield title, work, rows

    def _take_turns(self, title: str, work: str, rule: str, rows: list[Row]) -> None:
        ours: list[str] = []
        for turn in range(self.options.runs):
            # In the first turn, `bpe` runs first, so that there is a result to compare with.
            first = turn % len(rows)
            for row in rows[first:] + rows[:first]:
                if (turn > 0 and not row.runs) or (row.runs and row.runs[0]["seconds"] > LONG_SECONDS):
                    continue
                self._say(f"{title}: {row.library}, run {turn + 1} of {self.options.runs}")
                answer = self._run(work, rule, row.library, os.path.join(self.home, "output"))
                if "found" not in answer:
                    if row is rows[0] and "numpy" not in answer["problem"]:
                        self._expect(answer)
                    row.runs, row.is_right, row.verdict = [], None, answer["problem"]
                    continue
                found = answer.pop("found")
                row.runs.append({**answer, "texts": len(found)})
                if row is rows[0] and turn == 0:
                    ours, row.is_right, row.verdict = found, True, f"{len(found):,} {'merges' if work == 'train' else 'texts'}"
                elif not rows[0].runs:
                    row.verdict = "nothing to compare it with"
                elif row is not rows[0] and row.is_right is not False:
                    row.is_right, row.verdict = verdict_of(work, found, ours)
                elif row is rows[0] and found != ours:
                    raise Failed("bpe gave different results in two runs")

    def _expect(self, answer: dict[str, Any]) -> None:
        """Raises `Failed` with the message of `bpe` if there is no result. The message names the file as the caller did.

        The hint of `bpe` is left out, because it names options that this program lacks.
        """
        if "found" not in answer:
            said = answer["problem"].replace("failed: BpeError: ", "").split("\nhint: ")[0]
            raise Failed("bpe: " + said.replace(self.file, shown(self.options.file)))

    def _run(self, work: str, rule: str, library: str, output: str) -> dict[str, Any]:
        answer, said = os.path.join(self.home, "answer.json"), os.path.join(self.home, "said")
        special = self.options.special_token
        request = {
            **{"work": work, "rule": rule, "library": library, "file": self.file, "byte_count": self.byte_count},
            **{"vocab_size": self.options.vocab_size, "pattern": self.options.pattern, "special_token": special},
            **{"special_tokens": [special] if special else [], "threads": self.threads, "workers": self.options.threads},
            **{"tokenizer": os.path.join(self.home, rule), "output": output, "answer": answer},
        }
        # TMPDIR is set, so that the files that an interrupted run leaves are in `home`, which is deleted.
        environment = {**os.environ, "RAYON_NUM_THREADS": str(self.threads), "TMPDIR": self.home}
        shutil.rmtree(os.path.join(self.home, "output"), ignore_errors=True)
        if os.path.exists(answer):
            os.remove(answer)
        command = [sys.executable, WORK, json.dumps(request)]
        with open(said, "wb") as out, subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, start_new_session=True
        ) as process:
            try:
                process.wait(self.options.timeout)
            except subprocess.TimeoutExpired:
                return {"problem": f"stopped after {self.options.timeout:g} s (--timeout)"}
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        try:
            with open(answer, encoding="ascii") as file:
                found: dict[str, Any] = json.load(file)
            return found
        except (OSError, ValueError):
            with open(said, encoding="utf-8", errors="replace") as file:
                last = ([line.strip() for line in file if line.strip()] or [""])[-1]
            return {"problem": f"ended with exit code {process.returncode}{last and ': '}{last}"}

    def _say(self, what: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{what}")
            sys.stderr.flush()


def factor(row: Row, rows: list[Row]) -> float | None:
    """Returns the time of a row divided by that of `bpe`; None unless both have results that are the same."""
    theirs, own = row.median("seconds"), rows[0].median("seconds")
    return theirs / own if row.is_right and theirs is not None and own else None


def table(title: str, work: str, rows: list[Row]) -> Iterator[str]:
    """Yields the lines of a table for display."""
    yield f"{title:<19}{'time':>11}{'range':>16}{'processor':>11}{'memory':>10}{'x bpe':>8}"
    for row in rows:
        if not row.runs:
            yield f"  {row.library:<17}  {shown(row.verdict)}"
            continue
        times, processor, of_ours = row.values("seconds"), row.median("processorSeconds"), factor(row, rows)
        each = row.runs[0]["texts"] if work.startswith("calls-") else 0
        cells = (
            _time(statistics.median(times), each),
            "1 run" if len(times) == 1 else f"{_time(min(times), each).split()[0]}-{_time(max(times), each).split()[0]}",
            "-" if processor is None else _time(processor, each),
            f"{max(row.values('peakMemoryBytes'), default=0) / 1e6:,.0f} MB",
            "-" if of_ours is None else f"{of_ours:.2f}" if of_ours < 10 else f"{of_ours:.0f}",
        )
        yield f"  {row.library:<17}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, (11, 16, 11, 10, 8))) + f"  {row.verdict}"


def _time(seconds: float, each: int = 0) -> str:
    """Formats a time; for several texts, divides it by their number."""
    if each > 0:
        return f"{seconds / each * 1e6:,.1f} us"
    return f"{seconds:.{4 if seconds < 0.01 else 3 if seconds < 1 else 2 if seconds < 10 else 1}f} s"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def installed(names: tuple[str, ...]) -> dict[str, str]:
    """Returns the versions of the installed libraries, without importing them.

    A directory that merely has a library's name does not count: its spec has no `origin`.
    """
    found: dict[str, str] = {}
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                found[name] = "of unknown version"
    return found


def run(options: argparse.Namespace, home: str) -> None:
    bench = Bench(options, home)
    tables = []
    facts = {
        **{"file": shown(os.path.basename(options.file)), "bytes": bench.bytes, "vocabularySize": options.vocab_size},
        **{"pattern": options.pattern, "specialToken": options.special_token, "runs": options.runs},
        **{"threads": bench.threads, "cores": _cores(), "python": sys.version.split()[0], "bpe": __version__},
        **{"installed": bench.versions, "notInstalled": [name for name in options.only if name not in bench.versions]},
    }
    if not options.json:
        print(*(f"{name}: {value}" for name, value in facts.items()), sep="\n", flush=True)
    for title, work, rows in bench.measured():
        if not options.json:
            print("", *table(title, work, rows), sep="\n", flush=True)
        summed = [
            {
                **{"name": row.library, "isRight": row.is_right, "verdict": row.verdict, "seconds": row.values("seconds")},
                **{"medianSeconds": row.median("seconds"), "processorSeconds": row.median("processorSeconds")},
                **{"texts": row.runs[0]["texts"] if row.runs else None, "peakMemoryBytes": max(row.values("peakMemoryBytes"), default=None), "timesOurs": factor(row, rows)},
            }
            for row in rows
        ]
        tables.append({"title": title, "work": work, "rows": summed})
    if options.json:
        print(json.dumps({**facts, "tables": tables}, indent=2), flush=True)
    else:
        print("\nx bpe: the time divided by that of bpe; below 1 the other is faster.", flush=True)


def _number(least: int) -> Any:
    def number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least {least}")
        return int(text)

    return number


def _names(known: tuple[str, ...]) -> Any:
    def names(text: str) -> tuple[str, ...]:
        for name in text.split(","):
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return tuple(text.split(","))

    return names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Trains and encodes with bpe and the rivals that are installed here, each in a process of its "
        "own, checks that the results are the same, and prints times, processor times and peaks of memory.",
    )
    parser.add_argument("file", help="plain text in UTF-8")
    parser.add_argument("-n", "--vocab-size", type=_number(257), default=32_000, metavar="N", help="default: 32000")
    parser.add_argument("-p", "--pattern", choices=PATTERNS, default="gpt2", help="default: gpt2")
    parser.add_argument("-s", "--special-token", default="", metavar="TEXT", help="ends a document, as <|endoftext|> does")
    parser.add_argument("--runs", type=_number(1), metavar="N", help="of each (default: 3)")
    parser.add_argument("--threads", type=_number(1), metavar="N", help="for all (default: as many as there are cores)")
    parser.add_argument("--only", type=_names(RIVALS), default=RIVALS, metavar="NAME,...", help="only these rivals")
    parser.add_argument("--work", type=_names(WORKS), default=WORKS, metavar="NAME,...", help=f"only these of {', '.join(WORKS)}")
    parser.add_argument("--timeout", type=_number(1), default=600, metavar="SECONDS", help="of a run (default: 600)")
    parser.add_argument("--quick", action="store_true", help="the first 10 MB, one run")
    parser.add_argument("--json", action="store_true", help="one JSON object in place of tables")
    return parser


def main() -> int:
    options = _parser().parse_args()
    options.runs = options.runs or (1 if options.quick else 3)
    for stream in (sys.stdout, sys.stderr):
        # The terminal's encoding may lack a letter of the file's name.
        getattr(stream, "reconfigure")(errors="backslashreplace")
    # Raises SystemExit, so that `finally` blocks run.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with tempfile.TemporaryDirectory(prefix="bpe-bench-") as home:
            run(options, home)
        return 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of stdout has closed it. Discard buffered output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (Failed, BpeError, OSError) as error:
        print(f"compare.py: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
