"""Training: files are named to `bpe train`, texts go to it through a pipe. No copy of a corpus is made.

The executable starts as soon as can be; what Python needs besides is loaded while it works.
"""

from __future__ import annotations

import os
import sys

from ._arguments import flag_of, found, is_iterable, items_of, path_of, refuse, refuse_text, texts_of, whole_number
from ._executable import BpeError, Home, Later, Run, await_end, ended_by, in_thread, message_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import _types as t
else:
    t = Later("bpe_trainer._types")


def train_with(options: t.Sequence[tuple[str, str, str]], given: dict[str, t.Any]) -> t.Tokenizer:
    """Runs `bpe train` with what its parameters are given, and loads the tokenizer. `_options.py` has the parameters."""
    files, texts, output, vocab_size = (given[name] for name in ("files", "texts", "output", "vocab_size"))
    # Without a size nothing is learned: a tokenizer gets the tokens that are given.
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
        paths = [_path("files", path) for path in files]
        if not paths and not adds and given["counts"] is None:
            raise ValueError("files is empty: name at least one file")
    elif files is not None:
        texts = _checked(files)
    if texts is not None:
        refuse_no_texts("texts", texts)
        for name in ("text_field", "input_format"):
            if given[name] is not None:
                raise TypeError(f"{name} is for files, and texts are given")
        if given["superwords_from"] is not None:
            raise TypeError(
                "superwords_from is for files, and texts are given: the corpus is read twice, and texts are read once"
                "\nhint: write them to a file, as text or as lines of JSON"
            )
    sizes = [] if vocab_size is None else _sizes(vocab_size, output)
    # Nobody reads the summary of the other forms, and to make it takes its time.
    arguments = ["train", "--progress=json", *([f"--vocab-size={','.join(sizes)}"] if sizes else [])]
    for name, option, kind in options:
        if given[name] is not None:
            arguments += _printed(name, f"--{option}", kind, given[name])
    kept: t.Union[Home, None] = None
    if output is None:
        kept = Home()
        directory = os.path.join(kept.name, "tokenizer")
    else:
        directory = path_of("output", output)
    arguments.append(f"--output={directory}")
    if texts is None:
        arguments += ["--", *paths]
    try:
        shown_warnings(run_training(arguments, texts, progress))
    except BaseException as error:
        if kept is not None:
            kept.cleanup()
        if not isinstance(error, BpeError):
            raise
        hint = "\nhint: give texts as texts=[...]; strings in files are paths" if any(map(_may_be_text, paths)) else ""
        raise BpeError(f"{error}{hint}") from None
    from ._source import Source, look_at
    from ._tokenizer import Tokenizer

    path = directory if len(sizes) < 2 else os.path.join(directory, sizes[-1])
    return Tokenizer._of(Source(path, kept, seen=look_at(path)))


def run_training(
    arguments: list[str], texts: t.Union[t.Texts, None], progress: t.Union[bool, t.Progress]
) -> list[str]:
    """Runs `bpe train`, which reads the texts if there are any. Returns what it warned of."""
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
    """A run that says by --progress=json how it goes; leaves nothing half-written.

    Returns what it warned of, what it wrote to stdout if it ``answers``, and its result.
    """
    run = Run(arguments, takes_input=texts is not None, answers=answers)
    try:
        run.start()
        return _finish(run, texts, _shower(progress))
    except BaseException:
        run.abandon()
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


def _sizes(vocab_size: t.Any, output: t.Union[t.PathLike, None]) -> list[str]:
    """As the command line takes them, the largest one last."""
    if isinstance(vocab_size, str):
        if "," in vocab_size:
            raise TypeError(f'vocab_size is "{vocab_size}": give several sizes as a list of numbers')
        return [vocab_size]
    if not isinstance(vocab_size, (list, tuple)) and (isinstance(vocab_size, (bytes, dict)) or not is_iterable(vocab_size)):
        return [str(whole_number("vocab_size", vocab_size))]
    sizes = sorted(whole_number("vocab_size", size) for size in vocab_size)
    if len(sizes) < 2:
        raise TypeError(f"vocab_size is {vocab_size!r}: give at least two sizes in a list, or one size as a number")
    if output is None:
        raise TypeError("output is missing: each of several sizes is written to a directory in it")
    return [f"{size:d}" for size in sizes]


