"""Run by Python for Windows and by Python for Linux. Both must print the same."""

import hashlib
import json
import os
import pickle
import random
import sys
import tempfile

home, *places = sys.argv[1:]
sys.path[:0] = places

import bpe_trainer as bpe
from bpe_trainer import _executable

END = "<|endoftext|>"
source = random.Random(40)
ALPHABET = "aaabbc  \n\tde'stß你好й😀1\u0301\r" + "ẁ한ﬁ"
texts = ["".join(source.choices(ALPHABET, k=source.randrange(300))) for _ in range(400)]
texts += [END.join(texts[:20]), " ".join(texts) * 9, "", END]
found = {}


def add(name, value):
    found[name] = hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def answers(each):
    few = texts[:100]
    return [
        each.encode_batch(texts, threads=2),
        [each.encode(text, special_tokens_as_text=True) for text in few],
        [each.encode_with_offsets(text) for text in few],
        [each.encode_with_offsets(text, unit="bytes") for text in few],
        [[each.count(text), each.count(text, 5)] for text in few],
        each.decode_batch(each.encode_batch(texts)),
        sorted(each.get_vocab().items()),
    ]


def raised(call):
    try:
        call()
    except (bpe.BpeError, TypeError) as error:
        return type(error).__name__, str(error)


temporary = os.path.join(home, "temporary")
os.mkdir(temporary)
tempfile.tempdir = temporary
path = os.path.join(home, "Größe 数.txt")
with open(path, "w", encoding="utf-8", newline="") as file:
    file.write(END.join(texts))
for pattern in ("gpt2", "o200k"):
    output = os.path.join(home, pattern)
    bpe.train(path, 900, special_tokens=[END], pattern=pattern, output=output, workers=1).close()
    with bpe.Tokenizer.load(output) as tokenizer, pickle.loads(pickle.dumps(tokenizer)) as copied:
        found["model"] = type(tokenizer._encoder()).__module__
        add(pattern, answers(tokenizer))
        add(f"{pattern}, cuts", [[tokenizer.truncate(text, 7), tokenizer.chunks(text, 20, 3)] for text in texts[:100]])
        module, sys.modules["bpe_trainer._native"] = sys.modules.get("bpe_trainer._native"), None
        found[f"{pattern}, child"] = answers(copied) == answers(tokenizer) and hasattr(copied._encoder(), "_children")
        sys.modules["bpe_trainer._native"] = module
        tokenizer.save(os.path.join(home, f"{pattern} saved"), image=True)
    with bpe.Tokenizer.load(os.path.join(home, f"{pattern} saved")) as saved:
        add(f"{pattern}, saved", answers(saved))
        found["errors"] = [raised(lambda: saved.decode([1, 99999])), raised(lambda: saved.encode(1))]
with bpe.train(texts=iter(texts), vocab_size=500, special_tokens=[END], workers=1) as trained:
    add("texts", answers(trained))
found["no file"] = raised(lambda: bpe.train("none.txt", 300))
del tokenizer, copied, saved, trained
while _executable._endings:
    pass  # A thread ends what was dropped.
found["left"] = os.listdir(temporary)
print(json.dumps(found))
