"""Training: files are named to `bpe train`, texts go to it through a pipe. No copy of a corpus is made.

The executable starts as soon as can be; what Python needs besides is loaded while it works.
"""

from __future__ import annotations

import os
import sys

from ._executable import BpeError, Home, Later, Run, message_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import _types as t
else:
    t = Later("bpe_trainer._types")


def train(
    files: t.Union[t.PathLike, t.Sequence[t.PathLike], t.Texts, None] = None,
    vocab_size: t.Union[int, str, t.Sequence[int], None] = None,
    *,
    texts: t.Union[t.Texts, None] = None,
    languages: t.Union[t.Mapping[str, t.Union[t.PathLike, t.Sequence[t.PathLike]]], None] = None,
    languages_dev: t.Union[t.Mapping[str, t.Union[t.PathLike, t.Sequence[t.PathLike]]], None] = None,
    language_ratio: t.Union[t.Sequence[float], None] = None,
    language_window: t.Union[t.Sequence[float], None] = None,
    global_merges: t.Union[int, None] = None,
    special_tokens: t.Sequence[str] = (),
    pattern: t.Union[str, None] = None,
    normalize: t.Union[str, t.Sequence[str], None] = None,
    compat: t.Union[str, None] = None,
    whole_texts: bool = False,
    min_frequency: t.Union[int, None] = None,
    max_token_length: t.Union[int, None] = None,
    whole_characters: bool = False,
    seed_tokens: t.Sequence[str] = (),
    superwords_from: t.Union[int, None] = None,
    superword_pattern: t.Union[str, None] = None,
    weights: t.Union[t.Mapping[str, float], None] = None,
    extend: t.Union[t.PathLike, None] = None,
    like: t.Union[t.PathLike, None] = None,
    pad_to: t.Union[int, None] = None,
    output: t.Union[t.PathLike, None] = None,
    workers: t.Union[int, None] = None,
    memory_limit: t.Union[str, None] = None,
    bos: t.Union[str, None] = None,
    eos: t.Union[str, None] = None,
    pad: t.Union[str, None] = None,
    unk: t.Union[str, None] = None,
    add_bos: bool = False,
    chat_template: t.Union[str, None] = None,
    model_max_length: t.Union[int, None] = None,
    tokenizer_class: t.Union[str, None] = None,
    model_card: bool = False,
    ledger: t.Union[bool, None] = None,
    report: t.Union[t.PathLike, None] = None,
    progress: t.Union[bool, t.Progress] = False,
) -> t.Tokenizer:
    """Trains a tokenizer and loads it.

    ``files`` is one path or several: text, JSON lines, Parquet, compressed or not, directories. ``texts`` is any iterable
    of strings, or of lists of strings, each string a document of its own; it is read once, as fast as words are counted,
    and never held. An iterable that is not a list or tuple may be given as ``files``, too, unless it begins with the path
    of a file. Of a data set name the column: ``texts=dataset["text"]``.

    ``vocab_size`` is 256 bytes + special tokens + merges. Several sizes, as in ``[16_384, 32_768]``, are made by one run:
    each is a directory in ``output`` that is named by its size, and the largest one is loaded. ``pad_to`` fills each to a
    multiple of it, by reserved special tokens. With ``whole_characters`` no token joins a whole character with a part of
    another. ``seed_tokens`` are texts that the vocabulary shall have as tokens. ``normalize`` is what is done to text
    before it is cut, in training and in encoding: "NFC", ["NFKC", "lowercase"], ... ``compat`` names the trainer to
    agree with, merge for merge: "cs336" (the default), "huggingface" or "rustbpe". HF trains on files line by line, and so
    it is here; with ``whole_texts`` each text is cut as it is, as HF trains on an iterator, and special tokens in it are text.

    ``superwords_from`` learns tokens that go over spaces from a vocabulary of that size on, cut by ``superword_pattern``;
    it reads ``files`` twice, so it takes no ``texts``.
    ``languages`` stands for ``files``: {"en": "en.txt", "hi": ["hi-1.txt", "hi-2.txt"]}. Each merge is then learned from
    the language that is worst off, by its text, or by that in ``languages_dev``. ``language_ratio`` says, a number for each,
    how many times shorter they shall get relative to each other; with ``language_window=(100, 2.0)`` no language has more
    than twice its share of 100 merges; ``global_merges`` merges come first that are learned from all together.
    ``weights`` says how often the words of inputs count: {"corpus/en": 0.5, "*.hi.txt": 3}, paths of files or folders, or
    globs; of several that fit an input the last decides.
    ``extend`` is the path of a tokenizer whose ids stay and whose training goes on; ``vocab_size`` is the size it shall
    have, or how much comes to it, as "+8000".

    ``like`` is the path of a tokenizer whose settings are taken, as ``train_new_from_iterator`` of ``transformers`` does:
    pattern, normalization, special tokens, roles, chat template, post-processor; what is given besides wins. Merges are
    learned anew, by ``compat`` or else as that tokenizer was trained or as "huggingface" does.

    The tokenizer directory is written to ``output``; without it, it lives as long as the object, and ``save`` keeps it.
    ``ledger`` says whether tokens.tsv is in it (how often each token occurs; by default if it is small), ``model_card``
    whether a README.md is. ``report`` is the path of an HTML page about the tokenizer. ``progress`` is True for a line on
    stderr, or a function; what the function raises ends the run.

    The rest is for ``transformers``: ``bos``, ``eos``, ``pad`` and ``unk`` name special tokens ("" for none; the first
    three are proposed from well-known names), ``add_bos`` puts bos in front of each text there, ``chat_template`` is
    "chatml", "gemma", "llama3" or the path of a Jinja file.

    What ``bpe`` warns of is a warning of Python, also a vocabulary that is smaller than asked because the corpus gives no
    more merges. Raises BpeError with the message of ``bpe``; on Ctrl-C it ends the run, leaves nothing half-written, and raises
    KeyboardInterrupt.
    """
    if vocab_size is None:
        raise TypeError("vocab_size is missing")
    if [files, texts, languages].count(None) != 2:
        raise TypeError("give exactly one of files, texts and languages")
    refuse_text("special_tokens", special_tokens)
    refuse_text("seed_tokens", seed_tokens)
    paths: list[str] = []
    if isinstance(files, (str, bytes, os.PathLike)):
        paths = [os.fsdecode(files)]
    elif isinstance(files, (list, tuple)):
        paths = [_path(path) for path in files]
    elif files is not None:
        texts = _checked(files)
    if texts is not None:
        refuse_no_texts("texts", texts)
    sizes = _sizes(vocab_size, output)
    kept: t.Union[Home, None] = None
    if output is None:
        kept = Home()
        directory = os.path.join(kept.name, "tokenizer")
    else:
        directory = os.fsdecode(output)
    # Nobody reads the summary of the other forms, and to make it takes its time.
    arguments = ["train", "--progress=json", f"--vocab-size={','.join(sizes)}", f"--output={directory}"]
    for token in special_tokens:
        arguments.append(f"--special-token={token}")
    arguments += [f"--seed-token={token}" for token in seed_tokens]
    options: t.Mapping[str, t.Any] = {
        "pattern": pattern,
        "normalize": normalize if normalize is None or isinstance(normalize, str) else ",".join(normalize),
        "compat": compat,
        "min-frequency": min_frequency,
        "max-token-length": max_token_length,
        "superwords-from": superwords_from,
        "superword-pattern": superword_pattern,
        "extend": None if extend is None else os.fsdecode(extend),
        "like": None if like is None else os.fsdecode(like),
        "language-ratio": _numbers("language_ratio", language_ratio, ","),
        "language-window": _numbers("language_window", language_window, ":"),
        "global-merges": global_merges,
        "pad-to": pad_to,
        "workers": workers,
        "memory-limit": memory_limit,
        "bos": bos,
        "eos": eos,
        "pad": pad,
        "unk": unk,
        "chat-template": chat_template,
        "model-max-length": model_max_length,
        "class": tokenizer_class,
        "report": None if report is None else os.fsdecode(report),
    }
    arguments += [f"--{name}={value}" for name, value in options.items() if value is not None]
    flags = {
        "whole-texts": whole_texts,
        "whole-characters": whole_characters,
        "add-bos": add_bos,
        "model-card": model_card,
        "ledger": ledger,
        "no-ledger": ledger is False,
    }
    for name, by_language in (("language", languages), ("language-dev", languages_dev)):
        arguments += [f"--{name}={file}" for file in _named_files(by_language or {})]
    arguments += [f"--weight={_weight(path, weight)}" for path, weight in (weights or {}).items()]
    arguments += [f"--{name}" for name, is_set in flags.items() if is_set]
    if texts is None:
        arguments += ["--", *paths]
    try:
        shown_warnings(run_training(arguments, texts, progress))
    except BaseException as error:
        if kept is not None:
            kept.cleanup()
        if isinstance(error, BpeError) and any(_may_be_text(path) for path in paths):
            raise BpeError(f"{error}\nhint: give texts as texts=[...]; strings in files are paths") from None
        raise
    from ._tokenizer import Tokenizer, look_at

    path = directory if len(sizes) == 1 else os.path.join(directory, sizes[-1])
    return Tokenizer._of(path, kept, seen=look_at(path))


