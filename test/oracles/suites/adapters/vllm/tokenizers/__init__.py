from typing import Any

TokenizerLike = Any
