"""Functions for the adapters of the first assignment of Stanford's course CS336.

    from bpe_trainer.cs336 import check, check_encode, get_tokenizer, run_train_bpe

`check` and `check_encode` compare a student's own results with the right ones.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from operator import index
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence, Union

from ._arguments import found as shown
from ._arguments import items_of, path_of, refuse, refuse_no_list, texts_of, whole_number
from ._characters import byte_of, character_of, pair_of
from ._executable import BpeError, Run
from ._tokenizer import Tokenizer
from ._options import train

#: The assignment's pattern, which is GPT-2's.
_PATTERN = "gpt2"


def run_train_bpe(
    input_path: Union[str, "os.PathLike[str]"],
    vocab_size: int,
    special_tokens: Sequence[str],
    **_: Any,
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Trains on a file. Returns ``vocab``, the bytes of each id, and ``merges``, in the order in which they were learned."""
    path, special_tokens = path_of("input_path", input_path), texts_of("special_tokens", special_tokens)
    with train(path, whole_number("vocab_size", vocab_size), special_tokens=special_tokens, pattern=_PATTERN, compat="cs336") as tokenizer:
        # The first line is a header, and nothing follows the last line end.
        lines = Path(tokenizer._path, "merges.txt").read_text("utf-8").split("\n")[1:-1]
    merges = [pair_of(line.split(" ")) for line in lines]
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [left + right for left, right in merges]
    tokens += [text.encode("utf-8") for text in special_tokens]
    return dict(enumerate(tokens)), merges


def get_tokenizer(
    vocab: Mapping[int, bytes],
    merges: Iterable[tuple[bytes, bytes]],
    special_tokens: Union[Sequence[str], None] = None,
) -> Tokenizer:
    """Returns a tokenizer with this vocabulary, these merges and these special tokens, whatever their ids are.

    Special tokens that the vocabulary lacks get the ids after its largest one. Raises BpeError if ids of a text would be
    missing or ambiguous: a byte is missing, a token or a merge occurs twice, or a merge needs a token that has no id.
    Also raises it for an empty special token, and for one that tokenizer.json would spell like another token.
    """
    ids: dict[bytes, int] = {}
    for id, token in items_of("vocab", "a dict of tokens by id", vocab):
        _spell(token)
        if ids.setdefault(token, whole_number(f"vocab: the id of {token!r}", id)) != id:
            raise BpeError(f"the token {token!r} has two ids, {ids[token]} and {id}")
    missing = next((byte for byte in range(256) if bytes([byte]) not in ids), None)
    if missing is not None:
        raise BpeError(f"the vocabulary has no token for the byte 0x{missing:02x}")
    keys = {_spell(token): id for token, id in ids.items()}
    added = []
    for text in dict.fromkeys([] if special_tokens is None else texts_of("special_tokens", special_tokens)):
        if not text:
            raise BpeError("a special token is empty")
        id = ids.setdefault(text.encode("utf-8"), max(ids.values()) + 1)
        # In tokenizer.json, a special token gets the id of the key of `vocab` that equals its text, whatever id is
        # stated for it. So no other token may have that key.
        if keys.setdefault(text, id) != id:
            raise BpeError(f"the special token {text!r} is spelled like another token in tokenizer.json, which maps bytes to GPT-2's characters")
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        added.append({"id": id, "content": text, "special": True, **flags})
    pairs: dict[tuple[str, str], None] = {}
    for rank, (left, right) in enumerate(_pairs(merges)):
        pair = _spell(left), _spell(right)
        if pair in pairs:
            raise BpeError(f"merge {rank}, {left!r} and {right!r}, occurs twice")
        pairs[pair] = None
    content = {
        "version": "1.0",
        "added_tokens": added,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": keys, "merges": list(pairs)},
    }
    try:
        return Tokenizer.from_str(json.dumps(content))
    except BpeError as error:
        raise BpeError(str(error).replace('"tokenizer.json"', "the vocabulary")) from None


