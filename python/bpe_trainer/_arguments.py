"""Checks arguments. Errors name the parameter, what it takes, and the wrong value."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, NoReturn, TypeVar, Union

    F = TypeVar("F", bound=Callable[..., Any])

_PROGRESS = "use progress=True for a line on stderr, or a function, called with (stage, done, total)"
_ALPHABET = "leave it out: all 256 bytes are in every vocabulary"
_MARKS = "leave it out: tokens are bytes, without prefixes and suffixes"
_TEXTS = "pass texts as texts=, paths as files="
#: Parameters of other packages' trainers, and what to use here instead.
_ELSEWHERE = {
    **dict.fromkeys(("show_progress", "progress_format", "verbose"), _PROGRESS),
    **dict.fromkeys(("initial_alphabet", "limit_alphabet", "character_coverage", "byte_fallback"), _ALPHABET),
    **dict.fromkeys(("continuing_subword_prefix", "end_of_word_suffix"), _MARKS),
    **dict.fromkeys(("iterator", "text_iterator", "corpus", "input", "input_path", "data", "dataset", "file", "text"), _TEXTS),
    **dict.fromkeys(("bos_token", "eos_token", "pad_token", "unk_token"), "use bos, eos, pad and unk, each the text of a special token"),
    **dict.fromkeys(("num_threads", "num_proc", "threads"), "use workers, the number of threads"),
    "length": "leave it out: the number of texts is not needed",
    "trainer": "pass the trainer's parameters directly",
    "new_special_tokens": "use special_tokens",
    "special_tokens_map": "use bpe.train_new_from_iterator, or extend with rename={old: new}",
    "user_defined_symbols": "use special_tokens or seed_tokens",
    "model_prefix": "use output, the directory of the tokenizer",
    "pre_tokenizer": "use pattern, which says how text is split",
    "normalizer": "use normalize, as in normalize='NFC'",
}


def suggest_parameters(function: F) -> F:
    """Makes a function raise a TypeError for an unknown parameter. The error says what to use instead, if that is known."""
    code = getattr(function, "__code__")
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    def call(*given: Any, **named: Any) -> Any:
        for name in named:
            if name not in known:
                raise TypeError(_unknown(f"bpe.{function.__name__}", name, known))
        return function(*given, **named)

    # This does what `functools.wraps` does, whose module takes longer to load.
    for name in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
        setattr(call, name, getattr(function, name))
    setattr(call, "__wrapped__", function)
    return call  # type: ignore[return-value]


def _unknown(function: str, name: str, known: "tuple[str, ...]") -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    advice = _ELSEWHERE.get(name) or (f"did you mean {near[0]}?" if near else f"help({function}) lists its parameters")
    return f"{function} has no parameter {name!r}: {advice}"


def found(value: object) -> str:
    """Shows None, a number, a string or bytes in a message, cut to 60 characters; for any other value, shows its type."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        shown = repr(value)
        return shown if len(shown) <= 60 else f"{shown[:59]}…"
    return type(value).__name__


def refuse(name: str, wanted: str, value: object) -> NoReturn:
    raise TypeError(f"{name} must be {wanted}, found {found(value)}")


def whole_number(name: str, value: Any, least: Union[int, None] = None, wanted: str = "a whole number") -> int:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        refuse(name, wanted, value)
    number: int = value.__index__()
    if least is not None and number < least:
        raise ValueError(f"{name} is {number}, and must be {least} or more")
    return number


def text_of(name: str, value: Any) -> str:
    if not isinstance(value, str):
        refuse(name, "a string", value)
    return value


#: What to give instead of a path, by parameter.
_NO_PATH = {
    "files": "pass texts as texts=",
    "like": "save the tokenizer and pass its path, or use train_new_from_iterator",
}


def path_of(name: str, value: Any) -> str:
    if not isinstance(value, (str, bytes, os.PathLike)):
        hint = f": {_NO_PATH[name]}" if name in _NO_PATH else ""
        raise TypeError(f"{name} must be a path, found {found(value)}{hint}")
    return os.fsdecode(value)


def flag_of(name: str, value: Any, wanted: str = "True or False") -> bool:
    """Returns True or False. Also accepts 1 and 0, numpy's bools, and None, which means False."""
    if value is None or isinstance(value, (bool, int)) or type(value).__name__ in ("bool", "bool_"):
        if value is None or value in (0, 1):
            return bool(value)
    refuse(name, wanted, value)


def items_of(name: str, wanted: str, value: Any) -> list[tuple[Any, Any]]:
    """Returns the items of a mapping. Refuses classes, and values without `items`."""
    if isinstance(value, type) or not hasattr(value, "items"):
        refuse(name, wanted, value)
    return list(value.items())


def is_iterable(value: object) -> bool:
    return not isinstance(value, type) and hasattr(value, "__iter__")


def refuse_no_list(name: str, value: object, wanted: str) -> None:
    """Refuses strings, dicts, sets, and values that are not iterable."""
    if isinstance(value, (str, bytes, bytearray, dict, set, frozenset)):
        raise TypeError(f"{name} is a {'dict' if isinstance(value, dict) else type(value).__name__}: give {wanted}")
    if not is_iterable(value):
        refuse(name, wanted, value)


def refuse_text(name: str, values: object) -> None:
    """Refuses a list in which an item is not a string. Refuses a string itself, because Python would iterate its characters."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is a string: give a list, as in {name}=[{values[:40]!r}]")
    for item in values if isinstance(values, (list, tuple)) else ():
        if not isinstance(item, str):
            raise TypeError(f"{name} must be strings, found {type(item).__name__}")


def texts_of(name: str, values: Any) -> list[str]:
    """Returns a list of strings. Refuses a set, which has no order, and a dict, whose order is rarely meant."""
    refuse_text(name, values)
    if not is_iterable(values) or isinstance(values, (dict, set, frozenset)):
        refuse(name, "a list of strings", values)
    texts = list(values)
    refuse_text(name, texts)
    return texts
