"""Tokenizers that bpe writes, in HF's tokenizers 1.0 (a release candidate)."""

import itertools
import json
import pickle
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tokenizers
from tokenizers import Padding, Tokenizer, Truncation

import bpe_trainer as bpe

ROOT = Path(__file__).parent.parent.parent
CHATML = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|pad|>"]

TEXTS = json.loads((ROOT / "dist/python-rc/texts.json").read_text("utf-8"))
PLAIN, NEW_FORMS, NEWER = TEXTS["plain"], TEXTS["newForms"], TEXTS["newer"]
#: The normal forms of a text with one of these characters depend on the version of Unicode.
NEW_FORM_CHARACTERS = set(TEXTS["newFormCharacters"])

#: Named patterns that the engine of 1.0 has.
RUN = ["gpt2", "r50k", "p50k", "gpt4", "o200k", "llama3", "qwen2", "tekken", "nemotron", "deepseek-v3", "none"]
#: Named patterns that the engine of 1.0 lacks: 1.0 loads a tokenizer with one of them, but refuses to encode texts.
REFUSED = [
    *("cl100k", "nanochat", "qwen3.5", "starcoder", "smollm", "falcon"),
    *("llama3-r2l", "gpt-4o-r2l", "marin", "marin-gpt-4o", "trinity"),
]
NO_ENGINE = "needs a system-regex backend"
#: `(?i:'s)` matches a long s in bpe, but not in the engine of 1.0.
LONG_S = "'\u017f"


def program(*arguments: str) -> str:
    return subprocess.check_output([sys.executable, "-m", "bpe_trainer", *arguments], text=True)


class One(unittest.TestCase):
    def setUp(self) -> None:
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.home = Path(kept.name)
        self.path = self.home / "tokenizer"
        self.corpus = self.home / "corpus.txt"
        self.corpus.write_text("\n".join([(ROOT / "README.md").read_text("utf-8") * 3, *PLAIN]), "utf-8", newline="")
        random.seed(20261123)

    def train(self, **options: object) -> bpe.Tokenizer:
        """Trains a tokenizer of bpe into `self.path`."""
        defaults = {"files": self.corpus, "vocab_size": 1500, "special_tokens": CHATML, "output": self.path}
        ours = bpe.train(**{**defaults, **options})
        self.addCleanup(ours.close)
        return ours

    def load(self, path: Path) -> Tokenizer:
        return Tokenizer.from_file(path / "tokenizer.json")

    def own_texts(self, ours: bpe.Tokenizer) -> list[str]:
        """Returns texts of random tokens, and texts with special tokens."""
        tokens = [[random.randrange(ours.id_limit) for _ in range(4)] for _ in range(1000)]
        special = list(ours.special_tokens) or [""]
        marked = [
            text[:5] + one + text[5:] + one[: random.randrange(len(one) + 1)]
            for text, one in zip(PLAIN, random.choices(special, k=1000))
        ]
        return ["".join(ours.decode_batch([[id] for id in ids])) for ids in tokens] + marked

    def differing(self, ours: bpe.Tokenizer, theirs: Tokenizer, texts: list[str]) -> list[str]:
        """Returns the texts for which 1.0 gives other ids, or decodes our ids differently."""
        expected = ours.encode_batch(texts)
        ids = [encoding.ids for encoding in theirs.encode_batch(texts, add_special_tokens=False)]
        self.assertEqual(len(ids), len(texts))
        decoded = [theirs.decode(each, skip_special_tokens=False) for each in expected]
        return [
            text
            for text, wanted, found, back, again in zip(texts, expected, ids, ours.decode_batch(expected), decoded)
            if (wanted, back) != (found, again)
        ]

    def same(self, ours: bpe.Tokenizer, path: Path, forms_change: bool = False) -> Tokenizer:
        theirs = self.load(path)
        texts = self.own_texts(ours)
        if forms_change:
            # In PLAIN, such characters are only where their form does not depend on the version of Unicode. In tokens
            # joined at random, they may be elsewhere, so these texts are left out.
            texts = [text for text in texts if NEW_FORM_CHARACTERS.isdisjoint(text)]
        texts += [*PLAIN, "\n".join(PLAIN), *([] if forms_change else NEW_FORMS)]
        differing = self.differing(ours, theirs, texts)
        self.assertEqual([text for text in differing if LONG_S not in text], [])
        return theirs

    def refuses(self, path: Path) -> None:
        """Checks that 1.0 loads the tokenizer, but refuses to encode texts."""
        theirs = self.load(path)
        for text in ("a b", "c"):
            with self.assertRaisesRegex(ValueError, NO_ENGINE):
                theirs.encode(text)
            with self.assertRaisesRegex(ValueError, NO_ENGINE):
                theirs.encode_batch([text])