def check(
    vocab: Mapping[int, bytes],
    merges: Sequence[tuple[bytes, bytes]],
    input_path: Union[str, "os.PathLike[str]"],
    special_tokens: Sequence[str] = (),
) -> dict[str, Any]:
    """Compares the result of a student's training with the right result for the same file and size.

    ``equal`` says whether vocabulary and merges are right, and ``equal_merges`` how many merges are right before the
    first wrong one. If both lists have a merge there, ``yours`` is the wrong merge and ``right`` the correct one, and
    ``your_count`` and ``right_count`` say how often each pair occurs in the text at that point. ``reasons`` lists
    likely mistakes.
    """
    special_tokens = [] if special_tokens is None else texts_of("special_tokens", special_tokens)
    input_path, given = path_of("input_path", input_path), _pairs(merges)
    listed = [token for _, token in items_of("vocab", "a dict of tokens by id", vocab)]
    for token in listed:
        _spell(token)
    tokens = Counter(listed)
    needed = [bytes([byte]) for byte in range(256)] + [text.encode("utf-8") for text in special_tokens]
    lacks = [f"the vocabulary has no token {token!r}" for token in needed if token not in tokens]
    lacks += [f"the vocabulary has the token {token!r} {count} times" for token, count in tokens.items() if count > 1]
    # The size of an incomplete vocabulary does not say how many merges were requested. So learn as many as were given.
    size = len({*needed}) + len(given) if lacks else len(vocab)
    ours, right = run_train_bpe(input_path, size, special_tokens)
    k = _first_difference(given, right)
    found: dict[str, Any] = {"equal": given == right and not lacks and {*tokens} == {*ours.values()}, "equal_merges": k}
    if given == right and not found["equal"]:
        found["reasons"] = ["the merges are right", *(lacks or ["the vocabulary lacks tokens, or has extra ones"])]
    if k == len(given) or k == len(right):
        return found if given == right else {**found, "reasons": [f"there are {len(given)} merges, but there should be {len(right)}", *lacks]}
    words = _count_words(input_path, special_tokens)
    counts = _pair_counts(words, right[:k])
    found.update(yours=given[k], right=right[k], your_count=counts[given[k]], right_count=counts[right[k]], reasons=[])
    # List the likely mistakes that would explain why this pair was merged here.
    if counts[given[k]] == counts[right[k]]:
        found["reasons"].append("a tie: of equally frequent pairs, the greatest one, compared as bytes, is merged")
    for mistake, theirs in (
        ("overlapping occurrences are counted once: (a, a) occurs twice in aaa", _pair_counts(words, right[:k], overlap=False)),
        ("the text of special tokens is counted, but should be left out", _pair_counts(_count_words(input_path, ()), right[:k])),
    ):
        if max(theirs, key=lambda pair: (theirs[pair], pair)) == given[k]:
            found["reasons"].append(mistake)
    if not found["reasons"]:
        none = "no word contains this pair any more: " if counts[given[k]] == 0 else ""
        found["reasons"].append(f"{none}counts of pairs next to an earlier merge may be stale, or the text may be split by another pattern")
    found["reasons"] += lacks
    return found


