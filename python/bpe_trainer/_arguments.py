"""Checks arguments. Errors name the parameter, what it takes, and the wrong value."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, NoReturn, TypeVar, Union

    F = TypeVar("F", bound=Callable[..., Any])

_PROGRESS = "progress=True draws a line on stderr, and a function gets (stage, done, total)"
_ALPHABET = "leave it out: all 256 bytes are in every vocabulary"
_MARKS = "leave it out: tokens are bytes, without marks of words"
_TEXTS = "give texts as texts=, paths as files="
#: Parameters of other packages' trainers, and what to use here instead.
_ELSEWHERE = {
    **dict.fromkeys(("show_progress", "progress_format", "verbose"), _PROGRESS),
    **dict.fromkeys(("initial_alphabet", "limit_alphabet", "character_coverage", "byte_fallback"), _ALPHABET),
    **dict.fromkeys(("continuing_subword_prefix", "end_of_word_suffix"), _MARKS),
    **dict.fromkeys(("iterator", "text_iterator", "corpus", "input", "input_path", "data", "dataset", "file", "text"), _TEXTS),
    **dict.fromkeys(("bos_token", "eos_token", "pad_token", "unk_token"), "bos, eos, pad and unk name tokens of special_tokens"),
    **dict.fromkeys(("num_threads", "num_proc", "threads"), "workers is the number of threads"),
    "length": "leave it out: texts need no length",
    "trainer": "give the parameters of the trainer themselves",
    "new_special_tokens": "give them as special_tokens",
    "special_tokens_map": "bpe.train_new_from_iterator takes it; with extend, rename gives special tokens new texts",
    "user_defined_symbols": "give them as special_tokens, or as seed_tokens",
    "model_prefix": "output is the directory of the tokenizer",
    "pre_tokenizer": "pattern says how text is cut",
    "normalizer": "normalize changes text, as in normalize='NFC'",
}


def suggest_parameters(function: F) -> F:
    """Makes a function raise a TypeError for an unknown parameter that says which one to use instead."""
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
    advice = _ELSEWHERE.get(name) or (f"did you mean {near[0]}?" if near else f"help({function}) lists them")
    return f"{function} has no parameter {name!r}: {advice}"


def found(value: object) -> str:
    """Shows a wrong value in a message, or only its type if the value may be long."""
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
    "files": "give texts as texts=",
    "like": "save it, and give its path; train_new_from_iterator takes a tokenizer",
}


def path_of(name: str, value: Any) -> str:
    if not isinstance(value, (str, bytes, os.PathLike)):
        hint = f": {_NO_PATH[name]}" if name in _NO_PATH else ""
        raise TypeError(f"{name} must be a path, found {found(value)}{hint}")
    return os.fsdecode(value)


def flag_of(name: str, value: Any, wanted: str = "True or False") -> bool:
    """Returns True or False. Accepts numpy's bools, and 1 and 0, too."""
    if value is None or isinstance(value, (bool, int)) or type(value).__name__ in ("bool", "bool_"):
        if value is None or value in (0, 1):
            return bool(value)
    refuse(name, wanted, value)


def items_of(name: str, wanted: str, value: Any) -> list[tuple[Any, Any]]:
    """Returns the items of a dict, and refuses anything else."""
    if isinstance(value, type) or not hasattr(value, "items"):
        refuse(name, wanted, value)
    return list(value.items())


def is_iterable(value: object) -> bool:
    return not isinstance(value, type) and hasattr(value, "__iter__")


def refuse_no_list(name: str, value: object, wanted: str) -> None:
    """Refuses what Python cannot iterate over, strings and dicts, which yield characters and names, and sets, which have no order."""
    if isinstance(value, (str, bytes, bytearray, dict, set, frozenset)):
        raise TypeError(f"{name} is a {'dict' if isinstance(value, dict) else type(value).__name__}: give {wanted}")
    if not is_iterable(value):
        refuse(name, wanted, value)


def refuse_text(name: str, values: object) -> None:
    """Refuses a string instead of a list of strings, because Python would iterate its characters, and a list of other values."""
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
