"""The types in annotations of functions that train. `import bpe_trainer` does not load them: `_executable.py` loads them
when annotations are evaluated, as by `typing.get_type_hints`."""

import os
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from ._segments import Segment
from ._tokenizer import Tokenizer

PathLike = Union[str, os.PathLike[str]]
#: Texts, or batches of texts. Each text is a document of its own.
Texts = Iterable[Union[str, Sequence[str]]]
#: Called with the stage ("counting", "merging", ...), how much is done, and the total (None if it is unknown).
Progress = Callable[[str, int, Union[int, None]], None]

__all__ = ["Any", "Callable", "Iterable", "Mapping", "PathLike", "Progress", "Segment", "Sequence", "Texts", "Tokenizer", "Union"]
