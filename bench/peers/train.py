"""Trains with one peer and prints a JSON line: seconds of the training call alone, peak memory, the merges' checksum.

    python train.py tokenizers|gigabpe corpus.txt 32000 [threads]

The interpreter's start is not counted, nor the writing of files: both favour the peer.
"""

import hashlib
import json
import os
import resource
import sys
import time

peer, path, vocab_size = sys.argv[1], sys.argv[2], int(sys.argv[3])
threads = int(sys.argv[4]) if len(sys.argv) > 4 else 2
os.environ["RAYON_NUM_THREADS"] = str(threads)


def train_tokenizers():
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    start = time.perf_counter()
    tokenizer.train([path], trainer)
    elapsed = time.perf_counter() - start
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return elapsed, [tuple(merge) for merge in merges]


def train_gigabpe():
    import gigabpe

    start = time.perf_counter()
    _, merges = gigabpe.train_bpe([path], vocab_size, pretokenizer="bytelevel", threads=threads)
    return time.perf_counter() - start, merges


seconds, merges = {"tokenizers": train_tokenizers, "gigabpe": train_gigabpe}[peer]()
lines = "".join(f"{left} {right}\n" for left, right in merges)
print(
    json.dumps(
        {
            "seconds": seconds,
            "peakMemoryBytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "mergeCount": len(merges),
            "mergesSha256": hashlib.sha256(lines.encode()).hexdigest(),
        }
    )
)