def run_training(
    arguments: list[str], texts: t.Union[t.Texts, None], progress: t.Union[bool, t.Progress]
) -> list[str]:
    """Runs `bpe train`, which reads the texts if there are any. Returns what it warned of; leaves nothing half-written."""
    run: t.Union[Run, None] = None
    if texts is not None:
        arguments = [*arguments, "--input-format=jsonl", "--text-field=text", "--", "-"]
    try:
        run = Run(arguments, takes_input=texts is not None)
        return _finish(run, texts, _shower(progress))
    except BaseException:
        if run is not None:
            run.stop()
            run.close()
        raise


def shown_warnings(messages: t.Sequence[str]) -> None:
    """Warns, in the name of the line that called this package."""
    if not messages:
        return
    import warnings

    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        frame, level = frame.f_back, level + 1
    for message in messages:
        warnings.warn(message, stacklevel=level)


#: Texts are sent to the executable by so much at a time.
_SENT_BYTES = 1 << 16


def _sizes(vocab_size: t.Union[int, str, t.Sequence[int]], output: t.Union[t.PathLike, None]) -> list[str]:
    """As the command line takes them, the largest one last."""
    if isinstance(vocab_size, str) and "," in vocab_size:
        raise TypeError(f'vocab_size is "{vocab_size}": give several sizes as a list of numbers')
    if isinstance(vocab_size, (int, str)) or not hasattr(vocab_size, "__iter__"):
        return [str(vocab_size)]
    if len(vocab_size) < 2:
        raise TypeError(f"vocab_size is {vocab_size!r}: give at least two sizes in a list, or one size as a number")
    if output is None:
        raise TypeError("output is missing: each of several sizes is written to a directory in it")
    return [f"{size:d}" for size in sorted(vocab_size)]


