"""count, truncate, chunks and stream, compared with encode and decode, including HF's random
tokenizers and normal forms."""

import os
import random
import tempfile
import unittest
from time import process_time

import bpe_trainer as bpe
from test_bpe import END, made_texts
from test_object import made_by_hf, made_text

MARKS = ["e\u0301", "\u1ea4\u0323", "ﬁﬂ", "\uac00\u11a8", "\u1100\u1161", "İ", "Å\u030a", "\u0344", "😀", "\u0915\u094d"]


class Cuts(unittest.TestCase):
    def tokenizers(self, draw: random.Random):
        for case in range(8):
            with tempfile.TemporaryDirectory() as home:
                path = os.path.join(home, "tokenizer.json")
                made_by_hf(draw).save(path)
                with bpe.Tokenizer.load(path) as made:
                    yield made
        texts = [*made_texts(60), *MARKS, *(made_text(draw) for _ in range(60))]
        for form in (None, "NFC", "NFD", "NFKC,lowercase", "NFKD", "lowercase"):
            with bpe.train(texts=texts, vocab_size=340, special_tokens=[END, "<s>"], normalize=form, formats=["huggingface"]) as made:
                yield made

    def texts(self, draw: random.Random) -> list:
        def one() -> str:
            pieces = [made_text(draw), *draw.choices(MARKS, k=draw.randrange(4)), draw.choice([END, "<s>", "", "don't I'll"])]
            draw.shuffle(pieces)
            return "".join(pieces)

        return ["", "a", *("".join(one() for _ in range(draw.choice((1, 1, 3)))) for _ in range(25))]

    def test_each_part_has_no_more_than_it_may(self) -> None:
        draw = random.Random(4)
        for tokenizer in self.tokenizers(draw):
            for text in self.texts(draw):
                ids = tokenizer.encode(text)
                self.assertEqual(tokenizer.count(text), len(ids))
                limit = draw.choice((0, 1, 2, 3, 8, len(ids), max(0, len(ids) - 1)))
                self.assertEqual(tokenizer.count(text, limit), min(len(ids), limit + 1))
                first, last = tokenizer.truncate(text, limit), tokenizer.truncate(text, limit, keep="end")
                self.assertTrue(text.startswith(first) and text.endswith(last))
                self.assertLessEqual(max(tokenizer.count(first), tokenizer.count(last)), limit)
                if limit >= len(ids):
                    self.assertEqual((first, last), (text, text))
                size = draw.choice((8, 12, 30))
                for overlap in (0, draw.randrange(size)):
                    try:
                        chunks = tokenizer.chunks(text, size, overlap)
                    except bpe.BpeError as error:
                        self.assertIn("more than size", str(error))
                        continue
                    self.assertLessEqual(max(map(tokenizer.count, chunks), default=0), size)
                    if overlap == 0:
                        self.assertEqual("".join(chunks), text)

    def test_a_beginning_is_as_long_as_it_can_be_by_whole_tokens(self) -> None:
        with bpe.train(texts=made_texts(200), vocab_size=400, special_tokens=[END]) as tokenizer:
            for text in made_texts(30):
                ids, spans = tokenizer.encode_with_offsets(text)
                for limit in range(len(ids)):
                    longest = max(
                        (end for _, end in [(0, 0), *spans[:limit]] if tokenizer.count(text[:end]) <= limit), default=0
                    )
                    self.assertGreaterEqual(len(tokenizer.truncate(text, limit)), longest)

    def test_only_the_beginning_of_a_long_text_is_read(self) -> None:
        text = "the cat sat é. " * 200_000
        with bpe.train(texts=made_texts(200), vocab_size=400, special_tokens=[END]) as tokenizer:
            ids = tokenizer.count(text)
            for limit in (0, 1, 7, 100):
                self.assertEqual(tokenizer.truncate(text, limit), tokenizer.truncate(text[:2000], limit))
                self.assertEqual(tokenizer.truncate(text, ids - limit, keep="end")[-50:], text[-50:])
            before = process_time()
            for _ in range(100):
                tokenizer.truncate(text, 100)
            short = process_time() - before
            tokenizer.count(text)
            self.assertLess(short, process_time() - before - short + 0.1)

    def test_a_stream_is_what_decode_gives(self) -> None:
        draw = random.Random(5)
        for tokenizer in self.tokenizers(draw):
            ids = [id for id in range(tokenizer.id_limit) if self.has_token(tokenizer, id)]
            for _ in range(40):
                given = draw.choices(ids, k=draw.randrange(12))
                decoder, shown, at = tokenizer.stream(), "", 0
                while at < len(given):
                    count = draw.randrange(1, 4)
                    part = given[at : at + count]
                    said = decoder.push(part[0] if len(part) == 1 else part)
                    shown += said
                    at += count
                shown += decoder.end()
                self.assertEqual(shown, tokenizer.decode(given))
            with self.assertRaisesRegex(bpe.BpeError, "is not in the vocabulary"):
                decoder.push(tokenizer.id_limit)

    def has_token(self, tokenizer: bpe.Tokenizer, id: int) -> bool:
        try:
            tokenizer.token_bytes(id)
        except bpe.BpeError:
            return False
        return True

    def test_wrong_numbers_are_named(self) -> None:
        with bpe.train(texts=made_texts(20), vocab_size=300) as tokenizer:
            for words, call in [
                ("limit is -1", lambda: tokenizer.truncate("a", -1)),
                ("keep is 'middle'", lambda: tokenizer.truncate("a", 1, keep="middle")),
                ("size is 0", lambda: tokenizer.chunks("a", 0)),
                ("overlap is 3", lambda: tokenizer.chunks("a", 3, 3)),
            ]:
                with self.assertRaisesRegex(ValueError, words):
                    call()


if __name__ == "__main__":
    unittest.main()
