"""Tests of the functions for Stanford CS336's first assignment. One compares them with a minimal tokenizer."""

import random
import tempfile
import unittest
from pathlib import Path

import regex

import bpe_trainer as bpe
from bpe_trainer.cs336 import check, check_encode, get_tokenizer, run_train_bpe

END = "<|endoftext|>"
PATTERN = regex.compile(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
BYTES = [bytes([byte]) for byte in range(256)]


def naive_ids(text: str, vocab: dict, merges: list, specials: list) -> list[int]:
    """Encodes step by step, as the assignment describes."""
    id_of = {token: id for id, token in vocab.items()}
    for special in specials:
        id_of.setdefault(special.encode(), max(id_of.values()) + 1)
    longest_first = "|".join(regex.escape(special) for special in sorted(specials, key=len, reverse=True))
    ids = []
    for part in regex.split(f"({longest_first})", text) if specials else [text]:
        if part in specials:
            ids.append(id_of[part.encode()])
            continue
        for pretoken in PATTERN.findall(part):
            tokens = [bytes([byte]) for byte in pretoken.encode()]
            while True:
                pairs = {pair: merges.index(pair) for pair in zip(tokens, tokens[1:]) if pair in merges}
                if not pairs:
                    break
                pair = min(pairs, key=lambda known: pairs[known])
                i = 0
                while i + 1 < len(tokens):
                    if (tokens[i], tokens[i + 1]) == pair:
                        tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
                    i += 1
            ids += [id_of[token] for token in tokens]
    return ids


class Layouts(unittest.TestCase):
    def test_special_tokens_may_come_first(self) -> None:
        vocab = dict(enumerate([END.encode(), *BYTES, b"ab", b" a"]))
        tokenizer = get_tokenizer(vocab, [(b"a", b"b"), (b" ", b"a")], [END])
        self.assertEqual(tokenizer.encode(f"ab{END} a"), [257, 0, 258])
        self.assertEqual(tokenizer.decode([258, 0, 257]), f" a{END}ab")

    def test_any_ids_in_any_order_give_the_ids_of_the_naive_twin(self) -> None:
        draw = random.Random(20261122)
        letters = [*"aabbc e1|<>é你😀\n\t\0", "  ", "'s"]
        for case in range(24):
            known = [bytes([byte]) for byte in set("abc e1|<>é你😀\n".encode())]
            merges: list[tuple[bytes, bytes]] = []
            for _ in range(draw.randrange(25)):
                pair = draw.choice(known), draw.choice(known)
                if pair[0] + pair[1] not in known:
                    merges.append(pair)
                    known.append(pair[0] + pair[1])
            names = [END, END + END, "<e>", "ab", " a", "a", "\n", "你", "|>", "\0"]
            specials = draw.sample(names, draw.randrange(5))
            listed = [special.encode() for special in specials if draw.random() < 0.6]
            tokens = list(dict.fromkeys([*listed, *BYTES, *(left + right for left, right in merges)]))
            if case % 3 > 0:
                draw.shuffle(tokens)
            limit = draw.choice([1000, 70_000, 300_000])
            ids = sorted(draw.sample(range(limit), len(tokens))) if case % 3 == 2 else range(len(tokens))
            vocab = dict(zip(ids, tokens))
            tokenizer = get_tokenizer(vocab, merges, specials)
            for _ in range(12):
                text = "".join(draw.choices(letters + specials, k=draw.randrange(40)))
                found = tokenizer.encode(text)
                self.assertEqual(found, naive_ids(text, vocab, merges, specials), (case, specials, merges, text))
                self.assertEqual(tokenizer.decode(found), text)
            parts = ["ab ", f"{END}a", "你"]
            naive = [id for part in parts for id in naive_ids(part, vocab, merges, specials)]
            self.assertEqual(list(tokenizer.encode_iterable(parts)), naive)
            tokenizer.close()

    def test_an_ambiguous_or_incomplete_vocabulary_is_refused(self) -> None:
        vocab = {**dict(enumerate(BYTES)), 256: b"ab"}
        merges = [(b"a", b"b")]
        for words, arguments in [
            ("no token for the byte 0x62", ({id: token for id, token in vocab.items() if token != b"b"}, [])),
            ("b'ab' has two ids, 256 and 300", ({**vocab, 300: b"ab"}, merges)),
            ("b'b' has two ids, 98 and 256", ({**vocab, 256: b"b"}, [])),
            ("a token is empty", ({**vocab, 300: b""}, merges)),
            ('merge 2 needs the token "abc"', (vocab, [*merges, (b"ab", b"c")])),
            ("merge 1, b'a' and b'b', occurs twice", (vocab, merges * 2)),
            ("a special token is empty", (vocab, merges, [""])),
            ("'Ġx' is spelled like another token", ({**vocab, 257: b" x"}, [*merges, (b" ", b"x")], ["Ġx"])),
            ("the id of .* is 16777216, but must be below", ({**vocab, 2**24: b"x y"}, merges)),
            ("the id of .* is -1", ({**vocab, -1: b"x y"}, merges)),
        ]:
            with self.assertRaisesRegex(bpe.BpeError, words):
                get_tokenizer(*arguments)
        for arguments in [(vocab, merges, END), (vocab, merges, [END.encode()]), (vocab, [("a", "b")]), ({"a": 97}, [])]:
            with self.assertRaises(TypeError):
                get_tokenizer(*arguments)


class Training(unittest.TestCase):
    def test_vocabulary_and_merges_are_those_of_the_tokenizer(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            corpus = Path(home, "corpus.txt")
            corpus.write_text(f"low lower lowest{END}\u0085new\xadnewer\u2028 你好 {END}" * 20, "utf-8")
            specials = [END, "<|ü|>"]
            vocab, merges = run_train_bpe(corpus, 278, specials, chunks=4)
            with bpe.train(corpus, 278, special_tokens=specials) as tokenizer:
                tokens = tokenizer.decode_batch_bytes([[id] for id in range(tokenizer.id_limit)])
                text = corpus.read_text("utf-8") + "<|ü|>"
                expected = tokenizer.encode(text)
        self.assertEqual(vocab, dict(enumerate(tokens)))
        self.assertEqual([left + right for left, right in merges], tokens[256:-2])
        self.assertEqual(get_tokenizer(vocab, merges, specials).encode(text), expected)
        with self.assertRaisesRegex(TypeError, "special_tokens is a string"):
            run_train_bpe(corpus, 278, END)



class Judged(unittest.TestCase):
    """The reports of `check` and `check_encode` about correct merges and ids, and about ones with a mistake."""

    def setUp(self) -> None:
        self.kept = tempfile.TemporaryDirectory()
        self.addCleanup(self.kept.cleanup)
        self.path = Path(self.kept.name, "corpus.txt")
        source = random.Random(3)
        words = ["".join(source.choices("aab ", k=source.randint(1, 7))) for _ in range(300)] + ["aaaa", "aaaaaa"] * 30
        self.text = END.join(" ".join(source.choices(words, k=60)) for _ in range(20))
        self.path.write_text(self.text)

    def learned(self, *, least: bool = False, once: bool = False, as_text: bool = False) -> "tuple[dict, list]":
        parts = [self.text] if as_text else self.text.split(END)
        words = [[*map(bytes, zip(word.encode()))] for part in parts for word in PATTERN.findall(part)]
        merges = []
        for _ in range(40):
            counts: dict = {}
            for word in words:
                last = -1
                for i, pair in enumerate(zip(word, word[1:])):
                    if once and last == i - 1 and pair == (word[last], word[last + 1]):
                        continue
                    counts[pair] = counts.get(pair, 0) + 1
                    last = i
            most = max(counts.values())
            best = (min if least else max)(pair for pair, count in counts.items() if count == most)
            merges.append(best)
            for word in words:
                i = 0
                while i + 1 < len(word):
                    if (word[i], word[i + 1]) == best:
                        word[i : i + 2] = [word[i] + word[i + 1]]
                    i += 1
        return dict(enumerate([*BYTES, *(left + right for left, right in merges), END.encode()])), merges

    def test_correct_merges_are_accepted(self) -> None:
        vocab, merges = self.learned()
        self.assertEqual(check(vocab, merges, self.path, [END]), {"equal": True, "equal_merges": 40})
        for changed, reason in (
            ({**vocab, 10: b"zz"}, "no token b'\\n'"),
            ({id: token for id, token in vocab.items() if id != 65}, "no token b'A'"),
            ({id: token for id, token in vocab.items() if token != END.encode()}, "no token b'<|endoftext|>'"),
            ({**vocab, 999: b"a"}, "the token b'a' 2 times"),
        ):
            found = check(changed, merges, self.path, [END])
            self.assertEqual((found["equal"], found["equal_merges"], found["reasons"][0]), (False, 40, "the merges are right"))
            self.assertRegex(found["reasons"][1], regex.escape(reason))
        self.assertIn("lacks tokens", check({**vocab, 260: b"zz"}, merges, self.path, [END])["reasons"][1])
        self.assertEqual(check(vocab, merges[:-1], self.path, [END])["reasons"], ["there are 39 merges, but there should be 40"])

    def test_the_mistake_is_named_where_it_shows_first(self) -> None:
        for mistake, reason in (("least", "a tie"), ("once", "overlapping"), ("as_text", "the text of special tokens")):
            vocab, merges = self.learned(**{mistake: True})
            found = check(vocab, merges, self.path, [END])
            right = run_train_bpe(self.path, len(vocab), [END])[1]
            k = found["equal_merges"]
            self.assertEqual((merges[:k], found["yours"], found["right"]), (right[:k], merges[k], right[k]))
            self.assertNotEqual(merges[k], right[k])
            self.assertTrue(any(each.startswith(reason) for each in found["reasons"]), found)
        self.assertEqual(found["your_count"] <= found["right_count"], True)
        found = check(vocab, [(b"q", b"z"), *merges[1:]], self.path, [END])
        self.assertEqual((found["equal_merges"], found["your_count"]), (0, 0))

    def test_ids_are_judged_where_they_first_differ(self) -> None:
        vocab, merges = self.learned()
        right = get_tokenizer(vocab, merges, [END])

        class Student:
            def __init__(self, encode) -> None:
                self.encode = encode

        self.assertEqual(check_encode(vocab, merges, right, self.text, [END])["equal"], True)
        # The parameter order of an earlier version.
        self.assertEqual(check_encode(right, vocab, merges, self.text, [END])["equal"], True)
        self.assertEqual(check_encode(text="a", tokenizer=right, merges=merges, vocab=vocab)["equal"], True)
        for encode, reason in (
            (lambda text: [*text.encode()], "in each pretoken"),
            (lambda text: right.encode(text.replace(END, "<|y|>")), "the special token"),
            (lambda text: right.encode(text)[:-3], "your ids end"),
            (lambda text: [*right.encode(text)[:9], 0], "your ids do not decode"),
        ):
            found = check_encode(vocab, merges, Student(encode), self.text, [END])
            k = found["equal_ids"]
            self.assertEqual(right.encode(self.text)[:k], [*encode(self.text)][:k])
            self.assertEqual(found["right"][0], vocab[right.encode(self.text)[k]])
            self.assertTrue(self.text.endswith(found["rest"]) or found["rest"] in self.text)
            self.assertTrue(found["reasons"][0].startswith(reason), found)


if __name__ == "__main__":
    unittest.main()
