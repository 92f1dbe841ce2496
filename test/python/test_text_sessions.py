"""Sessions: after random edits, they must have the ids of the whole text, and stable ids must stay."""

import pickle
import random
import threading
import unittest

import bpe_trainer as bpe
from test_bpe import END, made_texts
from test_cuts import MARKS
from test_object import made_by_hf, made_text
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = [END, "<s>", "<|im_start|>", "<|im_end|>"]
HOSTILE = ["", " ", "\n", "'ll", "a", "1", "\u0301", "|>", "endoftext|>", "  x", *SPECIAL, "\u11a8", "é", "\u3000", "!", "_end|>"]


class Twin:
    """A naive twin of a session: its characters, each with whether it is trusted."""

    def __init__(self) -> None:
        self.characters: list = []

    def replace(self, start: int, end: int, text: str, trusted: bool) -> None:
        self.characters[start:end] = [(character, trusted) for character in text]

    @property
    def segments(self) -> list:
        segments: list = []
        for character, trusted in self.characters:
            if segments and segments[-1][1] == trusted:
                segments[-1][0].append(character)
            else:
                segments.append(([character], trusted))
        return [("".join(text), trusted) for text, trusted in segments]

    @property
    def text(self) -> str:
        return "".join(character for character, _ in self.characters)


def tokenizers(draw: random.Random):
    for _ in range(6):
        with bpe.Tokenizer.from_str(made_by_hf(draw).to_str()) as made:
            yield made
    texts = [*made_texts(60), *MARKS, *(made_text(draw) for _ in range(60))]
    for pattern in ("gpt2", "cl100k", "o200k", "llama3", "qwen2", r"\w+|\s+|[^\w\s]+", r"(?<=a)b|[^ab]+|a|b", r"\s+(?!\S)|\S+|\s"):
        try:
            trained = bpe.train(texts=texts, vocab_size=360, special_tokens=SPECIAL, pattern=pattern, formats=["huggingface"])
        except bpe.BpeError:
            continue
        with trained as made:
            yield made
    for form in ("NFC", "NFKC,lowercase"):
        with bpe.train(texts=texts, vocab_size=340, special_tokens=SPECIAL, normalize=form, formats=["huggingface"]) as made:
            yield made


def incremental_tokenizers(draw: random.Random):
    texts = made_texts(60)
    for settings in ({"pattern": "cl100k"}, {"pattern": "qwen2", "normalize": "NFC"}, {"normalize": "NFKC,lowercase"}):
        with bpe.train(texts=texts, vocab_size=400, special_tokens=SPECIAL, formats=["huggingface"], **settings) as made:
            yield made
    spaced = Tokenizer(models.BPE())
    spaced.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    spaced.decoder = decoders.ByteLevel()
    spaced.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    spaced.add_special_tokens([AddedToken(END, lstrip=True), AddedToken("<s>", rstrip=True, single_word=True)])
    with bpe.Tokenizer.from_str(spaced.to_str()) as made:
        yield made


def made_part(draw: random.Random) -> str:
    kinds = [made_text(draw), draw.choice(HOSTILE), draw.choice(SPECIAL)[: draw.randrange(12)], draw.choice(MARKS), "x" * draw.randrange(60)]
    return "".join(draw.choices(kinds, k=draw.choice((0, 1, 1, 2, 8, 30))))


def common(a: list, b: list) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


