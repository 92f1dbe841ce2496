"""Trains `bpe` and a real trainer on the same files, and compares the results. A manual check for developers:

    dist/peers/bin/python bench/peers/agree.py huggingface|rustbpe <vocab size> <corpus>... [-- <option of bpe>...]

The text of special tokens is removed from the peer's input, because `bpe` never counts it. HF gets the lines,
with their line ends, of each piece between special tokens; rustbpe gets each piece. For `huggingface`, the whole
model section of tokenizer.json has to be equal, byte for byte; for `rustbpe`, every token and its rank.
"""

import base64
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(__file__).parents[2]
rule, vocab_size, *rest = sys.argv[1:]
split = rest.index("--") if "--" in rest else len(rest)
corpora, options = rest[:split], rest[split + 1 :]


def values(name):
    return [options[i + 1] for i, option in enumerate(options) if option == name]


special_tokens = values("-s")
min_frequency = int((values("--min-frequency") or [0])[0])
max_token_length = int((values("--max-token-length") or [0])[0]) or None


def pieces(path):
    text = Path(path).read_bytes().decode("utf-8")
    tokens = sorted(special_tokens, key=len, reverse=True)
    return re.split("|".join(map(re.escape, tokens)), text) if tokens else [text]


def train_ours(path, directory):
    command = [root / "dist/bpe", "train", path, "-n", vocab_size, "--compat", rule, "-o", directory, "-q", *options]
    subprocess.run(command, check=True)


def model_section(text):
    return text[text.index('"model":') :]


def agree_with_huggingface(path, directory):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    train_ours(path, directory)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=int(vocab_size),
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        special_tokens=special_tokens,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    lines = (line for piece in pieces(path) for line in lines_of(piece))
    tokenizer.train_from_iterator(lines, trainer)
    tokenizer.save(f"{directory}/theirs.json")
    theirs = Path(directory, "theirs.json").read_text()
    ours = Path(directory, "tokenizer.json").read_text()
    merges = len(json.loads(ours)["model"]["merges"])
    return model_section(ours) == model_section(theirs), merges


def agree_with_rustbpe(path, directory):
    import rustbpe

    train_ours(path, directory)
    pattern = json.loads(Path(directory, "training.json").read_text())["options"]["pattern"]["regex"]
    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(iter(pieces(path)), int(vocab_size) - len(special_tokens), pattern=pattern)
    theirs = {bytes(token): rank for token, rank in tokenizer.get_mergeable_ranks()}
    lines = Path(directory, "tokenizer.tiktoken").read_text().split("\n")[:-1]
    ours = {base64.b64decode(line.split()[0]): int(line.split()[1]) for line in lines}
    return ours == theirs, len(ours) - 256


def lines_of(piece):
    """Returns lines as HF's trainer reads them from a file: they end only at "\n", and keep it."""
    return re.findall(r"[^\n]*\n|[^\n]+", piece)


def main():
    agree = {"huggingface": agree_with_huggingface, "rustbpe": agree_with_rustbpe}[rule]
    failed = False
    for path in corpora:
        with tempfile.TemporaryDirectory() as directory:
            equal, merges = agree(path, f"{directory}/tokenizer")
            failed |= not equal
            print(f"{Path(path).name}: {merges} merges, {'equal' if equal else 'DIFFERENT'}", flush=True)
    sys.exit(failed)


main()
