"""is_canonical, first_noncanonical and recode, compared with their definitions, on ids that are
canonical and ids that are not."""

import random
import unittest

import numpy

import bpe_trainer as bpe
from test_bpe import END, made_texts
from test_cuts import MARKS
from test_object import made_by_hf, made_text


class Canonical(unittest.TestCase):
    def tokenizers(self, draw: random.Random):
        for _ in range(10):
            with bpe.Tokenizer.from_str(made_by_hf(draw).to_str()) as made:
                yield made
        texts = [*made_texts(60), *MARKS, *(made_text(draw) for _ in range(60))]
        for form in (None, "NFD", "NFKC,lowercase"):
            with bpe.train(texts=texts, vocab_size=340, special_tokens=[END], normalize=form, formats=["huggingface"]) as made:
                yield made

    def ids_of(self, draw: random.Random, tokenizer: bpe.Tokenizer) -> list:
        ids = tokenizer.encode(made_text(draw) + draw.choice([END, "", "don't"]))
        kind = draw.randrange(3)
        if kind == 0:
            return ids
        if kind == 1:
            known = [id for id in range(tokenizer.id_limit) if tokenizer.token_bytes(id)]
            return [*ids, *draw.choices(known, k=draw.randrange(6))]
        cut = [tokenizer.encode(tokenizer.token_bytes(id)[:1]) + tokenizer.encode(tokenizer.token_bytes(id)[1:]) for id in ids]
        return [part for id, parts in zip(ids, cut) for part in ([id] if draw.random() < 0.8 else parts)]

    def test_results_agree_with_the_definitions(self) -> None:
        draw = random.Random(11)
        kinds = set()
        for tokenizer in self.tokenizers(draw):
            for _ in range(60):
                ids = self.ids_of(draw, tokenizer)
                data = tokenizer.decode_bytes(ids)
                expected = tokenizer.encode(data)
                canonical, spans = tokenizer.recode(ids)
                self.assertEqual(canonical, expected)
                self.assertEqual(tokenizer.is_canonical(ids), ids == expected)
                first = tokenizer.first_noncanonical(ids)
                self.assertEqual(first is None, ids == expected)
                if first is not None:
                    self.assertEqual(ids[:first], expected[:first])
                    self.assertNotEqual(ids[first : first + 1], expected[first : first + 1])
                recoded = list(ids)
                is_same_text = tokenizer.decode_bytes(expected) == data
                for start, end, canonical_start, canonical_end in reversed(spans):
                    if is_same_text:
                        self.assertEqual(
                            tokenizer.decode_bytes(ids[start:end]), tokenizer.decode_bytes(expected[canonical_start:canonical_end])
                        )
                    recoded[start:end] = expected[canonical_start:canonical_end]
                self.assertEqual(recoded, expected)
                self.assertLessEqual(len(spans), 1 if not is_same_text else len(ids))
                kinds.add((first is None, is_same_text))
        self.assertEqual(kinds, {(True, True), (False, True), (False, False)})

    def test_an_id_without_a_token_is_refused(self) -> None:
        with bpe.train(texts=["the the"], vocab_size=258) as made:
            for call in (made.is_canonical, made.first_noncanonical, made.recode):
                with self.assertRaises(bpe.BpeError):
                    call([1, 258])
                with self.assertRaises(TypeError):
                    call("the")
            self.assertTrue(made.is_canonical([]))
            self.assertEqual(made.recode([]), ([], []))
            self.assertEqual(made.recode(numpy.array([257, 101], dtype="uint16")), ([257, 101], []))


if __name__ == "__main__":
    unittest.main()
