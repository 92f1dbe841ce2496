"""One measured run of `python -m bpe_trainer.bench`, in a process of its own, which bench.py starts.

A job gives the work that is timed, and what its result is compared by. Whatever a job reads, imports and loads before the
work is not in the time. The answer is a JSON file, because libraries print what they like.
"""

from __future__ import annotations

import array
import hashlib
import importlib
import json
import os
import re
import sys
import threading
import time
from typing import Any, Callable, Iterable, Iterator, NamedTuple, NoReturn

from ._characters import character_of
from ._executable import BpeError


class Job(NamedTuple):
    #: What is measured.
    work: Callable[[], Any]
    #: What its result is compared by.
    found: Callable[[Any], dict[str, Any]]
    #: What is done before, so that threads run and memory is there.
    warm: Callable[[], Any] = lambda: None


#: Of a larger file a batch is the beginning: the text and the ids of each library are in memory.
BATCH_CHARACTERS = 128_000_000
#: Texts of a batch have so many characters at least, where the file has places to cut.
TEXT_CHARACTERS = 10_000
#: As many lines are encoded one by one, of so much text at most.
LINES = 20_000
LINES_CHARACTERS = 8_000_000
#: No text in UTF-8 has it, so it cuts nothing.
_NO_SEPARATOR = b"\xff\xff"


class Cannot(Exception):
    """The library does not do this work. That is no failure."""


class Ask:
    """What is to be done: the fields of the request, and what several jobs need of them."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.work: str = fields["work"]
        self.library: str = fields["library"]
        self.rule: str = fields["rule"]
        self.file: str = fields["file"]
        self.vocab_size: int = fields["vocab_size"]
        self.pattern: str = fields["pattern"]
        self.special_token: str | None = fields["special_token"]
        self.threads: int = fields["threads"]
        self.is_limited: bool = fields["is_limited"]
        #: How many of the 256 bytes the file has.
        self.byte_count: int = fields["byte_count"]
        #: Our tokenizers, a directory for each rule; of a training that makes one, where it goes.
        self.tokenizers: str = fields["tokenizers"]
        self.output: str = fields["output"]
        self.version: str = fields["version"]
        self.answer: str = fields["answer"]
        self.started: float = fields["started"]
        #: What is encoded.
        self.texts: list[str] = []

    @property
    def special_tokens(self) -> list[str]:
        return [] if self.special_token is None else [self.special_token]

    @property
    def tokenizer(self) -> str:
        return os.path.join(self.tokenizers, self.rule)

    @property
    def model(self) -> str:
        """SentencePiece's own, which its encoding needs."""
        return os.path.join(self.tokenizers, "sentencepiece.model")

    def regex(self) -> str:
        with open(os.path.join(self.tokenizer, "training.json"), encoding="utf-8") as file:
            return str(json.load(file)["options"]["pattern"]["regex"])

    def special_ids(self) -> list[int]:
        with open(os.path.join(self.tokenizer, "tokenizer.json"), encoding="utf-8") as file:
            return [token["id"] for token in json.load(file)["added_tokens"]]


def documents(path: str, special_token: str | None, limit: int = -1) -> list[str]:
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read(limit)
    return [part for part in text.split(special_token) if part] if special_token else [text]


def texts_of(document: str, least: int = TEXT_CHARACTERS) -> Iterator[str]:
    """Cuts a document behind the end of a line that no white space precedes and a letter follows.

    Each pattern that may be named here has a boundary there, whatever is around it: the ids of the texts are those of the
    document.
    """
    first = 0
    while len(document) - first > 2 * least:
        end = document.find("\n", first + least)
        while 0 <= end < len(document) - 1 and (document[end - 1].isspace() or not document[end + 1].isalpha()):
            end = document.find("\n", end + 1)
        if not 0 <= end < len(document) - 1:
            break
        yield document[first : end + 1]
        first = end + 1
    yield document[first:]


def texts_of_file(ask: Ask, limit: int = -1) -> list[str]:
    return [text for document in documents(ask.file, ask.special_token, limit) for text in texts_of(document)]


def some_lines(ask: Ask) -> list[str]:
    """The first lines with something in them, without their ends."""
    lines: list[str] = []
    for document in documents(ask.file, ask.special_token, LINES_CHARACTERS):
        lines += [line for line in document.split("\n") if line.strip()][: LINES - len(lines)]
    return lines


