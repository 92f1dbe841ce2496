"""Trains with one peer and prints a JSON line: seconds of the training call alone (and of all its threads) and of the
whole job, peak memory, and the checksum of the merges.

    python train.py tokenizers|gigabpe corpus.txt 32000 threads started pattern

The whole job is what a user's script does: start, import, train, write the result into a file. `started` is when the
process was started, in seconds since 1970. The pattern is gpt2, or a regular expression.
"""

import hashlib
import json
import os
import sys
import tempfile
import time

from usage import measured, peak_memory_bytes

peer, path, vocab_size = sys.argv[1], sys.argv[2], int(sys.argv[3])
threads, started, pattern = int(sys.argv[4] or 0), float(sys.argv[5]), sys.argv[6]
output = tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json")
if threads > 0:
    os.environ["RAYON_NUM_THREADS"] = str(threads)


def train_tokenizers():
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern == "gpt2")
    cut = [] if pattern == "gpt2" else [pre_tokenizers.Split(Regex(pattern), "isolated")]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*cut, bytes_of])
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    _, usage = measured(lambda: tokenizer.train([path], trainer))
    tokenizer.save(output.name)
    whole = time.time() - started
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return usage, whole, [tuple(merge) for merge in merges]


def train_gigabpe():
    import gigabpe

    (vocabulary, merges), usage = measured(
        lambda: gigabpe.train_bpe([path], vocab_size, pretokenizer="bytelevel", threads=threads or None)
    )
    json.dump({"vocab": vocabulary, "merges": merges}, output)
    output.flush()
    return usage, time.time() - started, merges


usage, whole_seconds, merges = {"tokenizers": train_tokenizers, "gigabpe": train_gigabpe}[peer]()
lines = "".join(f"{left} {right}\n" for left, right in merges)
print(
    json.dumps(
        {
            **usage,
            "wholeSeconds": whole_seconds,
            "peakMemoryBytes": peak_memory_bytes(),
            "mergeCount": len(merges),
            "mergesSha256": hashlib.sha256(lines.encode()).hexdigest(),
        }
    )
)