class Sessions(unittest.TestCase):
    def test_the_ids_are_those_of_the_whole_text(self) -> None:
        draw = random.Random(31)
        for tokenizer in tokenizers(draw):
            for is_mixed in (False, True):
                session, twin, before = tokenizer.session(), Twin(), []
                for _ in range(60):
                    text, trusted = made_part(draw), not is_mixed or draw.random() < 0.5
                    length = len(twin.characters)
                    start = draw.randrange(length + 1)
                    end = min(length, start + draw.choice((0, 1, 5, 50)))
                    kind = draw.randrange(6)
                    if kind < 3:
                        start = end = length
                        kept = session.append(text, trusted)
                    elif kind < 5:
                        kept = session.replace(start, end, text, trusted)
                    else:
                        end, text = length, ""
                        kept = session.truncate(start)
                    twin.replace(start, end, text, trusted)
                    if draw.random() < 0.1:
                        session.append("gone", False) if draw.random() < 0.5 else None
                        session.truncate(len(twin.characters))
                        session = session.fork()
                    expected = tokenizer.encode_segments(twin.segments)
                    self.assertEqual(session.ids, expected, (twin.segments, start, end, text))
                    self.assertEqual((session.text, len(session)), (twin.text, len(expected)))
                    if not is_mixed:
                        self.assertEqual(expected, tokenizer.encode(twin.text))
                    self.assertEqual(kept, common(before, expected))
                    before = expected
                    stable = session.stable
                    self.assertLessEqual(stable, len(expected))
                    for _ in range(3):
                        hostile = [*twin.segments, ("".join(draw.choices(HOSTILE, k=3)), trusted)]
                        if len(hostile) > 1 and hostile[-2][1] == hostile[-1][1]:
                            hostile[-2:] = [(hostile[-2][0] + hostile[-1][0], trusted)]
                        self.assertEqual(tokenizer.encode_segments(hostile)[:stable], expected[:stable], hostile)

    def test_a_call_encodes_little_more_than_what_has_changed(self) -> None:
        draw = random.Random(32)
        for tokenizer in incremental_tokenizers(draw):
            text = " ".join(draw.choice(made_texts(60)) for _ in range(3000))
            session = tokenizer.session(text)
            self.assertEqual(session.ids, tokenizer.encode(text))
            start = session.encoded_bytes
            for turn in range(50):
                session.append(f"{END} and turn {turn}, which is short.")
            self.assertLess(session.encoded_bytes - start, 50 * 300)
            self.assertGreater(session.stable, len(session) - 80)
            start = session.encoded_bytes
            session.replace(1000, 1001, "anything")
            # At small scale, windows are too short for some pieces of these texts, so an edit encodes more bytes.
            if "small" not in (bpe._native.__file__ or ""):
                self.assertLess(session.encoded_bytes - start, 20_000)
            self.assertEqual(session.ids, tokenizer.encode(session.text))
            self.assertEqual(session.array.tolist(), session.ids)
            for length in range(len(session.text) - 1, len(session.text) - 100, -1):
                session.truncate(length)
                session.append("")
                self.assertEqual(session.ids, tokenizer.encode(session.text))

    def test_forks_threads_and_mistakes(self) -> None:
        tokenizer = bpe.train(texts=made_texts(60), vocab_size=400, special_tokens=SPECIAL, formats=["huggingface"])
        session = tokenizer.session("one two")
        fork = session.fork()
        fork.append(" three")
        self.assertEqual((session.text, fork.text), ("one two", "one two three"))
        for wrong in (lambda: session.replace(3, 2, ""), lambda: session.truncate(8), lambda: session.replace(0, 99, "")):
            self.assertRaises(ValueError, wrong)
        self.assertRaises(TypeError, session.append, b"bytes")
        self.assertRaises(TypeError, session.append, "a", "yes")
        self.assertRaises(UnicodeEncodeError, session.append, "\ud800")
        self.assertRaises(TypeError, pickle.dumps, session)
        self.assertRaises(TypeError, bpe.Tokenizer.session)
        self.assertEqual(session.text, "one two")
        many = [session.fork() for _ in range(8)]
        long = "word " * 30_000

        def grow(each) -> None:
            for _ in range(3):
                each.append(long)

        threads = [threading.Thread(target=grow, args=[each]) for each in many]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = tokenizer.encode("one two" + 3 * long)
        self.assertTrue(all(each.ids == expected for each in many))
        tokenizer.close()
        tokenizer.close()
        self.assertRaises(bpe.BpeError, tokenizer.session)
        session.append(" more")
        self.assertEqual(session.text, "one two more")


if __name__ == "__main__":
    unittest.main()
