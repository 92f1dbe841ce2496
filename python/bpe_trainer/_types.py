"""What annotations of training name. Loaded where somebody evaluates them, as `typing.get_type_hints` does."""

import os
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from ._segments import Segment
from ._tokenizer import Tokenizer

PathLike = Union[str, os.PathLike[str]]
#: Each is a document of its own, alone or in a batch.
Texts = Iterable[Union[str, Sequence[str]]]
#: Called with the stage ("counting", "merging", ...), how much is done, and of how much (None where nobody knows).
Progress = Callable[[str, int, Union[int, None]], None]

__all__ = ["Any", "Callable", "Iterable", "Mapping", "PathLike", "Progress", "Segment", "Sequence", "Texts", "Tokenizer", "Union"]
