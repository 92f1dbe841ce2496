"""`in_process.py EXECUTABLE TEXTS PATH [OPTIONS]` checks the native Python module with a real tokenizer."""

import json
import os
import random
import sys
import tempfile

import bpe_trainer as bpe
from bpe_trainer import _executable
from bpe_trainer._source import Source

executable, texts_path, path, *options = sys.argv[1:]
_executable.find_executable = lambda: executable
with open(texts_path, encoding="utf-8") as file:
    *texts, whole = map(json.loads, file)
draw = random.Random(len(texts))
tokenizer = bpe.Tokenizer._of(Source(path, None, options))
image = tokenizer._loaded()
model = tokenizer._encoder()
compared = 0


def same(what: str, text: object, *answers: object) -> None:
    for answer in answers:
        assert answer == answers[0], f"{what} of {text!r:.300}: {answers[0]!r:.300} and {answer!r:.300}"


def raised(call: object, *args: object) -> object:
    """Returns the result of the call, or the message of its error."""
    try:
        return call(*args)
    except bpe.BpeError as error:
        return str(error)


def check_ids() -> "list[list[int]]":
    """Compares the ids of different calls, and returns the ids of each text."""
    global compared
    batch = [tokenizer.encode(text) for text in texts]
    for as_text in (False, True):
        ours = [tokenizer.encode(text, special_tokens_as_text=as_text) for text in texts]
        for text, *answers in zip(texts, ours, tokenizer.encode_batch(texts, special_tokens_as_text=as_text)):
            same("ids", text, *answers)
        compared += sum(map(len, ours))
    ids, ends = tokenizer.encode_batch(texts, as_array=True, threads=2)
    same("ids of a batch", "all", ids.tolist(), [id for ids in batch for id in ids])
    same("ends", "all", ends.tolist(), [sum(map(len, batch[:i])) for i in range(len(batch) + 1)])
    # This text is long enough to be encoded by several threads. It begins with plain text, so that its file is read as
    # text.
    long = "plain text\n" * 1000 + whole * (2_000_000 // len(whole.encode()) + 1)
    with tempfile.TemporaryDirectory() as home:
        name = os.path.join(home, "long.txt")
        with open(name, "w", encoding="utf-8", newline="") as file:
            file.write(long)
        parts = tokenizer._ids_of_plain([name], None, 2)
        of_plain = bpe.Tokenizer._ids_of_plain
        bpe.Tokenizer._ids_of_plain = lambda *_: None
        theirs = tokenizer.encode_file(name).tolist()
        bpe.Tokenizer._ids_of_plain = of_plain
        assert parts is not None, "the file was not encoded in this process"
        same("ids", "a file", memoryview(parts[0]).cast("H" if parts[2] == 2 else "I").tolist(), theirs)
    same("ids", "a long text", tokenizer.encode(long, threads=1), tokenizer.encode(long, threads=2), theirs)
    compared += len(theirs)
    return batch


def check_offsets(text: str) -> None:
    for as_text in (False, True):
        for in_characters in (False, True):
            obstacle = image.facts["offsetObstacle"] or (image.facts["trimObstacle"] if in_characters else None)
            if obstacle is None:
                ids, spans = model.encode_with_offsets(text, in_characters, as_text)
                same("ids with offsets", text, ids, tokenizer.encode(text, special_tokens_as_text=as_text))
                assert spans == sorted(spans) and all(start <= end for start, end in spans), f"offsets of {text!r:.300}: {spans}"


def check_decoding(ids: "list[int]") -> None:
    limit = tokenizer.id_limit
    for given in (ids, [draw.randrange(limit) for _ in range(9)], [*ids[:3], draw.choice((-1, limit, 1 << 31, 1 << 32, 1 << 64))]):
        decoded = raised(tokenizer.decode_bytes, given)
        if isinstance(decoded, bytes):
            same("bytes", given, decoded, b"".join(map(image.vocabulary.bytes_of, given)))
        stream = tokenizer.stream()
        pushed = raised(lambda: "".join([*map(stream.push, given), stream.end()]))
        if isinstance(decoded, bytes):
            same("a stream", given, pushed, decoded.decode("utf-8", "replace"))
        else:
            assert "is not in the vocabulary" in str(pushed), pushed


def check_cuts(text: str, ids: "list[int]") -> None:
    same("count", text, tokenizer.count(text), len(ids))
    limit = draw.choice((0, 1, 3, len(ids) // 2, len(ids)))
    same("count", text, tokenizer.count(text, limit), min(len(ids), limit + 1))
    first, last = (raised(lambda keep: tokenizer.truncate(text, limit, keep=keep), keep) for keep in ("start", "end"))
    chunks = raised(tokenizer.chunks, text, 12)
    if not image.facts["hasAllBytes"] and len(ids) > min(limit, 12):
        return
    assert text.startswith(first) and text.endswith(last), f"truncate of {text!r:.300}"
    assert max(len(tokenizer.encode(part)) for part in (first, last)) <= limit, f"truncate of {text!r:.300}"
    if isinstance(chunks, str):
        assert "more than size" in chunks, chunks
        return
    same("chunks", text, "".join(chunks), text)
    assert all(len(tokenizer.encode(part)) <= 12 for part in chunks), f"chunks of {text!r:.300}"


batch = check_ids()
for text, ids in zip(texts, batch):
    check_offsets(text)
    check_decoding(ids)
    check_cuts(text, ids)
tokenizer.close()
print(compared)