class Patterns(One):
    def test_every_name_is_known_to_run_or_not(self) -> None:
        lines = program("train", "--pattern", "help").split("\n\n")[0].splitlines()
        # Names are indented by two spaces, and continuation lines by more.
        names = [line.split()[0] for line in lines if re.match(r"  \S", line)]
        self.assertEqual(sorted(names), sorted([*RUN, *REFUSED]))

    def test_names_that_its_engine_has_give_our_ids(self) -> None:
        for name in RUN:
            with self.subTest(name):
                self.same(self.train(pattern=name), self.path)

    def test_other_names_are_refused_when_a_text_comes(self) -> None:
        for name in REFUSED:
            with self.subTest(name):
                self.train(pattern=name)
                self.refuses(self.path)

    def test_an_expression_of_the_user_is_refused(self) -> None:
        for expression in (r"\w+|\W", r"\s+", r"[^\n]+|\n+"):
            self.train(pattern=expression)
            self.refuses(self.path)

    def test_digits_in_twos_are_cut_wrongly_where_its_engine_has_them(self) -> None:
        """nanochat could be written as llama3's expression with {1,2}. This is the reason why it is not."""
        self.train(pattern="llama3")
        written = json.loads((self.path / "tokenizer.json").read_text("utf-8"))
        expression = written["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"].replace("{1,3}", "{1,2}")
        numbers = self.home / "numbers.txt"
        numbers.write_text("00 " * 9, "utf-8")
        ours = self.train(pattern=expression, files=numbers, vocab_size=261)
        theirs = self.load(self.path)
        self.assertEqual(self.differing(ours, theirs, ["000", "0000"]), ["0000"])
        self.assertEqual(theirs.tokenize("0000"), ["00", "0", "0"])

    def test_a_long_s_is_no_s_of_a_contraction(self) -> None:
        words = self.home / "words.txt"
        words.write_text("\u017fa " * 9, "utf-8")
        texts = ["'\u017fa", "a'\u017fa"]
        for name, differing in (("llama3", texts), ("qwen2", texts), ("o200k", texts[1:]), ("gpt2", []), ("tekken", [])):
            ours = self.train(pattern=name, files=words, vocab_size=262)
            self.assertEqual(self.differing(ours, self.load(self.path), texts), differing)

    def test_all_strings_of_signs_that_patterns_tell_apart(self) -> None:
        signs = "'\u017fsSa \n1/!"
        texts = ["".join(each) for length in range(1, 5) for each in itertools.product(signs, repeat=length)]
        self.corpus.write_text("\n".join(["\u017fa"] * 99 + random.choices(texts, k=9000)), "utf-8", newline="")
        for name in ("gpt2", "llama3", "qwen2", "o200k", "tekken", "deepseek-v3"):
            with self.subTest(name):
                differing = self.differing(self.train(pattern=name), self.load(self.path), texts)
                self.assertEqual([text for text in differing if LONG_S not in text], [])
                self.assertEqual(bool(differing), name in ("llama3", "qwen2", "o200k"))

    def test_the_engine_has_unicode_17(self) -> None:
        ours = self.train()
        theirs = self.load(self.path)
        self.assertTrue(self.differing(ours, theirs, NEWER))
        # After a letter or digit, 's is a contraction. So the ids of a character followed by 's show whether tokenizers
        # 1.0 takes the character for a letter or digit.
        characters = [chr(point) for point in range(0x40000) if not 0xD800 <= point < 0xE000]
        differing = {text[0] for text in self.differing(ours, theirs, [one + "'s" for one in characters])}
        self.assertEqual(len(differing), 4657)
        # U+1E6C0 is new in Unicode 17, U+1CCF0 in 16, and U+0378 is unassigned.
        self.assertEqual(differing & {"\U0001e6c0", "\U0001ccf0", "\u0378"}, {"\U0001e6c0"})


