"""One measured run of compare.py, in a separate process.

A job has the work that is timed, and a function that turns its result into strings, such as checksums, which compare.py
compares. What a job reads, imports and loads before the work is not timed. The answer is written to a JSON file, because
libraries may print to stdout.
"""

from __future__ import annotations

import array
import hashlib
import importlib
import json
import os
import re
import sys
import time
from types import SimpleNamespace
from typing import Any, Callable, Iterable, Iterator, NamedTuple
from unittest import mock

from bpe_trainer._characters import character_of

#: A batch has at most this many characters, because the text and the ids are in memory.
BATCH_CHARACTERS = 128_000_000
#: A long document is cut into texts of about this many characters.
TEXT_CHARACTERS = 10_000
#: The maximum number of texts that are encoded one by one.
CALLS = 20_000
#: The maximum number of characters of the file that are read for the texts encoded one by one.
CALLS_CHARACTERS = 8_000_000
#: The fields of a request of compare.py.
Ask = SimpleNamespace


class Job(NamedTuple):
    #: The work that is measured.
    work: Callable[[], Any]
    #: Turns the result into the strings that compare.py compares, such as a checksum of the ids of each text.
    found: Callable[[Any], list[str]]
    #: Runs before the measurement, so that threads and memory exist.
    warm: Callable[[], Any] = lambda: None
    #: Runs after the work, but before the final processor time and memory are read: a child process is counted only
    #: when it has ended.
    end: Callable[[], Any] = lambda: None


class Cannot(Exception):
    """Raised if the library does not support the work, which does not count as a failure."""


def documents(ask: Ask, limit: int = -1) -> list[str]:
    with open(ask.file, encoding="utf-8", newline="") as file:
        text = file.read(limit)
    return [part for part in text.split(ask.special_token) if part] if ask.special_token else [text]


