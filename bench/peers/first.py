"""Measures the first calls of a process: python bench/peers/first.py FILE TOKENIZER.json...

Each run is a separate process, and the libraries take turns. A process loads the tokenizer, encodes a few words so that
threads exist, and waits until they sleep. Then it encodes the first part of the file, the next part, which it has not seen,
and both again. The parts are given as documents of 10,000 characters, or as lines. After that, both are encoded once more,
and these ids are compared with those of `bpe`. Prints processor time and peak memory; with --json, elapsed time as well.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable
from unittest import mock

from usage import measured, peak_memory_bytes

DOCUMENT_CHARACTERS = 10_000
#: A loaded tokenizer: its fastest call for a batch, and a function that turns an answer into arrays of ids.
Loaded = tuple[Callable[[list[str]], Any], Callable[[Any], list[Any]]]


def load_bpe(path: str, threads: int) -> Loaded:
    import bpe_trainer as bpe

    tokenizer = bpe.Tokenizer.load(path)
    return lambda texts: tokenizer.encode_batch(texts, threads=threads, as_array=True), lambda answer: [answer[0]]


def load_gigatoken(path: str, _: int) -> Loaded:
    library: Any = importlib.import_module("gigatoken")
    awkward: Any = importlib.import_module("awkward")
    return library.Tokenizer(path).encode_batch, lambda answer: [awkward.to_numpy(awkward.flatten(answer))]


def load_fastokens(path: str, _: int) -> Loaded:
    library: Any = importlib.import_module("fastokens")
    numpy: Any = importlib.import_module("numpy")
    encode = library.Tokenizer.from_file(path).encode_batch_flat
    return encode, lambda answer: [numpy.frombuffer(answer[0], dtype=numpy.uint32)]


def load_snaptokens(path: str, _: int) -> Loaded:
    library: Any = importlib.import_module("snaptokens")
    tokenizer = library.Tokenizer.from_file(path)
    return (
        lambda texts: tokenizer.encode_batch(texts, add_special_tokens=False),
        lambda answer: [encoding.ids for encoding in answer],
    )


def load_tuetoken(path: str, threads: int) -> Loaded:
    library: Any = importlib.import_module("tuetoken")
    hub: Any = importlib.import_module("huggingface_hub")
    # The library loads only files that it downloads, so its download function is replaced.
    with mock.patch.object(hub, "hf_hub_download", lambda *_, **__: path):
        tokenizer = library.Tokenizer.from_pretrained("local/file")
    return lambda texts: tokenizer.encode_ordinary_to_buffer(texts, threads), lambda answer: [answer["data"]]


def load_tokenizers(path: str, _: int) -> Loaded:
    library: Any = importlib.import_module("tokenizers")
    tokenizer = library.Tokenizer.from_file(path)
    return (
        lambda texts: tokenizer.encode_batch_fast(texts, add_special_tokens=False),
        lambda answer: [encoding.ids for encoding in answer],
    )


LIBRARIES = ("bpe", "gigatoken", "fastokens", "snaptokens", "tuetoken", "tokenizers")
CALLS = ("first", "unseen", "again")


def parts(path: str, size: int, unit: str) -> tuple[list[str], list[str]]:
    """Returns two consecutive parts of a file, of up to `size` characters each, as texts."""
    with open(path, encoding="utf-8", newline="") as file:
        both = [file.read(size), file.read(size)]
    if unit == "lines":
        return both[0].splitlines(keepends=True), both[1].splitlines(keepends=True)
    starts = range(0, size, DOCUMENT_CHARACTERS)
    first, unseen = ([part[at : at + DOCUMENT_CHARACTERS] for at in starts if at < len(part)] for part in both)
    return first, unseen


def wait_until_idle() -> None:
    """Waits until all threads of this process sleep, for at most five seconds. Threads that NumPy starts are busy for some
    0.06 s, which would be counted as time of the first call."""
    for _ in range(100):
        before = time.process_time()
        time.sleep(0.05)
        if time.process_time() - before < 0.001:
            return


def measure(ask: dict[str, Any]) -> dict[str, Any]:
    """Measures this process. The ids are read only after everything has been measured."""
    first, unseen = parts(ask["file"], ask["size"], ask["unit"])
    batch, arrays = globals()[f"load_{ask['library']}"](ask["tokenizer"], ask["threads"])
    batch(["This starts its threads."])
    wait_until_idle()
    calls = {}
    for name, texts in zip(CALLS, (first, unseen, first + unseen)):
        answer, calls[name] = measured(lambda: batch(texts))
        del answer
    peak = peak_memory_bytes()
    numpy: Any = importlib.import_module("numpy")
    found = hashlib.sha256()
    for ids in arrays(batch(first + unseen)):
        found.update(numpy.asarray(ids).astype(numpy.uint32).tobytes())
    return {"calls": calls, "peakMemoryBytes": peak, "ids": found.hexdigest()}


def run(ask: dict[str, Any]) -> dict[str, Any]:
    """Measures in a new process, which writes its answer to a file, because libraries may print to stdout."""
    environment = {**os.environ, "RAYON_NUM_THREADS": str(ask["threads"])}
    with tempfile.NamedTemporaryFile() as answer:
        command = [sys.executable, __file__, "--answer", answer.name, json.dumps(ask)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            last = ([line.strip() for line in done.stderr.splitlines() if line.strip()] or [""])[-1]
            return {"problem": f"exit code {done.returncode}: {last}"}
        measured: dict[str, Any] = json.loads(answer.read())
        return measured


def compare(ask: dict[str, Any], libraries: list[str], runs: int) -> list[dict[str, Any]]:
    """Returns a row for each library. The libraries take turns. One that failed is not run again."""
    answers: dict[str, list[dict[str, Any]]] = {library: [] for library in libraries}
    for turn in range(runs):
        first = turn % len(libraries)
        for library in libraries[first:] + libraries[:first]:
            if not any("problem" in answer for answer in answers[library]):
                answers[library].append(run({**ask, "library": library}))
    ours = next((answer["ids"] for answer in answers["bpe"] if "ids" in answer), None)
    return [row(library, answers[library], ours) for library in libraries]


def row(library: str, answers: list[dict[str, Any]], ours: str | None) -> dict[str, Any]:
    """Returns the medians of a library's runs, and whether all of them gave the ids of `bpe`."""
    problem = next((answer["problem"] for answer in answers if "problem" in answer), None)
    if problem is not None:
        return {"name": library, "problem": problem}
    medians = {
        name: {key: statistics.median(answer["calls"][name][key] for answer in answers) for key in answers[0]["calls"][name]}
        for name in CALLS
    }
    peak = statistics.median(answer["peakMemoryBytes"] for answer in answers)
    is_right = all(answer["ids"] == ours for answer in answers)
    return {"name": library, "isRight": is_right, "calls": medians, "peakMemoryBytes": peak}


