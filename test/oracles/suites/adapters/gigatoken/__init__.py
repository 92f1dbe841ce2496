"""gigatoken's trainer over bpe_trainer."""

from pathlib import Path

import bpe_trainer as bpe


def train_bpe(in_data, vocab_size, special_tokens, tie_breaking="huggingface", separator=None):
    """Ids are bytes, then merges: as HF has them but for the order of bytes, which decides ties."""
    assert tie_breaking == "huggingface" and separator is None and not special_tokens
    data = in_data if isinstance(in_data, bytes) else Path(in_data).read_bytes()
    learned = bpe.train(texts=[data.decode("utf-8")], vocab_size=vocab_size, compat="huggingface", whole_texts=True)
    merges = learned.merges
    tokens = [bytes([byte]) for byte in range(256)] + [left + right for left, right in merges]
    return dict(enumerate(tokens)), merges
