"""`python -m bpe_trainer.bench FILE`: `bpe` on your own file, beside what is installed here of its rivals.

Each run is a process of its own (_bench_work.py); the rows of a table take turns. What is compared, and how: docs/speed.md.
"""

from __future__ import annotations

import argparse
import codecs
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Iterator, NoReturn, Sequence

from ._bench_work import descendants, memory_bytes
from ._executable import BpeError, find_executable

RIVALS = ("tokenizers", "gigabpe", "gigatoken", "rustbpe", "tiktoken", "sentencepiece")
#: Each has a boundary wherever `texts_of` cuts.
PATTERNS = ("gpt2", "cl100k", "gpt4", "o200k", "llama3", "qwen2")
#: A run that takes longer is not repeated.
LONG_SECONDS = 60.0
QUICK_BYTES = 10_000_000
_HF, _RUSTBPE = "huggingface", "rustbpe"


class Row:
    """One library at one work, and its runs."""

    def __init__(self, work: str, library: str, rule: str = _HF) -> None:
        self.work = work
        self.library = library
        #: Whose merges it has to find.
        self.rule = rule
        self.runs: list[dict[str, Any]] = []
        #: Why there is no result: what failed, and what it does not do.
        self.problem: str | None = None
        #: Whether the result is what it has to be; None: another algorithm, which cannot be.
        self.is_right: bool | None = None
        self.verdict = ""

    @property
    def package(self) -> str:
        return self.library.partition(",")[0]

    @property
    def counts(self) -> bool:
        """Whether its numbers may be compared with ours."""
        return self.problem is None and self.is_right is True and bool(self.runs)

    def values(self, name: str) -> list[float]:
        return [run[name] for run in self.runs if run[name] is not None]

    def median(self, name: str) -> float | None:
        values = self.values(name)
        return statistics.median(values) if values else None


def tables() -> list[list[Row]]:
    """What is compared with each other: the same work, ours first."""
    return [
        [Row("train", library) for library in ("bpe", "tokenizers", "gigabpe", "sentencepiece")],
        [Row("train", library, _RUSTBPE) for library in ("bpe", "rustbpe", "gigatoken")],
        [Row("batch", library) for library in ("bpe", "tokenizers", "tiktoken", *_GIGATOKEN, "sentencepiece")],
        [Row("lines", library) for library in ("bpe", "tokenizers", "tiktoken", "gigatoken", "sentencepiece")],
        [Row("file", library) for library in ("bpe", "gigatoken")],
    ]


#: Its two ways to give the ids of a batch.
_GIGATOKEN = ("gigatoken, lists", "gigatoken, arrays")
TITLES = {
    ("train", _HF): "train, as HF does",
    ("train", _RUSTBPE): "train, as rustbpe",
    ("batch", _HF): "encode, a batch",
    ("lines", _HF): "encode, each line",
    ("file", _HF): "encode, the file",
}


class Failed(Exception):
    """What ends the whole: the file, or `bpe` itself."""


