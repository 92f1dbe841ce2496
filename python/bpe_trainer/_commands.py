"""Commands of `bpe` that answer with a dict: `bpe.inspect("tokenizer")` is `bpe inspect tokenizer --json`.

A parameter is an option of the command, in Python's spelling. `bpe` itself reads and checks what is given.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from typing import Any, Iterator, Union

from ._executable import BpeError
from ._tokenizer import Tokenizer
from ._training import run_bpe, emit_warnings
from ._types import Progress

#: Commands whose answer is the output of --json. The answer of any other command is the result that it reports.
_JSON = ("diff", "doctor", "eval", "explain", "inspect", "tokens", "verify")
#: Options that the caller cannot set, because they determine how the answer is read.
_OWN = ("csv", "help", "json", "quiet")
#: Options of `eval` that choose what its tables show. Its dict has everything.
_OF_TABLES = ("measure", "words")


class Command:
    """A command, as a function of its paths or tokenizers, and of its options by name."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.__doc__ = f"""Runs `bpe {name}` with these paths and options, and returns its answer. `bpe {name} --help` lists them.

        A path may also be a Tokenizer, or a dict of paths by name. An option that may be repeated takes a list, one that takes
        NAME=VALUE a dict, and one without a value True. ``progress`` is as for `train`.
        """

    def __call__(self, *paths: Any, progress: Union[bool, Progress] = False, **options: Any) -> dict[str, Any]:
        with ExitStack() as places:
            arguments = [self.__name__, "--progress=json", *(["--json"] if self.__name__ in _JSON else [])]
            for name, value in options.items():
                if name in _OWN:
                    raise TypeError(f"bpe.{self.__name__} has no parameter {name!r}: the answer is a dict")
                if self.__name__ == "eval" and name in _OF_TABLES:
                    raise TypeError(f"bpe.eval has no parameter {name!r}: leave it out, the dict has all measures and words")
                option = f"--{name.replace('_', '-')}"
                if name == "vocab_size" and isinstance(value, (list, tuple)):
                    value = ",".join(map(str, value))
                flag = [option] if value is True else []
                arguments += flag or [f"{option}={text}" for text in _texts(name, value, places)]
            for each in (*paths, *options.values()):
                # Add the options that `load` was given. With several tokenizers (`diff`, `eval`) they would apply to
                # all, so a tokenizer with such options is refused.
                if isinstance(each, Tokenizer) and each._source.options:
                    if self.__name__ in ("diff", "eval"):
                        raise TypeError(f"bpe.{self.__name__} takes no tokenizer that was loaded with pattern or special_tokens: call tokenizer.save('x.json') and pass that path")
                    arguments += each._source.options
            files = [text for path in paths for text in _texts("a path", path, places)]
            try:
                warned, answer, result = run_bpe([*arguments, "--", *files], progress, answers=self.__name__ in _JSON)
            except BpeError as error:
                if self.__name__ not in ("doctor", "verify") or not error.answer:
                    raise
                # A diagnosis with errors, or a verification with differences, is an answer, too.
                warned, answer, result = [], error.answer, {}
        emit_warnings(warned)
        found: dict[str, Any] = json.loads(answer) if self.__name__ in _JSON else result
        return {name: value for name, value in found.items() if name not in ("event", "success")}

    def __repr__(self) -> str:
        return f"<bpe {self.__name__}>"


def _texts(name: str, value: Any, places: ExitStack) -> Iterator[str]:
    """Yields the texts of a value as they would be typed: several if the option is repeated."""
    if isinstance(value, Tokenizer):
        yield places.enter_context(value._place())
    elif isinstance(value, dict):
        yield from (f"{key}={text}" for key, each in value.items() for text in _texts(name, each, places))
    elif isinstance(value, (list, tuple)):
        yield from (text for each in value for text in _texts(name, each, places))
    elif isinstance(value, (str, bytes, os.PathLike)):
        yield os.fsdecode(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)
    elif value is not None and value is not False:
        raise TypeError(f"{name} must be text, a number or a path, found {type(value).__name__}")


convert, diff, doctor, eval, explain, inspect, prune, tokens, truncate, verify = map(
    Command, ("convert", "diff", "doctor", "eval", "explain", "inspect", "prune", "tokens", "truncate", "verify")
)
