"""Trains with `bpe train`, which reads files by their paths, and texts from a pipe.

The executable is started as soon as possible. Modules that are needed later are loaded while it works.
"""

from __future__ import annotations

import os
import sys

from ._arguments import flag_of, found, is_iterable, items_of, path_of, refuse, refuse_no_list, refuse_text, texts_of, whole_number
from ._executable import BpeError, Home, Run, await_end, signal_error, in_thread, message_of, t


def train_with(
    parameters: t.Mapping[str, t.Sequence[str]], options: t.Mapping[str, str], given: dict[str, t.Any]
) -> t.Tokenizer:
    """Runs `bpe train` with the arguments of `train`, and loads the tokenizer. `_options.py` has the parameters."""
    files, texts, output, vocab_size = (given[name] for name in ("files", "texts", "output", "vocab_size"))
    # Without a size, nothing is learned, and `extend` only adds the given tokens and renames others.
    adds = vocab_size is None and given["extend"] is not None
    if vocab_size is None and not adds:
        raise TypeError("vocab_size is missing")
    sources = [files, texts, given["languages"]].count(None)
    if sources != 2 and not (sources == 3 and (adds or given["counts"] is not None)):
        raise TypeError("give exactly one of files, texts and languages")
    progress = _progress_of(given["progress"])
    paths: list[str] = []
    if isinstance(files, (str, bytes, os.PathLike)):
        paths = [os.fsdecode(files)]
    elif isinstance(files, (list, tuple)):
        paths = [path_of("files", path) for path in files]
        if not paths and not adds and given["counts"] is None:
            raise ValueError("files is empty: name at least one file")
    elif files is not None:
        texts = _check_texts(files)
    if texts is not None:
        refuse_no_texts("texts", texts)
        for name in ("text_field", "input_format"):
            if given[name] is not None:
                raise TypeError(f"{name} is for files, but texts are given")
        if given["superwords_from"] is not None:
            raise TypeError(
                "superwords_from needs files, not texts: it reads the corpus twice, and texts can be read only once"
                "\nhint: write the texts to a file, as plain text or as lines of JSON"
            )
    sizes = [] if vocab_size is None else _sizes(vocab_size, output)
    # Only this form of progress prints no summary, which would take time to make.
    arguments = ["train", "--progress=json", *([f"--vocab-size={','.join(sizes)}"] if sizes else [])]
    kinds = {name: kind for kind, names in parameters.items() for name in names}
    for name, value in given.items():
        if name in kinds and value is not None:
            arguments += _format_option(name, f"--{options.get(name, name.replace('_', '-'))}", kinds[name], value)
    kept = Home() if output is None else None
    directory = path_of("output", output) if kept is None else os.path.join(kept.name, "tokenizer")
    arguments.append(f"--output={directory}")
    if texts is None:
        arguments += ["--", *paths]
    try:
        emit_warnings(run_training(arguments, texts, progress))
    except BaseException as error:
        if kept is not None:
            kept.cleanup()
        if not isinstance(error, BpeError):
            raise
        hint = "\nhint: pass texts as texts=[...]; strings in files are paths" if any(map(_may_be_text, paths)) else ""
        raise BpeError(f"{error}{hint}") from None
    from ._source import Source, look_at
    from ._tokenizer import Tokenizer

    path = directory if len(sizes) < 2 else os.path.join(directory, sizes[-1])
    return Tokenizer._of(Source(path, kept, seen=look_at(path)))


def run_training(arguments: list[str], texts: t.Union[t.Texts, None], progress: t.Union[bool, t.Progress]) -> list[str]:
    """Runs `bpe train`, which reads the texts if there are any. Returns its warnings."""
    if texts is not None:
        arguments = [*arguments, "--input-format=jsonl", "--text-field=text", "--", "-"]
    return run_bpe(arguments, progress, texts)[0]