def _named_files(languages: t.Mapping[str, t.Any]) -> t.Iterable[str]:
    for name, given in languages.items():
        files = given if isinstance(given, (list, tuple)) else [given]
        if not isinstance(name, str) or not name or set("=/") & set(name) or not files:
            raise TypeError(f"the language {name!r} needs a name without = and /, and a file")
        for file in files:
            yield f"{name}={_path(file)}"


def _weight(path: str, weight: float) -> str:
    """As the command line takes it: the path is not taken for a name, the number has no exponent."""
    from decimal import Decimal

    if not isinstance(path, (str, os.PathLike)) or isinstance(weight, (bool, str)):
        raise TypeError(f"weights has {path!r}: {weight!r}, and must map a path or a glob to a number")
    path = os.fsdecode(path)
    return f"{path if os.path.isabs(path) else os.path.join('.', path)}:{Decimal(str(weight)):f}"


def _numbers(name: str, numbers: t.Union[t.Sequence[float], None], separator: str) -> t.Union[str, None]:
    """As the command line takes them, without exponents."""
    from decimal import Decimal

    if numbers is None:
        return None
    if isinstance(numbers, str) or any(isinstance(number, (bool, str)) for number in numbers):
        raise TypeError(f"{name} must be numbers, found {numbers!r}")
    return separator.join(f"{Decimal(str(number)):f}" for number in numbers)