class Forms(One):
    def test_several_sizes(self) -> None:
        self.train(vocab_size=[600, 1500]).close()
        for size in ("600", "1500"):
            with bpe.Tokenizer.load(self.path / size) as ours:
                self.same(ours, self.path / size)

    def test_normalized(self) -> None:
        for steps in (["NFC"], ["NFD"], ["NFKC"], ["NFKD"], ["NFKC", "lowercase"], ["lowercase", "NFC"]):
            with self.subTest(steps):
                ours = self.train(normalize=steps)
                theirs = self.same(ours, self.path, forms_change=True)
                # bpe has the normal forms of version 0.23 (Unicode 9.0), and 1.0 has current ones.
                self.assertTrue(self.differing(ours, theirs, NEW_FORMS))
        self.same(self.train(normalize=["lowercase"]), self.path)

    def test_extended_and_extended_again(self) -> None:
        self.train(pattern="llama3").close()
        for name in ("once", "twice"):
            before, self.path = self.path, self.home / name
            ours = self.train(extend=before, vocab_size="+200", special_tokens=[])
            self.same(ours, self.path)

    def test_pruned(self) -> None:
        self.train(pattern="o200k").close()
        pruned = self.home / "pruned"
        program("prune", str(self.path), "--text", str(self.corpus), "-n", "900", "-o", str(pruned), "-q")
        with bpe.Tokenizer.load(pruned) as ours:
            self.assertEqual(ours.vocab_size, 900)
            self.same(ours, pruned)

    def test_whole_characters_seed_tokens_limits_and_the_rules_of_other_trainers(self) -> None:
        for options in (
            {"whole_characters": True},
            {"seed_tokens": ["tokenizer", " vocabulary"]},
            {"max_token_length": 4, "min_frequency": 5},
            {"pad_to": 64},
            {"compat": "huggingface"},
            {"compat": "rustbpe", "pattern": "llama3"},
            {"special_tokens": []},
            {"special_tokens": ["<a", "<a>", "<a><a>", "b c", " d", "\n\n", "e\u0301", "'s"]},
        ):
            with self.subTest(options):
                self.same(self.train(**options), self.path)

    def test_shared_out_among_languages(self) -> None:
        files = {name: self.home / name for name in ("en", "hi")}
        files["en"].write_text("the cat of the old house, the dog " * 200, "utf-8")
        files["hi"].write_text("क्षत्रिय का घर, और कुत्ता " * 200, "utf-8")
        self.same(self.train(files=None, languages=files, vocab_size=330), self.path)

    def test_like_published_tokenizers(self) -> None:
        for name in ("gpt2", "gpt-4o", "llama3", "llama4", "qwen3"):
            with self.subTest(name):
                ours = self.train(like=name, vocab_size=4000, special_tokens=[])
                self.same(ours, self.path, forms_change=name == "qwen3")
        self.train(like="gpt-4", vocab_size=4000, special_tokens=[])
        self.refuses(self.path)

    def test_superwords_and_a_space_in_front_are_refused(self) -> None:
        self.train(superwords_from=1200)
        self.refuses(self.path)
        base = self.home / "base"
        self.train(output=base)
        told = json.loads((base / "tokenizer.json").read_text("utf-8"))
        told["pre_tokenizer"]["add_prefix_space"] = True
        (self.home / "tokenizer.json").write_text(json.dumps(told), "utf-8")
        self.train(like=self.home / "tokenizer.json", special_tokens=[])
        with self.assertRaisesRegex(ValueError, "`add_prefix_space: true` is not supported"):
            self.load(self.path)

    def test_megabytes_in_one_text(self) -> None:
        for name in ("gpt2", "llama3"):
            ours = self.train(pattern=name)
            text = "\n".join(random.choices([text for text in PLAIN if LONG_S not in text], k=90_000)) + CHATML[0]
            self.assertGreater(len(text), 2_000_000)
            self.assertEqual(self.differing(ours, self.load(self.path), [text, "a" * 100_000, text[::-1]]), [])


