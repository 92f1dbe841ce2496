"""Training: files are named to `bpe train`, texts go to it through a pipe. No copy of a corpus is made."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from ._executable import BpeError, interrupt, message_of, start
from ._tokenizer import Tokenizer

PathLike = Union[str, "os.PathLike[str]"]
#: Called with the stage ("counting", "merging", ...), how much is done, and of how much (None where nobody knows).
Progress = Callable[[str, int, Union[int, None]], None]


def train(
    files: Union[PathLike, Sequence[PathLike], Iterable[str], None] = None,
    vocab_size: Union[int, None] = None,
    *,
    texts: Union[Iterable[str], None] = None,
    special_tokens: Sequence[str] = (),
    pattern: Union[str, None] = None,
    compat: Union[str, None] = None,
    min_frequency: Union[int, None] = None,
    max_token_length: Union[int, None] = None,
    output: Union[PathLike, None] = None,
    workers: Union[int, None] = None,
    memory_limit: Union[str, None] = None,
    bos: Union[str, None] = None,
    eos: Union[str, None] = None,
    pad: Union[str, None] = None,
    unk: Union[str, None] = None,
    add_bos: bool = False,
    chat_template: Union[str, None] = None,
    model_max_length: Union[int, None] = None,
    tokenizer_class: Union[str, None] = None,
    progress: Union[bool, Progress] = False,
) -> Tokenizer:
    """Trains a tokenizer and loads it.

    ``files`` is one path or several: text, JSON lines, Parquet, compressed or not, directories. ``texts`` is any iterable
    of strings, each a document of its own; it is read once, as fast as words are counted, and never held. An iterable
    that is not a list or tuple may be given as ``files``, too, unless it begins with the path of a file.

    ``vocab_size`` is 256 bytes + special tokens + merges. ``compat`` names the trainer to agree with, merge for merge:
    "cs336" (the default), "huggingface" (as it trains on files: each line is cut by itself) or "rustbpe". The tokenizer directory is written to ``output``; without it, it
    lives as long as the object, and ``save`` keeps it. ``progress`` is True for a line on stderr, or a function.

    The rest is for ``transformers``: ``bos``, ``eos``, ``pad`` and ``unk`` name special tokens ("" for none; the first
    three are proposed from well-known names), ``add_bos`` puts bos in front of each text there, ``chat_template`` is
    "chatml", "gemma", "llama3" or the path of a Jinja file.

    Raises BpeError with the message of ``bpe``; on Ctrl-C it ends the run, leaves nothing half-written, and raises
    KeyboardInterrupt.
    """
    if vocab_size is None:
        raise TypeError("vocab_size is missing")
    if files is not None and texts is None and not isinstance(files, (str, os.PathLike, list, tuple)):
        texts = _checked(files)
        files = None
    if (files is None) == (texts is None):
        raise TypeError("give either files or texts")
    kept: Union[tempfile.TemporaryDirectory[str], None] = None
    if output is None:
        kept = tempfile.TemporaryDirectory(prefix="bpe-")
        directory = Path(kept.name) / "tokenizer"
    else:
        directory = Path(output)
    arguments = ["train", "--vocab-size", str(vocab_size), f"--output={directory}", "--progress", "json"]
    for token in special_tokens:
        arguments.append(f"--special-token={token}")
    options: Mapping[str, Any] = {
        "pattern": pattern,
        "compat": compat,
        "min-frequency": min_frequency,
        "max-token-length": max_token_length,
        "workers": workers,
        "memory-limit": memory_limit,
        "bos": bos,
        "eos": eos,
        "pad": pad,
        "unk": unk,
        "chat-template": chat_template,
        "model-max-length": model_max_length,
        "class": tokenizer_class,
    }
    arguments += [f"--{name}={value}" for name, value in options.items() if value is not None]
    if add_bos:
        arguments.append("--add-bos")
    if texts is None:
        paths = [files] if isinstance(files, (str, os.PathLike)) else list(files or ())
        arguments += ["--", *(os.fspath(path) for path in paths)]
    else:
        arguments += ["--input-format=jsonl", "--text-field=text", "--", "-"]
    try:
        _run(arguments, texts, _shower(progress))
    except BaseException:
        if kept is not None:
            kept.cleanup()
        raise
    return Tokenizer._of(directory, kept)


def _checked(texts: Iterable[Any]) -> Iterable[str]:
    """The texts; refuses the paths of files, as `glob.iglob` yields them: training on names would look like success."""
    items = iter(texts)
    for first in items:
        if isinstance(first, os.PathLike) or (isinstance(first, str) and os.path.exists(first)):
            raise TypeError(f"{first!r} is the path of a file: give files as a list, or texts by texts=")
        return itertools.chain([first], items)
    return ()


def _run(arguments: Sequence[str], texts: Union[Iterable[str], None], show: Progress) -> None:
    process = start(
        arguments,
        stdin=subprocess.DEVNULL if texts is None else subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    said: list[str] = []
    listener = threading.Thread(target=_listen, args=(process, said, show), daemon=True)
    listener.start()
    try:
        if texts is not None:
            _send(process, texts)
        _wait(process)
    except BaseException:
        interrupt(process)
        raise
    listener.join()
    if process.stderr is not None:
        process.stderr.close()
    if process.returncode != 0:
        raise BpeError(_reason(said))


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Waits for the end, so that Ctrl-C is served. With a timeout Python looks only every 50 ms."""
    while sys.platform == "win32":
        try:
            process.wait(0.2)
            return
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _send(process: subprocess.Popen[bytes], texts: Iterable[str]) -> None:
    """Each text is a line of JSON: a document that nothing crosses."""
    stdin = process.stdin
    assert stdin is not None
    encode = json.JSONEncoder(ensure_ascii=False).encode
    try:
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(f"texts has to be strings, found {type(text).__name__}")
            stdin.write(b'{"text":' + encode(text).encode("utf-8") + b"}\n")
        stdin.close()
    except BrokenPipeError:
        pass  # It has ended, and says why.


def _listen(process: subprocess.Popen[bytes], said: list[str], show: Progress) -> None:
    assert process.stderr is not None
    for raw in process.stderr:
        line = raw.decode("utf-8", "replace").rstrip("\n")
        said.append(line)
        del said[:-100]
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("event") == "progress":
            show(event["stage"], event["done"], event.get("total"))


def _reason(said: Sequence[str]) -> str:
    for line in reversed(said):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("event") == "result" and "error" in event:
            return "\n".join([event["error"], *([f"hint: {event['hint']}"] if event.get("hint") else [])])
    return message_of("\n".join(said))


def _shower(progress: Union[bool, Progress]) -> Progress:
    if callable(progress):
        return progress
    if not progress:
        return lambda stage, done, total: None

    def show(stage: str, done: int, total: Union[int, None]) -> None:
        share = f"{100 * done / total:5.1f} %" if total else f"{done}"
        sys.stderr.write(f"\r{stage:<10} {share:<12}")
        if total is not None and done >= total:
            sys.stderr.write("\n")
        sys.stderr.flush()

    return show
