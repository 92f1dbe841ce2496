"""Runs tests of the package at small scale. Takes unittest's arguments: `python at_small_scale.py test_cuts`."""

import sys
import unittest
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import bpe_trainer

DIST = Path(__file__).parents[2] / "dist"
MODULE = DIST / "native/small/_native.abi3.so"
#: The tiny sizes. `_HEAD_BYTES` and `_TYPED_CHARACTERS` are not among them. These two do not size a buffer, but decide
#: whether the executable must encode a file, and whether arguments are passed in a file.
SIZES = {
    "_files": {"_READ_BYTES": 80, "_WHOLE_BYTES": 1 << 22},
    "_image": {"_CHUNK_BYTES": 7},
    "_tokenizer": {"_CHARACTERS_PER_THREAD": 16, "_LONG_CHARACTERS": 32, "_DECODED_BYTES": 5},
    "_training": {"_SENT_BYTES": 3},
}


def begin() -> None:
    name = "bpe_trainer._native"
    loader = ExtensionFileLoader(name, str(MODULE))
    spec = spec_from_file_location(name, MODULE, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[name] = bpe_trainer._native = module
    # The small executable writes images for the small module.
    import_module("bpe_trainer._executable").find_executable = lambda: str(DIST / "bpe-small")
    for file, sizes in SIZES.items():
        of = import_module(f"bpe_trainer.{file}")
        for size, tiny in sizes.items():
            assert getattr(of, size) > tiny
            setattr(of, size, tiny)


begin()
unittest.main(module=None)