def run_bpe(
    arguments: list[str],
    progress: t.Union[bool, t.Progress],
    texts: t.Union[t.Texts, None] = None,
    *,
    answers: bool = False,
) -> tuple[list[str], bytes, dict[str, t.Any]]:
    """Runs a command that reports by --progress=json. On any error, ends the command, which then leaves no partial output.

    Returns its warnings, what it wrote to stdout if ``answers`` is true, and its result.
    """
    run = Run(arguments, takes_input=texts is not None, answers=answers)
    try:
        run.start()
        return _finish(run, texts, _progress_function(progress))
    except BaseException:
        run.abandon()
        raise


def emit_warnings(messages: t.Sequence[str]) -> None:
    """Warns, with the position of the line that called this package."""
    if not messages:
        return
    import warnings

    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        frame, level = frame.f_back, level + 1
    for message in messages:
        warnings.warn(message, stacklevel=level)


#: How many bytes of texts are sent to the executable at a time.
_SENT_BYTES = 1 << 16


def _sizes(vocab_size: t.Any, output: t.Union[t.PathLike, None]) -> list[str]:
    """Returns the sizes as texts, the largest one last."""
    if isinstance(vocab_size, str):
        if "," in vocab_size:
            raise TypeError(f'vocab_size is "{vocab_size}": pass several sizes as a list of numbers')
        return [vocab_size]
    if not isinstance(vocab_size, (list, tuple)) and (isinstance(vocab_size, (bytes, dict)) or not is_iterable(vocab_size)):
        return [str(whole_number("vocab_size", vocab_size))]
    sizes = sorted(whole_number("vocab_size", size) for size in vocab_size)
    if len(sizes) < 2:
        raise TypeError(f"vocab_size is {vocab_size!r}: pass at least two sizes in a list, or one size as a number")
    if output is None:
        raise TypeError("output is missing: with several sizes, each is written to a directory in output")
    return [f"{size:d}" for size in sizes]


def _format_option(name: str, option: str, kind: str, value: t.Any) -> list[str]:
    """Returns the arguments for a value of an option."""
    if kind in ("flag", "decision"):
        return [option] if flag_of(name, value) else [f"--no-{option[2:]}"] if kind == "decision" else []
    return [f"{option}={text}" for text in _PRINTERS[kind](name, value)]