# Training. Reading the file is a part of it.


def train_bpe(ask: Ask) -> Job:
    import warnings

    import bpe_trainer as bpe

    # A vocabulary that is smaller than asked is said by the number of merges.
    warnings.simplefilter("ignore")

    def work() -> Any:
        return bpe.train(
            [ask.file],
            ask.vocab_size,
            pattern=ask.pattern,
            compat=ask.rule,
            special_tokens=ask.special_tokens,
            workers=ask.threads if ask.is_limited else None,
            output=ask.output,
        )

    def found(_: Any) -> dict[str, Any]:
        with open(os.path.join(ask.output, "tokenizer.json"), encoding="utf-8") as file:
            return {"merges": spelled(json.load(file)["model"]["merges"])}

    return Job(work, found)


def train_tokenizers(ask: Ask) -> Job:
    hf: Any = importlib.import_module("tokenizers")
    if not hasattr(hf, "trainers"):
        raise Cannot(f"{ask.version} has no trainers")
    tokenizer = hf.Tokenizer(hf.models.BPE())
    trainer = hf.trainers.BpeTrainer(
        vocab_size=ask.vocab_size,
        special_tokens=ask.special_tokens,
        initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )

    def warm() -> None:
        # It cuts as our file has it do.
        ours = hf.Tokenizer.from_file(os.path.join(ask.tokenizer, "tokenizer.json"))
        tokenizer.pre_tokenizer = ours.pre_tokenizer

    def work() -> Any:
        if ask.special_token is None:
            tokenizer.train([ask.file], trainer)
        else:
            # Its trainer counts the text of special tokens, so it gets what is between them, by lines as it reads files.
            parts = documents(ask.file, ask.special_token)
            tokenizer.train_from_iterator((line for part in parts for line in re.findall(r"[^\n]*\n|[^\n]+", part)), trainer)
        return tokenizer

    return Job(work, lambda done: {"merges": spelled(json.loads(done.to_str())["model"]["merges"])}, warm)


def train_gigabpe(ask: Ask) -> Job:
    gigabpe: Any = importlib.import_module("gigabpe")
    if ask.pattern != "gpt2":
        raise Cannot("cuts text as gpt2 only")
    # Its vocabulary has the bytes that occur, not all 256.
    vocab_size = ask.vocab_size - 256 + ask.byte_count

    def work() -> Any:
        return gigabpe.train_bpe(
            [ask.file],
            vocab_size,
            special_tokens=ask.special_tokens,
            pretokenizer="bytelevel",
            threads=ask.threads,
        )

    return Job(work, lambda done: {"merges": spelled(done[1])})


def train_rustbpe(ask: Ask) -> Job:
    rustbpe: Any = importlib.import_module("rustbpe")
    tokenizer = rustbpe.Tokenizer()
    vocab_size, regex = ask.vocab_size - len(ask.special_tokens), ask.regex()

    def work() -> Any:
        # It counts texts on all threads, each on one.
        tokenizer.train_from_iterator(iter(texts_of_file(ask)), vocab_size, pattern=regex)
        return tokenizer

    def found(done: Any) -> dict[str, Any]:
        ranks = sorted((rank, bytes(token)) for token, rank in done.get_mergeable_ranks())
        return {"tokens": [letters(token) for _, token in ranks[256:]]}

    return Job(work, found)


def train_gigatoken(ask: Ask) -> Job:
    rust: Any = importlib.import_module("gigatoken.gigatoken_rs")
    if ask.pattern != "gpt2":
        raise Cannot("trains as gpt2 cuts only")
    separator = _NO_SEPARATOR if ask.special_token is None else ask.special_token.encode()

    def work() -> Any:
        return rust.train_bpe(
            ask.file,
            ask.vocab_size,
            ask.special_tokens,
            tie_breaking="raw_token_ids",
            separator=separator,
        )

    return Job(work, lambda done: {"merges": [f"{letters(left)} {letters(right)}" for left, right in done[1]]})


def train_sentencepiece(ask: Ask) -> Job:
    spm: Any = importlib.import_module("sentencepiece")

    def work() -> Any:
        # As near as it comes: all of the text, as it is, and bytes where it knows no character.
        spm.SentencePieceTrainer.train(
            input=[ask.file],
            model_prefix=ask.model[: -len(".model")],
            model_type="bpe",
            vocab_size=ask.vocab_size,
            user_defined_symbols=ask.special_tokens,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            max_sentence_length=1 << 30,
            num_threads=ask.threads,
            minloglevel=2,
        )

    return Job(work, lambda _: {"own": "another algorithm"})