def check_encode(
    vocab: Mapping[int, bytes],
    merges: Sequence[tuple[bytes, bytes]],
    tokenizer: Any,
    text: str,
    special_tokens: Union[Sequence[str], None] = None,
) -> dict[str, Any]:
    """Compares the ids that a student's ``tokenizer.encode(text)`` returns with the right ones.

    ``equal_ids`` says how many ids are equal before the first difference. If there is one, ``yours`` and ``right`` are up
    to eight tokens from there on, ``rest`` is the next 80 bytes of the text at most, and ``reasons`` explains the
    difference. The tokenizer may also be the first argument.
    """
    if _encodes(vocab):
        vocab, merges, tokenizer = merges, tokenizer, vocab  # type: ignore[assignment]
    if not _encodes(tokenizer):
        refuse("tokenizer", "an object with a method encode", tokenizer)
    ours = get_tokenizer(vocab, merges, special_tokens)
    given, right = [index(id) for id in tokenizer.encode(text)], ours.encode(text)
    k = _first_difference(given, right)
    found: dict[str, Any] = {"equal": given == right, "equal_ids": k}
    if given == right:
        return found
    token_bytes = ours.token_bytes
    yours, others = ([token_bytes(id) if id in vocab else b"" for id in ids[k : k + 8]] for ids in (given, right))
    rest = text.encode("utf-8")[sum(len(token_bytes(id)) for id in right[:k]) :]
    special = next((each for each in special_tokens or () if rest.startswith(each.encode("utf-8"))), None)
    if special is not None:
        reason = f"the special token {special!r} becomes one id; if several special tokens match, the longest one wins"
    elif not yours:
        reason = "your ids end before the text does"
    elif not rest.startswith(b"".join(yours)):
        reason = "your ids do not decode to the text"
    else:
        reason = "in each pretoken, the merge that was learned first is applied first, to all its occurrences from left to right"
    return {**found, "yours": yours, "right": others, "rest": rest[:80].decode("utf-8", "replace"), "reasons": [reason]}


def _encodes(thing: Any) -> bool:
    return not isinstance(thing, (str, bytes)) and callable(getattr(thing, "encode", None))


def _first_difference(given: Sequence[Any], right: Sequence[Any]) -> int:
    return next((i for i, (one, other) in enumerate(zip(given, right)) if one != other), min(len(given), len(right)))


def _count_words(path: Union[str, "os.PathLike[str]"], special_tokens: Sequence[str]) -> dict[bytes, int]:
    """Returns the distinct pretokens of a file with their counts."""
    options = [f"--pattern={_PATTERN}", *(f"--special-token={text}" for text in special_tokens)]
    table = Run(["count", "--quiet", "--input-format=text", *options, "--", os.fspath(path)], answers=True).finish()
    rows = (line.rsplit("\t", 1) for line in table.decode("utf-8").split("\n")[1:-1])
    return {word.translate(byte_of).encode("latin-1"): int(count) for word, count in rows}


def _pair_counts(
    words: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]], overlap: bool = True
) -> "Counter[tuple[bytes, bytes]]":
    """Returns how often each pair occurs in the words after these merges.

    Without ``overlap``, every second one of overlapping occurrences of a pair is left out.
    """
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    counts: "Counter[tuple[bytes, bytes]]" = Counter()
    for word, count in words.items():
        tokens = [bytes([byte]) for byte in word]
        while (pair := min(zip(tokens, tokens[1:]), key=lambda pair: ranks.get(pair, len(ranks)), default=None)) in ranks:
            i = 0
            while i + 1 < len(tokens):
                if (tokens[i], tokens[i + 1]) == pair:
                    tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
                i += 1
        last = -1
        for i, each in enumerate(zip(tokens, tokens[1:])):
            if overlap or last != i - 1 or each != (tokens[last], tokens[last + 1]):
                counts[each] += count
                last = i
    return counts


def _pairs(merges: Any) -> list[tuple[bytes, bytes]]:
    refuse_no_list("merges", merges, "a list of pairs of bytes")
    pairs = []
    for rank, merge in enumerate(merges):
        if not isinstance(merge, (tuple, list)) or len(merge) != 2 or not all(isinstance(each, bytes) for each in merge):
            one = f"({', '.join(map(shown, merge))})" if isinstance(merge, (tuple, list)) else shown(merge)
            raise TypeError(f"merges[{rank}] must be a pair of bytes objects, found {one[:200]}")
        pairs.append((merge[0], merge[1]))
    return pairs


def _spell(token: bytes) -> str:
    """Returns a token in GPT-2's characters for bytes."""
    if not isinstance(token, bytes):
        raise TypeError(f"a token must be bytes, found {type(token).__name__}")
    if not token:
        raise BpeError("a token is empty")
    return token.decode("latin-1").translate(character_of)