def line(row: dict[str, Any]) -> str:
    if "problem" in row:
        return f"  {row['name']:<12}{row['problem']}"
    times = "".join(f"{row['calls'][name]['processorSeconds']:>10.4f}" for name in CALLS)
    return f"  {row['name']:<12}{times}{row['peakMemoryBytes'] / 1e6:>8,.0f} MB  {'same ids' if row['isRight'] else 'OTHER IDS'}"


def main() -> None:
    if sys.argv[1:2] == ["--answer"]:
        answer = measure(json.loads(sys.argv[3]))
        with open(sys.argv[2], "w", encoding="ascii") as file:
            json.dump(answer, file)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="plain text in UTF-8")
    parser.add_argument("tokenizers", nargs="+", metavar="TOKENIZER.json")
    parser.add_argument("--only", default=",".join(LIBRARIES[:-1]), metavar="NAME,...", help=f"of {', '.join(LIBRARIES)}")
    parser.add_argument("--size", type=int, default=10_000_000, metavar="N", help="characters of a part (default: 10000000)")
    parser.add_argument("--units", default="documents,lines", help="default: documents,lines")
    parser.add_argument("--threads", default="1,2", help="default: 1,2")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="of each (default: 5)")
    parser.add_argument("--json", action="store_true", help="one JSON array in place of tables")
    options = parser.parse_args()
    installed = [name for name in options.only.split(",") if name == "bpe" or importlib.util.find_spec(name) is not None]
    libraries = ["bpe", *(name for name in installed if name != "bpe")]
    tables = []
    for tokenizer, unit, threads in itertools.product(options.tokenizers, options.units.split(","), options.threads.split(",")):
        ask = {"file": options.file, "tokenizer": tokenizer, "size": options.size, "unit": unit, "threads": int(threads)}
        rows = compare(ask, libraries, options.runs)
        tables.append({"tokenizer": tokenizer, "unit": unit, "threads": int(threads), "rows": rows})
        if not options.json:
            print(f"\n{tokenizer}, {unit}, {threads} thread{'s' if threads != '1' else ''}: processor seconds of each call")
            print(f"  {'':<12}" + "".join(f"{name:>10}" for name in CALLS) + f"{'peak':>11}")
            print(*map(line, rows), sep="\n", flush=True)
    if options.json:
        print(json.dumps(tables, indent=2))


if __name__ == "__main__":
    main()