def texts_of(document: str, least: int = TEXT_CHARACTERS) -> Iterator[str]:
    """Cuts a document at line feeds that follow a character other than white space and precede a letter.

    Each of PATTERNS in compare.py has a boundary after such a line feed, so the texts have the same ids as the
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
    return [text for document in documents(ask, limit) for text in texts_of(document)]


def equal_texts(ask: Ask, length: int) -> list[str]:
    """Returns consecutive texts of the given number of characters. The remainder of a document is dropped."""
    parts = documents(ask, CALLS_CHARACTERS)
    texts = [part[at : at + length] for part in parts for at in range(0, len(part) - length + 1, length)]
    return texts[:CALLS]


def regex(ask: Ask) -> str:
    with open(os.path.join(ask.tokenizer, "training.json"), encoding="utf-8") as file:
        return str(json.load(file)["options"]["pattern"]["regex"])


# Training, including reading the file.


def train_bpe(ask: Ask) -> Job:
    import warnings

    import bpe_trainer as bpe

    # Ignore the warning that the vocabulary is smaller than requested, because the number of merges shows that.
    warnings.simplefilter("ignore")
    options: dict[str, Any] = {"pattern": ask.pattern, "compat": ask.rule, "special_tokens": ask.special_tokens}

    def found(_: Any) -> list[str]:
        with open(os.path.join(ask.output, "tokenizer.json"), encoding="utf-8") as file:
            return spelled(json.load(file)["model"]["merges"])

    return Job(
        lambda: bpe.train([ask.file], ask.vocab_size, workers=ask.workers, output=ask.output, **options), found
    )


def train_tokenizers(ask: Ask) -> Job:
    hf: Any = importlib.import_module("tokenizers")
    if not hasattr(hf, "trainers"):
        raise Cannot("this version has no trainers")
    tokenizer = hf.Tokenizer(hf.models.BPE())
    trainer = hf.trainers.BpeTrainer(
        vocab_size=ask.vocab_size,
        special_tokens=ask.special_tokens,
        initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # HF's tokenizer is to cut text as our tokenizer.json says.
    tokenizer.pre_tokenizer = hf.Tokenizer.from_file(os.path.join(ask.tokenizer, "tokenizer.json")).pre_tokenizer

    def work() -> Any:
        if not ask.special_token:
            tokenizer.train([ask.file], trainer)
        else:
            # The trainer would also count special tokens, so it gets the text between them, in lines.
            parts = documents(ask)
            tokenizer.train_from_iterator((line for part in parts for line in re.findall(r"[^\n]*\n|[^\n]+", part)), trainer)
        return tokenizer

    return Job(work, lambda done: spelled(json.loads(done.to_str())["model"]["merges"]))


def train_gigabpe(ask: Ask) -> Job:
    gigabpe: Any = importlib.import_module("gigabpe")
    if ask.pattern != "gpt2":
        raise Cannot("cuts text as gpt2 only")
    # The vocabulary of gigabpe has only the bytes that occur, not all 256.
    vocab_size = ask.vocab_size - 256 + ask.byte_count
    options = {"special_tokens": ask.special_tokens, "pretokenizer": "bytelevel", "threads": ask.threads}
    return Job(lambda: gigabpe.train_bpe([ask.file], vocab_size, **options), lambda done: spelled(done[1]))


def train_rustbpe(ask: Ask) -> Job:
    rustbpe: Any = importlib.import_module("rustbpe")
    tokenizer = rustbpe.Tokenizer()
    vocab_size, pattern = ask.vocab_size - len(ask.special_tokens), regex(ask)
    # rustbpe counts texts on all threads, but each text on only one.
    return Job(
        lambda: tokenizer.train_from_iterator(iter(texts_of_file(ask)), vocab_size, pattern=pattern),
        lambda _: ranked({bytes(token): rank for token, rank in tokenizer.get_mergeable_ranks()}),
    )


def train_bpeasy(ask: Ask) -> Job:
    bpeasy: Any = importlib.import_module("bpeasy")
    vocab_size, pattern = ask.vocab_size - len(ask.special_tokens), regex(ask)
    # bpeasy requires a maximum length of tokens. No token is longer than the file.
    longest = os.path.getsize(ask.file)
    return Job(lambda: bpeasy.train_bpe(iter(texts_of_file(ask)), pattern, longest, vocab_size), ranked)


def train_ffbpe(ask: Ask) -> Job:
    ffbpe: Any = importlib.import_module("ffbpe")
    if ask.pattern != "gpt2":
        raise Cannot("cuts text as gpt2 only")

    def work() -> Any:
        words = ffbpe.PreTokenizer(ask.special_tokens).get_words_from_file(ask.file)
        trainer = ffbpe.BpeTrainer(ask.special_tokens, initial_alphabet="byte_level", tie_break="smallest_pair_id")
        trainer.add_words(words)
        trainer.train(ask.vocab_size)
        return trainer

    special = {token.encode() for token in ask.special_tokens}
    return Job(work, lambda done: ranked({token: id for token, id in done.vocab.items() if token not in special}))


def train_gigatoken(ask: Ask) -> Job:
    rust: Any = importlib.import_module("gigatoken.gigatoken_rs")
    if ask.pattern != "gpt2":
        raise Cannot("trains as gpt2 cuts only")
    # Without a special token, the separator is two bytes that no text in UTF-8 has, so the file is not cut.
    separator = ask.special_token.encode() if ask.special_token else b"\xff\xff"
    rule = "huggingface" if ask.rule == "huggingface" else "raw_token_ids"
    return Job(
        lambda: rust.train_bpe(ask.file, ask.vocab_size, ask.special_tokens, tie_breaking=rule, separator=separator),
        lambda done: [f"{letters(left)} {letters(right)}" for left, right in done[1]],
    )


# Encoding: the call for a batch, the call for one text, and what is called at the end.

Encoders = tuple[Callable[[list[str]], Any], Callable[[str], Any], Callable[[], Any]]


def encode_bpe(ask: Ask) -> Encoders:
    import bpe_trainer as bpe

    as_array = ask.library.endswith("arrays")
    if as_array:
        # numpy's threads are busy for some time after its import. So import it before the measurement.
        importlib.import_module("numpy")
    tokenizer = bpe.Tokenizer.load(ask.tokenizer)

    def batch(texts: list[str]) -> Any:
        return tokenizer.encode_batch(texts, threads=ask.threads, as_array=as_array)

    return batch, tokenizer.encode, tokenizer.close


def encode_tokenizers(ask: Ask) -> Encoders:
    hf: Any = importlib.import_module("tokenizers")
    tokenizer = hf.Tokenizer.from_file(os.path.join(ask.tokenizer, "tokenizer.json"))
    # encode_batch_fast computes no offsets, but older versions lack it.
    batch = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)
    return (
        lambda texts: [one.ids for one in batch(texts, add_special_tokens=False)],
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        lambda: None,
    )


def encode_tiktoken(ask: Ask) -> Encoders:
    import base64

    tiktoken: Any = importlib.import_module("tiktoken")
    with open(os.path.join(ask.tokenizer, "tokenizer.tiktoken"), "rb") as file:
        ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, file)}
    made = tiktoken.Encoding("bench", pat_str=regex(ask), mergeable_ranks=ranks, special_tokens={})
    return lambda texts: made.encode_ordinary_batch(texts, num_threads=ask.threads), made.encode_ordinary, lambda: None


def encode_gigatoken(ask: Ask) -> Encoders:
    tokenizer = _gigatoken(ask)
    if ask.library.endswith("arrays"):
        return tokenizer.encode_batch, tokenizer.encode, lambda: None
    return tokenizer.encode_batch_list, lambda text: tokenizer.encode(text).tolist(), lambda: None


def encode_fastokens(ask: Ask) -> Encoders:
    fastokens: Any = importlib.import_module("fastokens")
    tokenizer = fastokens.Tokenizer.from_file(os.path.join(ask.tokenizer, "tokenizer.json"))
    if ask.library.endswith("arrays"):
        numpy: Any = importlib.import_module("numpy")

        def batch(texts: list[str]) -> Any:
            ids, ends = tokenizer.encode_batch_flat(texts)
            return numpy.frombuffer(ids, numpy.uint32), numpy.frombuffer(ends, numpy.uint64)

        return batch, lambda text: tokenizer.encode(text).ids, lambda: None
    return (
        lambda texts: [one.ids for one in tokenizer.encode_batch(texts)],
        lambda text: tokenizer.encode(text).ids,
        lambda: None,
    )


def encode_snaptokens(ask: Ask) -> Encoders:
    snaptokens: Any = importlib.import_module("snaptokens")
    tokenizer = snaptokens.Tokenizer.from_file(os.path.join(ask.tokenizer, "tokenizer.json"))
    return (
        lambda texts: [one.ids for one in tokenizer.encode_batch(texts, add_special_tokens=False)],
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        lambda: None,
    )


def encode_tuetoken(ask: Ask) -> Encoders:
    tuetoken: Any = importlib.import_module("tuetoken")
    hub: Any = importlib.import_module("huggingface_hub")
    path = os.path.join(ask.tokenizer, "tokenizer.json")
    # The library loads only files that it downloads, so its download function is replaced.
    with mock.patch.object(hub, "hf_hub_download", lambda *_, **__: path):
        tokenizer = tuetoken.Tokenizer.from_pretrained("local/file")
    if not ask.library.endswith("arrays"):
        return lambda texts: tokenizer.encode_ordinary_batch(texts, ask.threads), tokenizer.encode_ordinary, lambda: None

    def batch(texts: list[str]) -> Any:
        made = tokenizer.encode_ordinary_to_buffer(texts, ask.threads)
        return made["data"], made["offsets"]

    return batch, tokenizer.encode_ordinary, lambda: None


def encode_tokie(ask: Ask) -> Encoders:
    tokie: Any = importlib.import_module("tokie")
    tokenizer = tokie.Tokenizer.from_json(os.path.join(ask.tokenizer, "tokenizer.json"))
    return (
        lambda texts: [one.ids for one in tokenizer.encode_batch(texts, add_special_tokens=False)],
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        lambda: None,
    )


def file_bpe(ask: Ask) -> Job:
    import bpe_trainer as bpe

    try:
        numpy: Any = importlib.import_module("numpy")
    except ImportError:
        raise Cannot("its array is one of numpy: pip install numpy") from None
    tokenizer = bpe.Tokenizer.load(ask.tokenizer)
    special = [*tokenizer.special_tokens.values()]
    return Job(
        lambda: tokenizer.encode_file([ask.file], workers=ask.workers),
        lambda ids: digests([ids[~numpy.isin(ids, special)]]),
    )


def file_gigatoken(ask: Ask) -> Job:
    tokenizer = _gigatoken(ask)
    gigatoken: Any = importlib.import_module("gigatoken")
    numpy: Any = importlib.import_module("numpy")
    return Job(
        lambda: tokenizer.encode_files(gigatoken.TextFileSource([ask.file], separator=ask.special_token or None)),
        # The result of gigatoken has no ids of special tokens.
        lambda ids: digests([numpy.concatenate([numpy.asarray(text) for text in ids])]),
        lambda: tokenizer.encode_batch(["This starts its threads."]),
    )


def _gigatoken(ask: Ask) -> Any:
    gigatoken: Any = importlib.import_module("gigatoken")
    if ask.pattern == "cl100k":
        # gigatoken knows cl100k by name, but not the newer spelling of its expression in our tokenizer.json.
        ranks = os.path.join(ask.tokenizer, "tokenizer.tiktoken")
        return gigatoken.Tokenizer.from_tiktoken(ranks, pretokenizer="cl100k")
    return gigatoken.Tokenizer(os.path.join(ask.tokenizer, "tokenizer.json"))


def job_of(ask: Ask) -> Job:
    """Returns the job for the requested work and library. A function named after the work and the library makes the job or, for
    encoding, the calls from which the job is made here.
    """
    package = ask.library.partition(",")[0]
    if ask.work in ("train", "file"):
        job: Job = globals()[f"{ask.work}_{package}"](ask)
        return job
    batch, one, end = globals()[f"encode_{package}"](ask)
    if ask.work.startswith("calls-"):
        texts, few = equal_texts(ask, int(ask.work[6:])), 100
    else:
        texts, few = texts_of_file(ask, BATCH_CHARACTERS), 1

    def encode(texts: list[str]) -> Any:
        return batch(texts) if few == 1 else [one(text) for text in texts]

    # For "again", all texts are encoded before the measurement, otherwise the first few.
    warm = texts if ask.work == "again" else texts[: few + len(texts) // 100]
    return Job(lambda: encode(texts), digests, lambda: encode(warm), end)


def spelled(merges: Iterable[Any]) -> list[str]:
    """Returns each merge as a text: its two tokens in byte-to-character form, with a space between them."""
    return [merge if isinstance(merge, str) else " ".join(merge) for merge in merges]


def ranked(ranks: dict[bytes, int]) -> list[str]:
    """Returns the tokens by rank, in byte-to-character form. Leaves out the first 256, which are single bytes."""
    return [letters(token) for token in sorted(ranks, key=ranks.__getitem__)[256:]]


def letters(token: bytes) -> str:
    return token.decode("latin-1").translate(character_of)


def digests(batch: Iterable[Any]) -> list[str]:
    """Returns a checksum of the ids of each text."""

    def bytes_of(ids: Any) -> bytes:
        if isinstance(ids, list):
            return array.array("I", ids).tobytes()
        numpy: Any = importlib.import_module("numpy")
        data: bytes = numpy.asarray(ids).astype("uint32").tobytes()
        return data

    if isinstance(batch, tuple):
        # One array of all ids, and the positions in it at which texts begin and end.
        ids, ends = batch
        batch = [ids[first:end] for first, end in zip(ends, ends[1:])]
    return [hashlib.blake2b(bytes_of(ids), digest_size=8).hexdigest() for ids in batch]


def usage() -> tuple[float | None, int | None]:
    """Returns processor seconds and peak memory in bytes, of this process and of those that it waited for.

    Both are None where Python has no module `resource`.
    """
    try:
        import resource
    except ImportError:
        return None, None
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    unit = 1 if sys.platform == "darwin" else 1024
    return sum(each.ru_utime + each.ru_stime for each in both), unit * sum(each.ru_maxrss for each in both)


def measure(ask: Ask) -> dict[str, Any]:
    job = job_of(ask)
    job.warm()
    before, _ = usage()
    start = time.perf_counter()
    result = job.work()
    seconds = time.perf_counter() - start
    job.end()
    after, peak = usage()
    processor = None if before is None or after is None else after - before
    return {"seconds": seconds, "processorSeconds": processor, "peakMemoryBytes": peak, "found": job.found(result)}


def main() -> None:
    ask = Ask(**json.loads(sys.argv[1]))
    try:
        answer = measure(ask)
    except Cannot as error:
        answer = {"problem": str(error)}
    except BaseException as error:
        # A panic in Rust is not an Exception.
        answer = {"problem": f"failed: {type(error).__name__}: {error}"}
    with open(ask.answer, "w", encoding="ascii") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