# Encoding: the call for a batch and the one for a line. The texts are in memory before, and the ids are there behind.

Encoders = tuple[Callable[[list[str]], Any], Callable[[str], Any]]


def encode_bpe(ask: Ask) -> Encoders:
    import bpe_trainer as bpe

    tokenizer = bpe.Tokenizer.load(ask.tokenizer)
    return lambda texts: tokenizer.encode_batch(texts, threads=ask.threads), tokenizer.encode


def encode_tokenizers(ask: Ask) -> Encoders:
    hf: Any = importlib.import_module("tokenizers")
    tokenizer = hf.Tokenizer.from_file(os.path.join(ask.tokenizer, "tokenizer.json"))
    # Without offsets, where it can.
    batch = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)
    return (
        lambda texts: [one.ids for one in batch(texts, add_special_tokens=False)],
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
    )


def encode_tiktoken(ask: Ask) -> Encoders:
    import base64

    tiktoken: Any = importlib.import_module("tiktoken")
    with open(os.path.join(ask.tokenizer, "tokenizer.tiktoken"), "rb") as file:
        ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, file)}
    encoding = tiktoken.Encoding("bench", pat_str=ask.regex(), mergeable_ranks=ranks, special_tokens={})
    return lambda texts: encoding.encode_ordinary_batch(texts, num_threads=ask.threads), encoding.encode_ordinary


def encode_gigatoken(ask: Ask) -> Encoders:
    tokenizer = _gigatoken(ask)
    return tokenizer.encode_batch_list if ask.library.endswith("lists") else tokenizer.encode_batch, tokenizer.encode


def encode_sentencepiece(ask: Ask) -> Encoders:
    spm: Any = importlib.import_module("sentencepiece")
    if not os.path.exists(ask.model):
        raise Cannot("no model: it has not been trained")
    processor = spm.SentencePieceProcessor(model_file=ask.model)
    return lambda texts: processor.encode(texts, num_threads=ask.threads), processor.encode


def _encoding(ask: Ask, batch: Callable[[list[str]], Any], one: Callable[[str], Any]) -> Job:
    def encode(texts: list[str]) -> Any:
        return batch(texts) if ask.work == "batch" else [one(text) for text in texts]

    texts, few = ask.texts, 1 + len(ask.texts) // 100 if ask.work == "batch" else 100
    is_own = ask.library == "sentencepiece"
    return Job(lambda: encode(texts), lambda ids: _digests(ids, is_own=is_own), lambda: encode(texts[:few]))


def file_bpe(ask: Ask) -> Job:
    import bpe_trainer as bpe

    try:
        numpy: Any = importlib.import_module("numpy")
    except ImportError:
        raise Cannot("its array is one of numpy: pip install numpy") from None
    tokenizer = bpe.Tokenizer.load(ask.tokenizer)
    workers = ask.threads if ask.is_limited else None

    def found(ids: Any) -> dict[str, Any]:
        return _digests([ids[~numpy.isin(ids, ask.special_ids())]])

    return Job(lambda: tokenizer.encode_file([ask.file], workers=workers), found)


def file_gigatoken(ask: Ask) -> Job:
    tokenizer = _gigatoken(ask)
    gigatoken: Any = importlib.import_module("gigatoken")
    numpy: Any = importlib.import_module("numpy")

    def work() -> Any:
        return tokenizer.encode_files(gigatoken.TextFileSource([ask.file], separator=ask.special_token))

    def found(ids: Any) -> dict[str, Any]:
        # It gives no ids of special tokens.
        return _digests([numpy.concatenate([numpy.asarray(text) for text in ids])])

    return Job(work, found, lambda: tokenizer.encode_batch(["This starts its threads."]))


def _gigatoken(ask: Ask) -> Any:
    gigatoken: Any = importlib.import_module("gigatoken")
    if ask.pattern == "cl100k":
        # It knows the expression by name, and does not know its newer spelling in our tokenizer.json.
        ranks = os.path.join(ask.tokenizer, "tokenizer.tiktoken")
        return gigatoken.Tokenizer.from_tiktoken(ranks, pretokenizer="cl100k")
    return gigatoken.Tokenizer(os.path.join(ask.tokenizer, "tokenizer.json"))