def refuse_text(name: str, values: object) -> None:
    """Refuses a string where a list of strings is meant: Python would take its characters one by one."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is a string: give a list, as in {name}=[{values[:40]!r}]")
    items = values if isinstance(values, (list, tuple)) else ()
    wrong = next((item for item in items if not isinstance(item, str)), None)
    if wrong is not None:
        raise TypeError(f"{name} must be strings, found {type(wrong).__name__}")


def refuse_no_texts(name: str, texts: object) -> None:
    """Refuses what is no iterable of texts, or of lists of them, though Python could iterate over some."""
    refuse_text(name, texts if isinstance(texts, (str, bytes)) else ())
    if not hasattr(texts, "__iter__"):
        raise TypeError(f"{name} must be an iterable of strings, found {type(texts).__name__}")
    _refuse_columns(texts)


def _path(path: t.Any) -> str:
    if isinstance(path, (str, bytes, os.PathLike)):
        return os.fsdecode(path)
    raise TypeError(f"files must be paths, found {type(path).__name__}: give texts as texts=")


def _may_be_text(path: str) -> bool:
    """Whether nothing has this path, and it is no glob either."""
    return not os.path.lexists(path) and not set("*?[") & set(path)


def _refuse_columns(texts: t.Any) -> None:
    """Refuses what is no list of texts but has some: of a dict and of a table Python would take the names."""
    named = texts if isinstance(texts, dict) else getattr(texts, "column_names", getattr(texts, "columns", None))
    if named is None:
        return
    names = [str(name) for name in named]
    name = "text" if "text" in names or not names else names[0]
    what = f"texts is a {type(texts).__name__} of {', '.join(map(repr, names)) or 'nothing'}"
    raise TypeError(f'{what}: name the column that holds the texts, as in texts=dataset["{name}"]')


def _checked(texts: t.Iterable[t.Any]) -> t.Iterable[t.Any]:
    """The texts; refuses the paths of files, as `glob.iglob` yields them: training on names would look like success."""
    import itertools

    _refuse_columns(texts)
    items = iter(texts)
    for first in items:
        one = first[0] if isinstance(first, (list, tuple)) and first else first
        if isinstance(one, os.PathLike) or (isinstance(one, str) and os.path.exists(one)):
            raise TypeError(f"{one!r} is the path of a file: give files as a list, or texts as texts=")
        return itertools.chain([first], items)
    return ()


def _finish(run: Run, texts: t.Union[t.Texts, None], show: t.Union[t.Progress, None]) -> list[str]:
    """Gives a run what it reads, hears what it says, and waits for its end. Returns what it warned of."""
    said: list[str] = []
    warned: list[str] = []
    from . import _tokenizer as _  # The caller needs it next; now the executable works.

    if texts is None and sys.platform != "win32":
        _listen(run, said, warned, show)
    else:
        # Both ends of the pipes are served; and Ctrl-C of Windows does not end a read.
        _listen_apart(run, said, warned, show, texts)
    exit_code = run.wait()
    run.close()
    reason = _reason([run.plain(line) for line in said])
    if exit_code < 0:
        raise BpeError(reason or f"bpe was ended by signal {-exit_code}")
    if exit_code > 0 or reason is not None:
        raise BpeError(reason or message_of("\n".join(said)))
    return warned


def _listen_apart(
    run: Run, said: list[str], warned: list[str], show: t.Union[t.Progress, None], texts: t.Union[t.Texts, None]
) -> None:
    import threading

    raised: list[BaseException] = []

    def listen() -> None:
        try:
            _listen(run, said, warned, show)
        except BaseException as error:
            # The run ends, so the texts are no longer taken, and the thread that sends them looks here.
            raised.append(error)
            run.stop()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    if texts is not None:
        _send(run, texts)
    while listener.is_alive():
        listener.join(0.2 if sys.platform == "win32" else None)
    if raised:
        raise raised[0]


def _send(run: Run, texts: t.Texts) -> None:
    """Each text is a line of JSON: a document that nothing crosses."""
    import json

    stdin = run.stdin
    assert stdin is not None
    encode = json.JSONEncoder(ensure_ascii=False).encode
    gathered = bytearray()
    has_any = has_characters = False
    try:
        for item in texts:
            for text in item if isinstance(item, (list, tuple)) else (item,):
                if not isinstance(text, str):
                    _refuse_columns(text)
                    raise TypeError(f"texts must be strings, found {type(text).__name__}")
                try:
                    gathered += b'{"text":' + encode(text).encode("utf-8") + b"}\n"
                except UnicodeEncodeError:
                    text.encode("utf-8")  # The same error, with the place in the text.
                has_any = True
                has_characters = has_characters or text != ""
                if len(gathered) >= _SENT_BYTES:
                    run.write(gathered)
                    gathered = bytearray()
        if not has_any:
            raise BpeError("there are no texts to learn from")
        if not has_characters:
            raise BpeError("all texts are empty: there is nothing to learn from")
        run.write(gathered)
        stdin.close()
    except BrokenPipeError:
        pass  # It has ended, and says why.


def _listen(run: Run, said: list[str], warned: list[str], show: t.Union[t.Progress, None]) -> None:
    for raw in run.said():
        line = raw.decode("utf-8", "replace").rstrip("\n")
        said.append(line)
        del said[:-100]
        # To read JSON, Python loads a module, and mostly nobody needs to know.
        if show is not None and line.startswith('{"event":"progress"'):
            event = _event(line)
            if event:
                show(event["stage"], event["done"], event.get("total"))
        elif line.startswith('{"event":"warning"'):
            warned.append(_shown(_event(line).get("message", line)))


def _event(line: str) -> dict[str, t.Any]:
    """An object of --progress json; empty where a run that was killed left half of it."""
    import json

    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _reason(said: t.Sequence[str]) -> t.Union[str, None]:
    """Why a run failed, if it says that it did."""
    for line in reversed(said):
        if line.startswith("bpe: error: "):
            return message_of("\n".join(said))
        if line.startswith('{"event":"result","success":false'):
            event = _event(line)
            hint = event.get("hint")
            return _shown(event.get("error", line)) + (f"\nhint: {_shown(hint)}" if hint else "")
    return None


def _shown(message: str) -> str:
    """A message whose names cannot move a terminal's cursor, or begin a line of their own."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in message)


def _shower(progress: t.Union[bool, t.Progress]) -> t.Union[t.Progress, None]:
    if callable(progress):
        return progress
    if not progress:
        return None

    def show(stage: str, done: int, total: t.Union[int, None]) -> None:
        share = f"{100 * done / total:5.1f} %" if total else f"{done}"
        sys.stderr.write(f"\r{stage:<10} {share:<12}")
        if total is not None and done >= total:
            sys.stderr.write("\n")
        sys.stderr.flush()

    return show
