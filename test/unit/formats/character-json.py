"""Makes character-json.jsonl: small random tokenizers whose merges begin with characters, and HF's answers for texts.

    pip install tokenizers==0.23.3 && python3 test/unit/formats/character-json.py > test/unit/formats/character-json.jsonl
"""

import json
import random

from tokenizers import Tokenizer

MARK = "\u2581"
CHARACTERS = ["a", "b", "é", "中", "文", "👍", "\n", ">", "“", "-", "x", " ", "ー", "。"]
OTHERS = [" ", " ", " ", MARK, "a", "b", "z", "é", "語", "😀", "[X]", "<s>", "ab", "<0x41>", "\u0301", "<unk>"]


def made(r):
    vocab = {}

    def add(token):
        vocab.setdefault(token, len(vocab))

    unk = r.choice(["<unk>", "<unk>", None])
    bytes_too = r.random() < 0.6
    for token in [unk, "<s>"] if unk else ["<s>"]:
        add(token)
    for byte in range(256 if bytes_too else 0):
        add("<0x%02X>" % byte)
    characters = [*r.sample(CHARACTERS, r.randrange(5, 10)), MARK]
    for character in characters:
        add(character)
    tokens, merges = list(characters), []
    while len(merges) < 25:
        left, right = r.choice(tokens), r.choice(tokens)
        if right[0] == MARK and left[-1] != MARK and r.random() < 0.85:
            continue
        left = MARK if r.random() < 0.3 else left
        if len(left + right) > 6 or [left, right] in merges:
            continue
        merges.append([left, right])
        add(left + right)
        tokens.append(left + right)
    if r.random() < 0.3:
        r.shuffle(merges)
    return vocab, merges, unk, bytes_too, characters


def steps(r):
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
    back = [{"type": "Replace", "pattern": {"String": MARK}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]
    kind = r.choice(["replace", "prepend", "metaspace", "metaspace", "none", "split"])
    if kind == "none":
        return None, None, back[1:]
    if kind == "metaspace":
        scheme = r.choice(["always", "first", "never"])
        return None, {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": r.random() < 0.5}, back
    if kind == "prepend":
        strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
        return {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": MARK}, replace]}, None, [*back, strip]
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    return replace, split if kind == "split" else None, back


def added(r, vocab):
    found, id = [], len(vocab)
    for content in [*(token for token in ("<unk>", "<s>") if token in vocab), *r.sample(["[X]", "ab", MARK + MARK, "中"], 2)]:
        flags = {flag: content[0] != "<" and r.random() < 0.2 for flag in ("single_word", "lstrip", "rstrip")}
        found.append({"id": vocab.get(content, id), "content": content, **flags, "normalized": False, "special": True})
        id += content not in vocab
    return sorted(found, key=lambda token: token["id"])


def case(seed):
    r = random.Random(seed)
    vocab, merges, unk, bytes_too, characters = made(r)
    normalizer, pre_tokenizer, decoders = steps(r)
    model = {"type": "BPE", "dropout": None, "unk_token": unk, "continuing_subword_prefix": None, "end_of_word_suffix": None}
    model |= {"fuse_unk": r.random() < 0.5, "byte_fallback": bytes_too, "ignore_merges": False, "vocab": vocab, "merges": merges}
    root = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added(r, vocab), "normalizer": normalizer}
    root |= {"pre_tokenizer": pre_tokenizer, "post_processor": None, "decoder": {"type": "Sequence", "decoders": decoders}}
    root["model"] = model
    tokenizer = Tokenizer.from_str(json.dumps(root))
    pool = characters + OTHERS
    texts = ["", " ", MARK, *("".join(r.choice(pool) for _ in range(r.randrange(1, 50))) for _ in range(5))]
    answers = []
    for text in texts:
        encoding = tokenizer.encode(text, add_special_tokens=False)
        decoded = tokenizer.decode(encoding.ids, skip_special_tokens=False)
        starts, ends = ([offset[side] for offset in encoding.offsets] for side in (0, 1))
        answers.append({"text": text, "ids": encoding.ids, "starts": starts, "ends": ends, "decoded": decoded})
    # The byte tokens are left out, so that the file is smaller. The test adds them again.
    own = {token: id for token, id in vocab.items() if not token.startswith("<0x")}
    return {"root": root | {"model": model | {"vocab": own}}, "answers": answers}


def main():
    for seed in range(24):
        print(json.dumps(case(seed), ensure_ascii=False, separators=(",", ":")))


main()