def job_of(ask: Ask) -> Job:
    """By its name: work and library."""
    package = ask.library.partition(",")[0]
    if ask.work in ("batch", "lines"):
        return _encoding(ask, *globals()[f"encode_{package}"](ask))
    job: Job = globals()[f"{ask.work}_{package}"](ask)
    return job


def spelled(merges: Iterable[Any]) -> list[str]:
    """Each merge as its two tokens in HF's letters for bytes, which have no space."""
    return [merge if isinstance(merge, str) else " ".join(merge) for merge in merges]


def letters(token: bytes) -> str:
    return token.decode("latin-1").translate(character_of)


def _digests(batch: Iterable[Any], *, is_own: bool = False) -> dict[str, Any]:
    """A checksum of the ids of each text, and how many ids there are."""
    digests: list[str] = []
    count = 0
    for ids in batch:
        if isinstance(ids, list):
            data = array.array("I", ids).tobytes()
        else:
            numpy: Any = importlib.import_module("numpy")
            data = numpy.asarray(ids).astype("uint32").tobytes()
        count += len(data) // 4
        digests.append(hashlib.blake2b(data, digest_size=8).hexdigest())
    found: dict[str, Any] = {"ids": count, "texts": len(digests)}
    return {**found, "own": "a vocabulary of its own"} if is_own else {**found, "digests": digests}


# What a process and those that it started have used. Linux says it of each; elsewhere it is left out.


def descendants(pid: int) -> list[int]:
    """The processes that this one started, and those that they started."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def children_seconds() -> float:
    """Processor time of the processes that this one started and waited for, and of those that still run."""
    if sys.platform != "linux":
        return 0.0
    import resource

    live = 0.0
    for pid in descendants(os.getpid()):
        try:
            live += time.clock_gettime((~pid << 3) | 2)  # The clock of a process: clock_getcpuclockid(3).
        except OSError:
            continue
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return live + ended.ru_utime + ended.ru_stime


def peak_memory_bytes() -> int | None:
    """The sum of the peaks, as if they were at the same time; of those that ended the largest."""
    if sys.platform != "linux":
        return None
    import resource

    ended = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return ended + sum(_peak_bytes(pid) for pid in (os.getpid(), *descendants(os.getpid())))


def _peak_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(b"VmHWM:"))
    except OSError:
        return 0


def memory_bytes(pid: int) -> int:
    """What a process and those that it started have in memory now."""
    size = 0
    for one in (pid, *descendants(pid)) if sys.platform == "linux" else ():
        try:
            with open(f"/proc/{one}/statm", "rb") as file:
                size += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            continue
    return size


def measure(ask: Ask, at_main: float) -> dict[str, Any]:
    if ask.work in ("batch", "lines"):
        ask.texts = texts_of_file(ask, BATCH_CHARACTERS) if ask.work == "batch" else some_lines(ask)
    before = peak_memory_bytes()
    began = time.monotonic()
    job = job_of(ask)
    start = at_main - ask.started + time.monotonic() - began
    job.warm()
    theirs, own = children_seconds(), time.process_time()
    first = time.perf_counter()
    result = job.work()
    seconds = time.perf_counter() - first
    own = time.process_time() - own
    theirs = children_seconds() - theirs
    return {
        "seconds": seconds,
        "processorSeconds": own + theirs if sys.platform == "linux" else None,
        "peakMemoryBytes": peak_memory_bytes(),
        "textMemoryBytes": before,
        "startSeconds": start,
        **job.found(result),
    }


def _end_with_parent() -> NoReturn:
    """The pipe of stdin ends with the process that started this one, also where that was killed."""
    os.read(0, 1)
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        import signal

        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def main() -> None:
    at_main = time.monotonic()
    ask = Ask(json.loads(sys.argv[1]))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        answer = measure(ask, at_main)
    except Cannot as error:
        answer = {"cannot": str(error)}
    except BpeError as error:
        answer = {"problem": str(error)}
    except BaseException as error:
        # A panic of Rust is no Exception.
        answer = {"problem": f"failed: {type(error).__name__}: {error}"}
    with open(ask.answer, "w", encoding="ascii") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