class Settings(One):
    def test_bos_in_front_and_pairs(self) -> None:
        ours = self.train(add_bos=True, chat_template="chatml")
        theirs = self.same(ours, self.path)
        bos = ours.special_tokens[CHATML[0]]
        for text in PLAIN[:500]:
            self.assertEqual(theirs.encode(text).ids, [bos, *ours.encode(text)])
        pair = theirs.encode(("a b", "c"))
        first, second = [bos, *ours.encode("a b")], [bos, *ours.encode("c")]
        self.assertEqual(pair.ids, first + second)
        self.assertEqual(pair.type_ids, [0] * len(first) + [1] * len(second))

    def test_special_tokens_are_found_left_out_or_read_as_text(self) -> None:
        ours = self.train()
        theirs = self.load(self.path)
        for text in PLAIN[:500]:
            mixed = CHATML[1] + text + CHATML[2]
            as_text = theirs.encode(mixed, encode_special_tokens=True)
            self.assertEqual(as_text.ids, ours.encode(mixed, special_tokens_as_text=True))
            self.assertEqual(theirs.decode(ours.encode(mixed)), text)

    def test_padding_and_truncation_are_taken_over_and_can_be_given(self) -> None:
        base = self.home / "base"
        self.train(output=base)
        told = json.loads((base / "tokenizer.json").read_text("utf-8"))
        told["truncation"] = {"direction": "Right", "max_length": 6, "strategy": "LongestFirst", "stride": 0}
        told["padding"] = {
            **{"strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": 4},
            **{"pad_id": 1499, "pad_type_id": 0, "pad_token": CHATML[3]},
        }
        (self.home / "tokenizer.json").write_text(json.dumps(told), "utf-8")
        ours = self.train(like=self.home / "tokenizer.json", special_tokens=[])
        theirs = self.load(self.path)
        pad = ours.special_tokens[CHATML[3]]
        self.assertEqual((theirs.padding.pad_id, theirs.padding.direction, theirs.truncation.max_length), (pad, "left", 6))
        texts = ["a", "of the old house", "c" * 90]
        kept = [ours.encode(text)[:6] for text in texts]
        length = -(-max(map(len, kept)) // 4) * 4
        expected = [[pad] * (length - len(ids)) + ids for ids in kept]
        self.assertEqual([encoding.ids for encoding in theirs.encode_batch(texts)], expected)
        given = theirs.encode_batch(texts, padding=Padding(length=5, pad_id=pad), truncation=Truncation(2))
        self.assertEqual([encoding.ids for encoding in given], [(ids[:2] + [pad] * 5)[:5] for ids in kept])
        self.assertEqual(theirs.encode(texts[2], padding=None, truncation=None).ids, ours.encode(texts[2]))

    def test_bytes_that_are_no_text_are_decoded_alike(self) -> None:
        ours = self.train()
        theirs = self.load(self.path)
        batch = [[random.randrange(1500) for _ in range(random.randrange(9))] for _ in range(5000)]
        self.assertEqual([theirs.decode(ids, skip_special_tokens=False) for ids in batch], ours.decode_batch(batch))

    def test_to_hf_gives_a_tokenizer_of_the_release_candidate(self) -> None:
        ours = self.train(output=None)
        theirs = ours.to_hf()
        self.assertEqual(self.differing(ours, theirs, PLAIN[:1000]), [])
        self.assertEqual(self.differing(ours, pickle.loads(pickle.dumps(theirs)), PLAIN[:1000]), [])

    def test_a_pickle_has_another_format_which_is_refused_by_name(self) -> None:
        self.train(add_bos=True)
        _, (told, *_) = self.load(self.path).__reduce__()
        self.assertEqual(json.loads(told)["version"], "2.0")
        path = self.home / "pickled.json"
        path.write_text(told, "utf-8")
        refused = self.assertRaisesRegex(bpe.BpeError, r'its version is "2\.0", not "1\.0"')
        with refused:
            bpe.Tokenizer.load(path)
        for option in ("extend", "like"):
            with refused:
                bpe.train(self.corpus, "+9" if option == "extend" else 2000, output=self.home / "no", **{option: path})
        self.assertFalse((self.home / "no").exists())


class Statements(One):
    def test_the_names_of_the_package(self) -> None:
        self.assertEqual(tokenizers.__version__, "1.0.0-rc.3")
        self.assertEqual(set(tokenizers.__all__), {"Tokenizer", "Encoding", "Padding", "Truncation", "__version__"})
        self.assertEqual(
            {name for name in dir(Tokenizer) if not name.startswith("_")},
            {"decode", "decode_tokens", "encode", "encode_batch", "from_file", "from_pretrained", "padding", "tokenize", "truncation"},
        )
        fields = ("ids", "type_ids", "attention_mask")
        self.assertEqual(
            {name for name in dir(tokenizers.Encoding) if not name.startswith("_")},
            {*fields, *(f"{name}_array" for name in fields)},
        )

    def test_other_models_are_encoded(self) -> None:
        for model, expected in (
            ({"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "a": 1, "##b": 2, "c": 3}}, [1, 2, 3]),
            ({"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["b", -2], ["ab", -1.5], ["c", -3]]}, [3, 4]),
            ({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "ab": 1}}, [1, 0]),
        ):
            if model["type"] == "WordPiece":
                model |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
            path = self.home / "tokenizer.json"
            path.write_text(json.dumps({"version": "1.0", "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": model}))
            self.assertEqual(self.load(self.home).encode("ab c").ids, expected)

    def test_modules_that_the_package_lacks(self) -> None:
        for module in ("trainers", "models", "pre_tokenizers", "normalizers", "decoders", "processors", "implementations"):
            with self.assertRaises(ImportError):
                __import__(f"tokenizers.{module}")


if __name__ == "__main__":
    unittest.main()
