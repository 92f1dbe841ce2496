"""Splits texts with the engines themselves, for dialects.ts. Each line of stdin is a request in JSON, and each line
of stdout its answer.

    {"engine": "huggingface"|"tiktoken", "pattern": regex, "texts": [text, ...]} -> {"pieces": [[piece, ...], ...]} or {"error": text}

HF's Split keeps unmatched text as pieces. tiktoken only returns tokens and drops unmatched text; its vocabulary
is every substring of the texts, so that each match is one token.
"""

import functools
import json
import sys

import tiktoken
from tokenizers import Regex, pre_tokenizers


def huggingface(pattern, texts):
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    return [[piece for piece, _ in split.pre_tokenize_str(text)] if text else [] for text in texts]


@functools.lru_cache(4)
def ranks_of(texts):
    ranks = {bytes([byte]): byte for byte in range(256)}
    for text in map(str.encode, texts):
        for start in range(len(text)):
            for end in range(start + 2, len(text) + 1):
                ranks.setdefault(text[start:end], len(ranks))
    return ranks, {rank: token for token, rank in ranks.items()}


def by_tiktoken(pattern, texts):
    ranks, tokens = ranks_of(tuple(texts))
    encoding = tiktoken.Encoding("texts", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return [[tokens[id].decode() for id in encoding.encode_ordinary(text)] for text in texts]


for line in sys.stdin:
    question = json.loads(line)
    ask = huggingface if question["engine"] == "huggingface" else by_tiktoken
    try:
        answer = {"pieces": ask(question["pattern"], question["texts"])}
    except BaseException as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