def _as_list(value: t.Any) -> t.Sequence[t.Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def _format_value(name: str, value: t.Any) -> list[str]:
    """Formats a text, a path or a number. The executable checks which of them the option takes."""
    if isinstance(value, (str, os.PathLike)):
        return [os.fsdecode(value)]
    return [str(whole_number(name, value, wanted="a string or a whole number"))]


def _format_list(name: str, value: t.Any) -> list[str]:
    return [value if isinstance(value, str) else ",".join(texts_of(name, value))]


def _format_numbers(name: str, value: t.Any) -> list[str]:
    """Formats numbers without exponents."""
    from decimal import Decimal, InvalidOperation

    refuse_no_list(name, value, "a list of numbers")
    decimals = []
    for number in value:
        if isinstance(number, (bool, str, bytes)) or number is None:
            raise TypeError(f"{name} must be numbers, found {found(number)}")
        try:
            decimals.append(f"{Decimal(str(number)):f}")
        except InvalidOperation:
            raise TypeError(f"{name} must be numbers, found {found(number)}") from None
    return decimals


def _format_languages(parameter: str, value: t.Any) -> list[str]:
    items = items_of(parameter, 'a dict of files by language, as in {"en": "en.txt"}', value)
    for name, given in items:
        if not isinstance(name, str) or not name or set("=/") & set(name) or not _as_list(given):
            raise TypeError(f"{parameter} has the language {name!r}: it needs a name without = and /, and at least one file")
    return [f"{name}={path_of(parameter, file)}" for name, given in items for file in _as_list(given)]


def _format_renames(name: str, value: t.Any) -> list[str]:
    items = items_of(name, 'a dict of new texts by old ones, as in {"<old>": "<new>"}', value)
    for before, after in items:
        if not isinstance(before, str) or not isinstance(after, str) or "=" in before:
            raise TypeError(f"{name} has {before!r}: {after!r}, but must map a string without = to a string")
    return [f"{before}={after}" for before, after in items]


def _format_weights(name: str, value: t.Any) -> list[str]:
    """Formats weights. Relative paths begin with ./, because the option would read what is before a = as a name."""
    items = items_of(name, 'a dict of weights by path or glob, as in {"corpus/hi": 3}', value)
    for path, weight in items:
        if not isinstance(path, (str, os.PathLike)) or isinstance(weight, (bool, str)):
            raise TypeError(f"{name} has {path!r}: {weight!r}, but must map a path or a glob to a number")
    named = ((os.fsdecode(path), *_format_numbers(name, [weight])) for path, weight in items)
    return [f"{path if os.path.isabs(path) else os.path.join('.', path)}:{weight}" for path, weight in named]


_PRINTERS: dict[str, t.Callable[[str, t.Any], t.Iterable[t.Any]]] = {
    "value": _format_value,
    "path": lambda name, value: [path_of(name, value)],
    "paths": lambda name, value: [path_of(name, path) for path in _as_list(value)],
    "texts": texts_of,
    "listed": _format_list,
    "numbers": lambda name, value: [",".join(_format_numbers(name, value))],
    "fields": lambda name, value: [":".join(_format_numbers(name, value))],
    "languages": _format_languages,
    "renames": _format_renames,
    "weights": _format_weights,
}


def refuse_no_texts(name: str, texts: object) -> None:
    """Refuses strings, dicts, tables, and values that are not iterable. The items are checked when they are sent."""
    refuse_text(name, texts if isinstance(texts, (str, bytes)) else ())
    if not is_iterable(texts):
        raise TypeError(f"{name} must be an iterable of strings, found {type(texts).__name__}")
    _refuse_columns(texts)


def _may_be_text(path: str) -> bool:
    """Whether a path does not exist, and is not a glob."""
    return not os.path.lexists(path) and not set("*?[") & set(path)


def _refuse_columns(texts: t.Any) -> None:
    """Refuses dicts and tables of texts, because iterating over them yields names."""
    named = texts if isinstance(texts, dict) else getattr(texts, "column_names", getattr(texts, "columns", None))
    if named is None:
        return
    names = [str(name) for name in named]
    name = "text" if "text" in names or not names else names[0]
    what = f"texts is a {type(texts).__name__} of {', '.join(map(repr, names)) or 'nothing'}"
    raise TypeError(f'{what}: pass the column that holds the texts, as in texts=dataset["{name}"]')


def _check_texts(texts: t.Iterable[t.Any]) -> t.Iterable[t.Any]:
    """Returns the texts. Refuses them if the first is a path object or an existing path, so that no path is learned as text."""
    import itertools

    if not is_iterable(texts):
        refuse("files", "paths or an iterable of texts", texts)
    _refuse_columns(texts)
    items = iter(texts)
    for first in items:
        one = first[0] if isinstance(first, (list, tuple)) and first else first
        if isinstance(one, os.PathLike) or (isinstance(one, str) and os.path.exists(one)):
            raise TypeError(f"{one!r} is the path of a file: pass files as a list, or texts as texts=")
        return itertools.chain([first], items)
    return ()


def _finish(
    run: Run, texts: t.Union[t.Texts, None], show: t.Union[t.Progress, None]
) -> tuple[list[str], bytes, dict[str, t.Any]]:
    """Sends the texts to a run, reads what it writes, and waits until it has ended."""
    said: list[str] = []
    warned: list[str] = []
    answer = b""
    from . import _tokenizer as _  # The caller needs this module next; it is loaded while the executable works.

    if texts is None and run.stdout is None and sys.platform != "win32":
        _listen(run, said, warned, show)
    else:
        # Another thread reads stderr, because this one sends texts or reads the answer. On Windows, another thread
        # always reads it, because Ctrl-C cannot end a read there.
        answer = _listen_apart(run, said, warned, show, texts)
    exit_code = run.wait()
    run.close()
    reason = _reason(said)
    if exit_code < 0:
        raise BpeError(reason) if reason else signal_error(-exit_code)
    if exit_code > 0 or reason is not None:
        error = BpeError(reason or message_of("\n".join(said)))
        error.answer = answer
        raise error
    return warned, answer, _event(said[-1]) if said else {}


def _listen_apart(
    run: Run, said: list[str], warned: list[str], show: t.Union[t.Progress, None], texts: t.Union[t.Texts, None]
) -> bytes:
    """Reads stderr in a thread. Meanwhile this thread sends the texts, or reads stdout."""
    raised: list[BaseException] = []

    def listen() -> None:
        try:
            _listen(run, said, warned, show)
        except BaseException as error:
            # Stop the run, so that the other thread stops sending texts or reading the answer, and raises this error.
            raised.append(error)
            run.stop()

    listener = in_thread(listen)
    if not listener.has_begun():
        # If nothing read the stderr of the run, the run would wait as soon as that pipe is full.
        raise MemoryError("there is not enough memory to start a thread, which training needs")
    answer = b""
    if texts is not None:
        _send(run, texts)
    elif run.stdout is not None:
        answer = run.stdout.read()
    if run.is_ours:  # In a forked child that thread does not exist; `wait` raises the error.
        await_end(listener)
    if raised:
        raise raised.pop()
    return answer


def _send(run: Run, texts: t.Texts) -> None:
    """Sends each text as a line of JSON, which is a document of its own."""
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
                    text.encode("utf-8")  # Raises the same error, but with the position in the text.
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
        pass  # The run has ended, and its stderr says why.


def _listen(run: Run, said: list[str], warned: list[str], show: t.Union[t.Progress, None]) -> None:
    for raw in run.stderr_lines():
        line = raw.decode("utf-8", "replace").rstrip("\n")
        said.append(line)
        del said[:-100]
        # Parse only lines that are needed, because parsing loads the module json.
        if show is not None and line.startswith('{"event":"progress"'):
            event = _event(line)
            if event:
                show(event["stage"], event["done"], event.get("total"))
        elif line.startswith('{"event":"warning"'):
            warned.append(_escape(_event(line).get("message", line)))


def _event(line: str) -> dict[str, t.Any]:
    """Parses a line of --progress=json. Returns {} for an incomplete line, as a killed run may leave."""
    import json

    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _reason(said: t.Sequence[str]) -> t.Union[str, None]:
    """Returns the reason why a run failed; None if it reported no failure."""
    for line in reversed(said):
        if line.startswith("bpe: error: "):
            return message_of("\n".join(said))
        if line.startswith('{"event":"result","success":false'):
            event = _event(line)
            hint = event.get("hint")
            return _escape(event.get("error", line)) + (f"\nhint: {_escape(hint)}" if hint else "")
    return None


def _escape(message: str) -> str:
    """Escapes a message, so that names in it cannot move a terminal's cursor, or begin a new line."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in message)


def _progress_of(progress: t.Any) -> t.Union[bool, t.Progress]:
    if callable(progress):
        return progress  # type: ignore[no-any-return]
    return flag_of("progress", progress, "True, False or a function")


def _progress_function(progress: t.Union[bool, t.Progress]) -> t.Union[t.Progress, None]:
    if callable(progress):
        return progress
    if not progress:
        return None
    ended: set[str] = set()

    def show(stage: str, done: int, total: t.Union[int, None]) -> None:
        """Draws a line that changes. If stderr is not a terminal, prints a line at the end of each stage."""
        has_ended = total is not None and done >= total
        if stage not in ended and (sys.stderr.isatty() or has_ended):
            ended.update([stage] if has_ended else ())
            start = "\r" if sys.stderr.isatty() else ""
            share = f"{done:,}" if has_ended or not total else f"{100 * done / total:5.1f} %"
            sys.stderr.write(f"{start}{stage:<10} {share:<16}".rstrip(" ") + ("\n" if has_ended else ""))
            sys.stderr.flush()

    return show