def _printed(name: str, option: str, kind: str, value: t.Any) -> list[str]:
    """How a value is said on the command line."""
    if kind in ("flag", "decision"):
        return [option] if flag_of(name, value) else [f"--no-{option[2:]}"] if kind == "decision" else []
    return [f"{option}={text}" for text in _PRINTERS[kind](name, value)]


def _several(value: t.Any) -> t.Sequence[t.Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def _one(name: str, value: t.Any) -> list[str]:
    """A text, a path or a number: which of them it may be, the executable knows."""
    if isinstance(value, (str, os.PathLike)):
        return [os.fsdecode(value)]
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        refuse(name, "a string or a whole number", value)
    return [str(whole_number(name, value))]


def _listed(name: str, value: t.Any) -> list[str]:
    return [value if isinstance(value, str) else ",".join(texts_of(name, value))]


def _decimals(name: str, value: t.Any) -> list[str]:
    """Without exponents."""
    from decimal import Decimal, InvalidOperation

    if isinstance(value, (str, bytes, dict, set)) or not is_iterable(value):
        refuse(name, "a list of numbers", value)
    decimals = []
    for number in value:
        if isinstance(number, (bool, str, bytes)) or number is None:
            raise TypeError(f"{name} must be numbers, found {found(number)}")
        try:
            decimals.append(f"{Decimal(str(number)):f}")
        except InvalidOperation:
            raise TypeError(f"{name} must be numbers, found {found(number)}") from None
    return decimals


def _languages(parameter: str, value: t.Any) -> list[str]:
    items = items_of(parameter, 'a dict of files by language, as in {"en": "en.txt"}', value)
    for name, given in items:
        if not isinstance(name, str) or not name or set("=/") & set(name) or not _several(given):
            raise TypeError(f"{parameter} has {name!r}: a language needs a name without = and /, and a file")
    return [f"{name}={_path(parameter, file)}" for name, given in items for file in _several(given)]


def _renames(name: str, value: t.Any) -> list[str]:
    items = items_of(name, 'a dict of new texts by old ones, as in {"<old>": "<new>"}', value)
    for before, after in items:
        if not isinstance(before, str) or not isinstance(after, str) or "=" in before:
            raise TypeError(f"{name} has {before!r}: {after!r}, and must map a text without = to a text")
    return [f"{before}={after}" for before, after in items]


def _weights(name: str, value: t.Any) -> list[str]:
    """A path is not taken for a name."""
    items = items_of(name, 'a dict of weights by path or glob, as in {"corpus/hi": 3}', value)
    for path, weight in items:
        if not isinstance(path, (str, os.PathLike)) or isinstance(weight, (bool, str)):
            raise TypeError(f"{name} has {path!r}: {weight!r}, and must map a path or a glob to a number")
    named = ((os.fsdecode(path), *_decimals(name, [weight])) for path, weight in items)
    return [f"{path if os.path.isabs(path) else os.path.join('.', path)}:{weight}" for path, weight in named]


_PRINTERS: dict[str, t.Callable[[str, t.Any], t.Iterable[t.Any]]] = {
    "value": _one,
    "path": lambda name, value: [_path(name, value)],
    "paths": lambda name, value: [_path(name, path) for path in _several(value)],
    "texts": texts_of,
    "listed": _listed,
    "numbers": lambda name, value: [",".join(_decimals(name, value))],
    "fields": lambda name, value: [":".join(_decimals(name, value))],
    "languages": _languages,
    "renames": _renames,
    "weights": _weights,
}


def refuse_no_texts(name: str, texts: object) -> None:
    """Refuses anything but an iterable of texts, or of lists of them, even if Python could iterate over it."""
    refuse_text(name, texts if isinstance(texts, (str, bytes)) else ())
    if not is_iterable(texts):
        raise TypeError(f"{name} must be an iterable of strings, found {type(texts).__name__}")
    _refuse_columns(texts)


def _path(name: str, path: t.Any) -> str:
    if isinstance(path, (str, bytes, os.PathLike)):
        return os.fsdecode(path)
    hints = {"files": ": give texts as texts=", "like": ": save it, and give its path; train_new_from_iterator takes a tokenizer"}
    raise TypeError(f"{name} must be a path, found {type(path).__name__}{hints.get(name, '')}")


def _may_be_text(path: str) -> bool:
    """Whether nothing has this path, and it is no glob either."""
    return not os.path.lexists(path) and not set("*?[") & set(path)


def _refuse_columns(texts: t.Any) -> None:
    """Refuses containers of texts that are not lists: iterating a dict or a table gives its names."""
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

    if not is_iterable(texts):
        refuse("files", "paths or an iterable of texts", texts)
    _refuse_columns(texts)
    items = iter(texts)
    for first in items:
        one = first[0] if isinstance(first, (list, tuple)) and first else first
        if isinstance(one, os.PathLike) or (isinstance(one, str) and os.path.exists(one)):
            raise TypeError(f"{one!r} is the path of a file: give files as a list, or texts as texts=")
        return itertools.chain([first], items)
    return ()


def _finish(
    run: Run, texts: t.Union[t.Texts, None], show: t.Union[t.Progress, None]
) -> tuple[list[str], bytes, dict[str, t.Any]]:
    """Gives a run what it reads, hears what it says, and waits for its end."""
    said: list[str] = []
    warned: list[str] = []
    answer = b""
    from . import _tokenizer as _  # The caller needs it next; now the executable works.

    if texts is None and run.stdout is None and sys.platform != "win32":
        _listen(run, said, warned, show)
    else:
        # Both ends of the pipes are served; and Ctrl-C of Windows does not end a read.
        answer = _listen_apart(run, said, warned, show, texts)
    exit_code = run.wait()
    run.close()
    reason = _reason([run.plain(line) for line in said])
    if exit_code < 0:
        raise BpeError(reason) if reason else ended_by(-exit_code)
    if exit_code > 0 or reason is not None:
        error = BpeError(reason or message_of("\n".join(said)))
        error.answer = answer
        raise error
    return warned, answer, _event(said[-1]) if said else {}


def _listen_apart(
    run: Run, said: list[str], warned: list[str], show: t.Union[t.Progress, None], texts: t.Union[t.Texts, None]
) -> bytes:
    """In a thread; meanwhile this one sends the texts, or reads what the run answers."""
    raised: list[BaseException] = []

    def listen() -> None:
        try:
            _listen(run, said, warned, show)
        except BaseException as error:
            # The run ends, so the texts are no longer taken, and the thread that sends them looks here.
            raised.append(error)
            run.stop()

    listener = in_thread(listen)
    if not listener.has_begun():
        # The run would wait for somebody to read what it says.
        raise MemoryError("there is no room for a thread, which a training needs")
    answer = b""
    if texts is not None:
        _send(run, texts)
    elif run.stdout is not None:
        answer = run.stdout.read()
    if run.is_ours:  # Else there is no such thread here, and the run says so.
        await_end(listener)
    if raised:
        raise raised.pop()
    return answer


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


def _progress_of(progress: t.Any) -> t.Union[bool, t.Progress]:
    if callable(progress):
        return progress  # type: ignore[no-any-return]
    try:
        return flag_of("progress", progress)
    except TypeError:
        refuse("progress", "True, False or a function", progress)


def _shower(progress: t.Union[bool, t.Progress]) -> t.Union[t.Progress, None]:
    if callable(progress):
        return progress
    if not progress:
        return None
    ended: set[str] = set()

    def show(stage: str, done: int, total: t.Union[int, None]) -> None:
        """A line that changes; where that cannot be, one for each stage, at its end."""
        has_ended = total is not None and done >= total
        if stage not in ended and (sys.stderr.isatty() or has_ended):
            ended.update([stage] if has_ended else ())
            start = "\r" if sys.stderr.isatty() else ""
            share = f"{done:,}" if has_ended or not total else f"{100 * done / total:5.1f} %"
            sys.stderr.write(f"{start}{stage:<10} {share:<16}".rstrip(" ") + ("\n" if has_ended else ""))
            sys.stderr.flush()

    return show
