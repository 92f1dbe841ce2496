"""Loads vLLM's own file of this name."""

import os
from pathlib import Path

exec(compile(Path(os.environ["BPE_SUITE"], "vllm.original/tokenizers/detokenizer_utils.py").read_text(), "detokenizer_utils.py", "exec"))
