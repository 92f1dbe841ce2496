"""Encodes a file into an .npy with another tool:

    python peers.py <peer> <tokenizer directory> <text> <pattern> <id> <output.npy>

The text is cut at <|endoftext|>, whose id goes between documents. Documents go to the peer's batch call, which uses all
threads. Prints as JSON the elapsed seconds of that call, the processor seconds of all its threads, and the peak memory of
this process, which the caller times as a whole.
"""

import base64
import json
import os
import sys

import numpy

sys.path.append(os.path.join(os.path.dirname(__file__), "../peers"))
from usage import measured, peak_memory_bytes

peer, directory, path, pattern, end_id, output = sys.argv[1:7]
end = numpy.asarray([int(end_id)], dtype=numpy.uint16)
documents = open(path, encoding="utf-8", errors="replace", newline="").read().split("<|endoftext|>")
# Cut long documents about every 100,000 characters. A library whose threads each take whole texts of a batch could not
# divide a single long text.
pieces = []
counts = []
for document in documents:
    before = len(pieces)
    start = 0
    while len(document) - start > 150_000:
        stop = document.find("\n", start + 100_000)
        while 0 <= stop < len(document) - 1 and not (document[stop + 1].isalpha() and not document[stop - 1].isspace()):
            stop = document.find("\n", stop + 1)
        if not 0 <= stop < len(document) - 1:
            break
        pieces.append(document[start : stop + 1])
        start = stop + 1
    pieces.append(document[start:])
    counts.append(len(pieces) - before)

if peer == "huggingface":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{directory}/tokenizer.json")
    encode = lambda: [encoding.ids for encoding in tokenizer.encode_batch_fast(pieces, add_special_tokens=False)]
elif peer == "huggingface-1":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{directory}/tokenizer.json")
    encode = lambda: [encoding.ids_array for encoding in tokenizer.encode_batch(pieces, add_special_tokens=False)]
elif peer == "tiktoken":
    import tiktoken

    lines = open(f"{directory}/tokenizer.tiktoken", "rb").read().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}
    encoding = tiktoken.Encoding("peer", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    encode = lambda: encoding.encode_ordinary_batch(pieces, num_threads=os.cpu_count())
elif peer == "gigatoken":
    import gigatoken

    tokenizer = gigatoken.Tokenizer(f"{directory}/tokenizer.json")
    encode = lambda: tokenizer.encode_batch(pieces)

lists, usage = measured(encode)
parts = []
piece = 0
for count in counts:
    for ids in lists[piece : piece + count]:
        parts.append(numpy.asarray(ids, dtype=numpy.uint16))
    piece += count
    parts.append(end)
numpy.save(output, numpy.concatenate(parts[:-1]))
print(json.dumps({"peer": peer, **usage, "peakMemoryBytes": peak_memory_bytes()}))
