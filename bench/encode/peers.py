"""Encodes a file as peers do: python peers.py <peer> <tokenizer directory> <text file> <pattern>. Prints seconds and a checksum.

The text is cut at <|endoftext|>, and documents go to the peer's batch call, which uses all threads. Loading and cutting
are not timed. The checksum is over the ids of all documents, special tokens left out.
"""

import base64
import hashlib
import json
import sys
import time

import numpy

peer, directory, path, pattern = sys.argv[1:5]
documents = open(path, encoding="utf-8", errors="replace", newline="").read().split("<|endoftext|>")
# One long text gives no batch: pieces of about 100 kB, cut behind the end of a line that a letter follows.
pieces = []
for document in documents:
    start = 0
    while len(document) - start > 150_000:
        end = document.find("\n", start + 100_000)
        while 0 <= end < len(document) - 1 and not (document[end + 1].isalpha() and not document[end - 1].isspace()):
            end = document.find("\n", end + 1)
        if not 0 <= end < len(document) - 1:
            break
        pieces.append(document[start : end + 1])
        start = end + 1
    pieces.append(document[start:])

if peer == "huggingface":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{directory}/tokenizer.json")
    encode = lambda: [encoding.ids for encoding in tokenizer.encode_batch_fast(pieces, add_special_tokens=False)]
elif peer == "tiktoken":
    import os

    import tiktoken

    lines = open(f"{directory}/tokenizer.tiktoken", "rb").read().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}
    encoding = tiktoken.Encoding("peer", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    encode = lambda: encoding.encode_ordinary_batch(pieces, num_threads=os.cpu_count())
elif peer == "gigatoken":
    import gigatoken

    tokenizer = gigatoken.Tokenizer(f"{directory}/tokenizer.json")
    encode = lambda: tokenizer.encode_batch_list(pieces)

start = time.perf_counter()
lists = encode()
elapsed = time.perf_counter() - start
digest = hashlib.sha256()
count = 0
for ids in lists:
    array = numpy.asarray(ids, dtype=numpy.uint32)
    count += len(array)
    digest.update(array.tobytes())
print(json.dumps({"peer": peer, "seconds": round(elapsed, 3), "ids": count, "sha256": digest.hexdigest()}))