class Text:
    """The file, as all get it: a path that says nothing of its content, text in UTF-8."""

    def __init__(self, path: str, home: str, is_quick: bool) -> None:
        self.given = path
        self.path = os.path.join(home, "text.txt")
        try:
            if os.path.isdir(path):
                raise Failed(f"{_shown(path)} is a directory: give one file")
            if not os.path.isfile(path):
                what = "is no regular file" if os.path.lexists(path) else "no such file"
                raise Failed(f"{_shown(path)}: {what}" if what == "no such file" else f"{_shown(path)} {what}")
            if is_quick and os.path.getsize(path) > QUICK_BYTES:
                self._cut(path)
            else:
                self._link(path)
            self.bytes, self.byte_count = self._look()
        except OSError as error:
            raise Failed(f"{_shown(path)} cannot be read: {error.strerror}") from None
        self._seen = self._stats()

    def _link(self, path: str) -> None:
        try:
            os.symlink(os.path.realpath(path), self.path)
        except OSError:
            shutil.copyfile(path, self.path)

    def _cut(self, path: str) -> None:
        """The first bytes, to the end of a line or at least of a character."""
        with open(path, "rb") as file:
            data = file.read(QUICK_BYTES)
        end = data.rfind(b"\n") + 1
        if end == 0:
            try:
                end = codecs.utf_8_decode(data)[1]
            except UnicodeDecodeError:
                end = len(data)
        with open(self.path, "wb") as out:
            out.write(data[:end])

    def _look(self) -> tuple[int, int]:
        """Its size, and how many of the 256 bytes it has. So it is in the page cache before the first run, too."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        size, seen = 0, b""
        with open(self.path, "rb") as file:
            while data := file.read(1 << 20):
                try:
                    decoder.decode(data)
                except UnicodeDecodeError as error:
                    raise self._not_utf8(size + error.start) from None
                seen += bytes(set(data.translate(None, seen)))
                size += len(data)
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise self._not_utf8(size) from None
        if size == 0:
            raise Failed(f"{_shown(self.given)} is empty")
        return size, len(seen)

    def _not_utf8(self, position: int) -> Failed:
        return Failed(f"{_shown(self.given)} is not UTF-8 near byte {position}: all libraries here take text")

    def _stats(self) -> tuple[int, int]:
        stats = os.stat(self.path)
        return stats.st_size, stats.st_mtime_ns

    def check_unchanged(self) -> None:
        try:
            is_same = self._stats() == self._seen
        except OSError:
            is_same = False
        if not is_same:
            raise Failed(f"{_shown(self.given)} changed during the runs")


class Bench:
    """The runs: who has the turn, how long and how large they may be, and what they found."""

    def __init__(self, options: argparse.Namespace, home: str, text: Text, versions: dict[str, str]) -> None:
        self.options = options
        self.home = home
        self.text = text
        self.versions = versions
        self.threads: int = options.threads or _cores()
        self.tokenizers = os.path.join(home, "tokenizers")
        os.mkdir(self.tokenizers)
        #: The merges that our first training of a rule gave.
        self.merges: dict[str, list[str]] = {}

    def tables(self) -> list[list[Row]]:
        """Ours, and of the rivals those that are here."""
        found = [[row for row in rows if row.package in ("bpe", *self.versions)] for rows in tables()]
        return [rows for rows in found if rows[0].rule == _HF or len(rows) > 1]

    def prepare(self, rules: Sequence[str]) -> None:
        """One training for each rule that is not counted: it gives the tokenizers that all load."""
        for rule in rules:
            row = Row("train", "bpe", rule)
            answer = self._run(row, os.path.join(self.tokenizers, rule))
            if "merges" not in answer:
                raise self._failed(answer["problem"])
            self.merges[rule] = answer["merges"]

    def measure(self, rows: list[Row]) -> None:
        """Runs rows in turns, and says what came out."""
        try:
            self._take_turns(rows)
        finally:
            self._say("")
        self.text.check_unchanged()
        judge(rows, self.merges)
        for row in rows:
            if row.library == "bpe" and row.runs and not row.is_right:
                raise Failed(f"bpe gave different results in two runs: {row.verdict}")

    def _take_turns(self, rows: list[Row]) -> None:
        for turn in range(self.options.runs):
            first = turn % len(rows)
            for row in rows[first:] + rows[:first]:
                if row.problem is not None or (turn > 0 and row.runs[0]["seconds"] > LONG_SECONDS):
                    continue
                self._say(f"{TITLES[row.work, row.rule]}: {row.library}, run {turn + 1} of {self.options.runs}")
                output = os.path.join(self.home, "output")
                answer = self._run(row, output)
                shutil.rmtree(output, ignore_errors=True)
                if "seconds" in answer:
                    row.runs.append(answer)
                else:
                    row.problem = answer.get("cannot") or answer["problem"]
                if row.library == "bpe" and "problem" in answer:
                    raise self._failed(answer["problem"])

    def _failed(self, problem: str) -> Failed:
        """What `bpe` says, of the file as it was named; its hint is of options that are not here."""
        return Failed("bpe: " + problem.split("\nhint: ")[0].replace(self.text.path, _shown_line(self.text.given)))

    def _run(self, row: Row, output: str) -> dict[str, Any]:
        answer, said = os.path.join(self.home, "answer.json"), os.path.join(self.home, "said")
        request = {
            "work": row.work,
            "library": row.library,
            "rule": row.rule,
            "file": self.text.path,
            "vocab_size": self.options.vocab_size,
            "pattern": self.options.pattern,
            "special_token": self.options.special_token,
            "threads": self.threads,
            "is_limited": self.options.threads is not None,
            "byte_count": self.text.byte_count,
            "tokenizers": self.tokenizers,
            "output": output,
            "version": self.versions.get(row.package, ""),
            "answer": answer,
        }
        environment = {
            **os.environ,
            "RAYON_NUM_THREADS": str(self.threads),
            "TOKENIZERS_PARALLELISM": "true",
            # What a run that is ended leaves behind goes with the rest.
            "TMPDIR": self.home,
        }
        command = [sys.executable, "-m", "bpe_trainer._bench_work"]
        if os.path.exists(answer):
            os.remove(answer)
        with open(said, "wb") as out:
            process = subprocess.Popen(
                [*command, json.dumps({**request, "started": time.monotonic()})],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                env=environment,
                start_new_session=True,
            )
            try:
                problem = self._watch(process)
            finally:
                _end(process)
        if problem is not None:
            return {"problem": problem}
        try:
            with open(answer, encoding="ascii") as file:
                found: dict[str, Any] = json.load(file)
            return found
        except (OSError, ValueError):
            return {"problem": _ended(process.returncode, said)}

    def _watch(self, process: subprocess.Popen[bytes]) -> str | None:
        """Waits for a run; why it was ended, if it was."""
        deadline = time.monotonic() + self.options.timeout
        limit: int = self.options.memory_limit
        while True:
            try:
                process.wait(max(0.0, min(0.5, deadline - time.monotonic())))
                return None
            except subprocess.TimeoutExpired:
                pass
            if time.monotonic() >= deadline:
                return f"stopped after {self.options.timeout:g} s (--timeout)"
            if memory_bytes(process.pid) > limit:
                return f"stopped: more than {_megabytes(limit)} in memory (--memory-limit)"

    def _say(self, what: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{what}")
            sys.stderr.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a run and all that it started, if it has not ended."""
    assert process.stdin is not None
    if process.poll() is None:
        if hasattr(os, "killpg"):
            others = descendants(process.pid)
            for end, pid in [(os.killpg, process.pid), *((os.kill, other) for other in others)]:
                try:
                    end(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
        else:
            process.kill()
        process.wait()
    process.stdin.close()


def _ended(exit_code: int, said: str) -> str:
    """Why there is no answer."""
    with open(said, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    last = f": {lines[-1]}" if lines else ""
    if exit_code >= 0:
        return f"ended with exit code {exit_code}{last}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = "a signal"
    hint = ", perhaps for want of memory" if name == "SIGKILL" else ""
    return f"ended by signal {-exit_code} ({name}){hint}{last}"


def judge(rows: Sequence[Row], merges: dict[str, list[str]]) -> None:
    """Says of each row whether its results are what they have to be, in each run."""
    for row in rows:
        if row.problem is not None:
            row.is_right, row.verdict = None, row.problem
            continue
        for run in row.runs:
            if not rows[0].runs:
                row.is_right, row.verdict = None, "nothing to compare it with"
            elif "own" in run:
                row.is_right, row.verdict = None, run["own"]
            elif row.work == "train":
                row.is_right, row.verdict = _same_merges(run, merges[row.rule])
            else:
                row.is_right, row.verdict = _same_ids(run, rows[0].runs[0])
            if not row.is_right:
                break
        if row.library == "bpe" and row.is_right:
            count = len(merges[row.rule]) if row.work == "train" else row.runs[0]["ids"]
            row.verdict = f"{count:,} {'merges' if row.work == 'train' else 'ids'}"


def _same_merges(run: dict[str, Any], ours: list[str]) -> tuple[bool, str]:
    theirs: list[str] = run["merges"] if "merges" in run else run["tokens"]
    if "tokens" in run:
        ours = [merge.replace(" ", "") for merge in ours]
    if theirs == ours:
        return True, "same merges"
    number = next((i for i, (left, right) in enumerate(zip(theirs, ours), 1) if left != right), None)
    if number is None:
        return False, f"OTHER MERGES: {len(theirs):,}, not {len(ours):,}"
    return False, f"OTHER MERGES from {number:,} on"


def _same_ids(run: dict[str, Any], ours: dict[str, Any]) -> tuple[bool, str]:
    if run["digests"] == ours["digests"] and run["ids"] == ours["ids"]:
        return True, "same ids"
    if len(run["digests"]) != len(ours["digests"]):
        return False, f"OTHER IDS: of {len(run['digests']):,} texts, not {len(ours['digests']):,}"
    count = sum(left != right for left, right in zip(run["digests"], ours["digests"]))
    of = "" if len(ours["digests"]) == 1 else f" in {count:,} of {len(ours['digests']):,} texts"
    return False, f"OTHER IDS{of}"


def factor(row: Row, rows: Sequence[Row]) -> float | None:
    """How many times our time it took."""
    theirs, own = row.median("seconds"), rows[0].median("seconds")
    return theirs / own if row.counts and theirs is not None and own else None


#: The columns of which the least is the best.
BEST = ("seconds", "processorSeconds", "peakMemoryBytes")


def best(rows: Sequence[Row], name: str) -> Row | None:
    """The row with the least; none where there is nothing to compare it with."""
    measured = [(value, i) for i, row in enumerate(rows) if row.counts and (value := column(row, name)) is not None]
    return rows[min(measured)[1]] if len(measured) > 1 else None


def column(row: Row, name: str) -> float | None:
    return max(row.values(name), default=None) if name == "peakMemoryBytes" else row.median(name)


def fastest(rows: Sequence[Row]) -> str | None:
    """Who wins, a rival or we, and by how much."""
    winner = best(rows, "seconds")
    if winner is None:
        return None
    # A rival is compared with us, and we with the best of the rivals.
    others = [row for row in rows[1:] if row.counts] if winner is rows[0] else rows[:1]
    next_best = min(others, key=lambda row: row.median("seconds") or 0.0)
    times = (next_best.median("seconds") or 0.0) / (winner.median("seconds") or 1e-9)
    overlap = max(winner.values("seconds")) >= min(next_best.values("seconds"))
    unclear = "; their ranges overlap" if overlap else ""
    return f"Fastest: {winner.library}, {_factor(times)} times as fast as {next_best.library}{unclear}."


_HEADS = ("time", "range", "processor", "memory", "x bpe", "start")
_WIDTHS = (10, 15, 10, 10, 7, 8)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of a table for people."""
    yield f"{TITLES[rows[0].work, rows[0].rule]:<19}" + "".join(f"{head:>{width}}" for head, width in zip(_HEADS, _WIDTHS))
    stars = {name: best(rows, name) for name in BEST}
    for row in rows:
        if not row.runs or row.problem is not None:
            yield f"  {row.library:<17}  {_shown_line(row.verdict)}"
            continue

        def star(name: str, text: str) -> str:
            return f"{text}{'*' if stars[name] is row else ' '}"

        unit = _time if row.work != "lines" else lambda seconds: _micro(seconds / max(1, row.runs[0]["texts"]))
        times = row.values("seconds")
        of_ours = factor(row, rows)
        processor, memory = row.median("processorSeconds"), column(row, "peakMemoryBytes")
        cells = (
            star("seconds", unit(row.median("seconds") or 0.0)),
            "1 run " if len(times) == 1 else f"{unit(min(times)).split()[0]}-{unit(max(times)).split()[0]} ",
            star("processorSeconds", "-" if processor is None else unit(processor)),
            star("peakMemoryBytes", "-" if memory is None else _megabytes(memory)),
            "- " if of_ours is None else f"{_factor(of_ours)} ",
            f"{_time(row.median('startSeconds') or 0.0)}",
        )
        yield f"  {row.library:<17}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS)) + f"  {row.verdict}"
    text = rows[0].median("textMemoryBytes") if rows[0].work in ("batch", "lines") else None
    notes = [fastest(rows), None if text is None else f"Python and the texts alone have {_megabytes(text)}."]
    if any(notes):
        yield " ".join(note for note in notes if note)


def _time(seconds: float) -> str:
    digits = 4 if seconds < 0.01 else 3 if seconds < 1 else 2 if seconds < 10 else 1
    return f"{seconds:.{digits}f} s"


def _micro(seconds: float) -> str:
    micro = seconds * 1e6
    return f"{micro:.1f} us" if micro < 100 else f"{micro:,.0f} us"


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


def _factor(times: float) -> str:
    return f"{times:.2f}" if times < 10 else f"{times:.0f}"


def _shown(text: str) -> str:
    """A name of the file system, between quotes, whatever is in it."""
    return f'"{_shown_line(text)}"'


def _shown_line(text: str, limit: int = 400) -> str:
    shown = "".join(one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode() for one in text)
    return shown if len(shown) <= limit else f"{shown[:limit]} ..."


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _load() -> str:
    """How busy the machine is. Where it is, times are worth little."""
    try:
        return f", load {os.getloadavg()[0]:.1f} before"
    except (OSError, AttributeError):
        return ""


def installed(names: Sequence[str]) -> dict[str, str]:
    """The versions of those that are here; nothing is imported."""
    from importlib import metadata, util

    found: dict[str, str] = {}
    for name in names:
        spec = util.find_spec(name)
        if spec is None or spec.origin is None:
            continue  # A directory of that name in the way has no origin.
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "of unknown version"
    return found


def _own_version() -> str:
    said = subprocess.run([find_executable(), "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return said.split(" (")[0].strip()


def _most_of_memory() -> int:
    """Most of what is free, so that no run drives others out of memory."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return 1 << 62
    return free * 4 // 5


def heading(text: Text, options: argparse.Namespace, bench: Bench, names: Sequence[str]) -> Iterator[str]:
    special = "no special token" if options.special_token is None else f"special token {options.special_token}"
    name = _shown_line(os.path.basename(text.given))
    size = f"{text.bytes / 1e6:,.1f} MB" if text.bytes >= 100_000 else f"{text.bytes:,} bytes"
    what = f"the first {size} of {name}" if text.bytes < os.path.getsize(text.given) else f"{name}, {size}"
    yield f"{what}; vocabulary {options.vocab_size:,}, pattern {options.pattern}, {_shown_line(special)}"
    runs = "1 run" if options.runs == 1 else f"medians of {options.runs} runs in turns"
    python = sys.version.split()[0]
    yield f"{runs}; {bench.threads} threads, {_cores()} cores{_load()}; Python {python}; {_own_version()}"
    yield ", ".join(f"{name} {bench.versions[name]}" for name in names if name in bench.versions) or "no rival is installed"
    yield from (f"{name}: not installed: pip install {name}" for name in names if name not in bench.versions)


def as_json(row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    ids = row.runs[0].get("ids") if row.runs else None
    return {
        "work": row.work,
        "name": row.library,
        "rule": row.rule if row.work == "train" else None,
        "isRight": row.is_right,
        "verdict": row.verdict,
        "seconds": row.values("seconds"),
        "medianSeconds": row.median("seconds"),
        "processorSeconds": row.median("processorSeconds"),
        "peakMemoryBytes": column(row, "peakMemoryBytes"),
        "textMemoryBytes": row.median("textMemoryBytes"),
        "startSeconds": row.median("startSeconds"),
        "timesOurs": factor(row, rows),
        "best": [name for name in BEST if best(rows, name) is row],
        "texts": row.runs[0].get("texts") if row.runs else None,
        "ids": ids,
    }


def run(options: argparse.Namespace, home: str) -> None:
    text = Text(options.file, home, options.quick)
    names = [name for name in RIVALS if name in options.only]
    bench = Bench(options, home, text, installed(names))
    if not options.json:
        print(*heading(text, options, bench, names), sep="\n", flush=True)
    found = bench.tables()
    bench.prepare([rows[0].rule for rows in found if rows[0].work == "train"])
    done: list[dict[str, Any]] = []
    for rows in found:
        bench.measure(rows)
        done.append(
            {"work": rows[0].work, "rows": [as_json(row, rows) for row in rows], "fastest": fastest(rows)}
        )
        if not options.json:
            print("", *table(rows), sep="\n", flush=True)
    if options.json:
        facts = {
            "file": os.path.basename(text.given),
            "bytes": text.bytes,
            "vocabularySize": options.vocab_size,
            "pattern": options.pattern,
            "specialToken": options.special_token,
            "runs": options.runs,
            "threads": bench.threads,
            "cores": _cores(),
            "python": sys.version.split()[0],
            "bpe": _own_version(),
            "installed": bench.versions,
            "notInstalled": [name for name in names if name not in bench.versions],
            "tables": done,
        }
        print(json.dumps(facts, indent=2), flush=True)
    else:
        print("\n* the least of those with the same result. x bpe: their time divided by that of bpe.", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bpe_trainer.bench",
        description="Trains and encodes with bpe and with what is installed here of its rivals, each in a process of its "
        "own, checks that the results are the same, and prints times, processor times and peaks of memory.",
    )
    parser.add_argument("file", help="plain text in UTF-8")
    parser.add_argument("-n", "--vocab-size", type=_number(257), default=32_000, metavar="N", help="default: 32000")
    parser.add_argument("-p", "--pattern", choices=PATTERNS, default="gpt2", help="default: gpt2")
    parser.add_argument("-s", "--special-token", metavar="TEXT", help="ends a document, as <|endoftext|> does")
    parser.add_argument("--runs", type=_number(1), metavar="N", help="of each (default: 3)")
    parser.add_argument("--threads", type=_number(1), metavar="N", help="for all (default: as many as there are cores)")
    parser.add_argument("--only", type=_names, default=RIVALS, metavar="NAME,...", help="only these rivals")
    parser.add_argument("--timeout", type=_number(1), default=600, metavar="SECONDS", help="of a run (default: 600)")
    parser.add_argument("--memory-limit", type=_size, metavar="SIZE", help="of a run, e.g. 8G (default: 80 %% of what is free)")
    parser.add_argument("--quick", action="store_true", help="the first 10 MB, one run")
    parser.add_argument("--json", action="store_true", help="one JSON object in place of tables")
    return parser


def _number(least: int) -> Any:
    def number(text: str) -> int:
        if not text.isascii() or not text.replace("_", "").isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no number of at least {least}")
        return int(text)

    return number


def _size(text: str) -> int:
    number, unit = (text[:-1], text[-1:].upper()) if text[-1:].isalpha() else (text, "")
    if not number.isascii() or not number.isdigit() or unit not in ("", "K", "M", "G") or int(number) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no size, such as 500M or 8G")
    return int(number) << {"": 0, "K": 10, "M": 20, "G": 30}[unit]


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in RIVALS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(RIVALS)}")
    return names


_SIGNALS = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def _stop(number: int, _: object) -> NoReturn:
    """Undone is what is in `finally`, and no second Ctrl-C disturbs that."""
    for name in _SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    raise SystemExit(128 + number)


def main() -> int:
    parser = _parser()
    options = parser.parse_args()
    for stream in (sys.stdout, sys.stderr):
        # A terminal may lack a letter of a file's name.
        getattr(stream, "reconfigure")(errors="backslashreplace")
    options.runs = options.runs or (1 if options.quick else 3)
    options.memory_limit = options.memory_limit or _most_of_memory()
    if options.special_token == "":
        parser.error("--special-token is empty")
    for name in _SIGNALS:
        if signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:
            signal.signal(getattr(signal, name), _stop)
    home = None
    try:
        home = tempfile.mkdtemp(prefix="bpe-bench-")
        run(options, home)
        return 0
    except BrokenPipeError:
        # Whoever read has enough. What is left in a buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (Failed, BpeError, OSError) as error:
        print(f"bpe_trainer.bench: error: {error}", file=sys.stderr)
        return 1
    finally:
        if home is not None:
            shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
