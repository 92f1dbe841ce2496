"""Models are files that the runner wrote, or come from Hugging Face's hub if it can be reached."""

import os
from pathlib import Path

import pytest
import transformers

from bpe_trainer import hf

hf.patch_transformers()


_from_hub = transformers.AutoTokenizer.from_pretrained


def _from_pretrained(name, **_):
    directory = Path(os.environ["BPE_SUITES_MODELS"], name.replace("/", "--"))
    if name.startswith("mistralai/"):
        pytest.skip(f"{name} is read by mistral-common")
    if directory.exists():
        return transformers.PreTrainedTokenizerFast.from_pretrained(directory)
    if os.environ.get("HF_HUB_OFFLINE") == "1":
        pytest.skip(f"{name} is on Hugging Face's hub")
    return _from_hub(name)


transformers.AutoTokenizer.from_pretrained = _from_pretrained


def with_retry(call, log_msg):
    return call()
