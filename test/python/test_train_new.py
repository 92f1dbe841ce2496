"""Moving from other trainers: `train_new_from_iterator`, and docs/moving.md, whose every row is a test."""

import json
import os
import random
import tempfile
import unittest
import warnings
from pathlib import Path

import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, GPT2TokenizerFast, PreTrainedTokenizerFast, Qwen2TokenizerFast

import bpe_trainer as bpe
from test_bpe import made_texts

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
#: Names of special tokens; some are what text has, or a byte, or what merges spell.
SPECIAL = ["<s>", "</s>", "<pad>", "<unk>", "<mask>", "<|endoftext|>", "<x y>", "  ", "the", "a", "Ġ", "é", "\n\n"]
ROLES = ["bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token"]


def split(regex: str, behavior: str = "isolated"):
    return pre_tokenizers.Split(Regex(regex), behavior)


def pipelines():
    """Pre-tokenizers of published tokenizers, and others."""
    byte_level = pre_tokenizers.ByteLevel
    bare = byte_level(add_prefix_space=False, use_regex=False)
    return [
        byte_level(add_prefix_space=False),
        byte_level(add_prefix_space=True),
        pre_tokenizers.Sequence([split(LLAMA3), bare]),
        pre_tokenizers.Sequence([split(QWEN2), bare]),
        pre_tokenizers.Sequence([split(r"\p{N}{1,3}"), split(r"[一-龥]+"), split(r"\w+|[^\w\s]+|\s+"), bare]),
        pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level(add_prefix_space=False)]),
        pre_tokenizers.Sequence([pre_tokenizers.Punctuation("contiguous"), byte_level(add_prefix_space=False)]),
        bare,
    ]


def made_tokenizer() -> Tokenizer:
    """A tokenizer with a random pipeline and random added tokens, trained on little."""
    made = Tokenizer(models.BPE(ignore_merges=random.random() < 0.5))
    made.normalizer = random.choice(
        [None, None, normalizers.NFC(), normalizers.NFKC(), normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase()])]
    )
    made.pre_tokenizer = random.choice(pipelines())
    made.decoder = decoders.ByteLevel()
    added = [
        AddedToken(
            word,
            special=random.random() < 0.7,
            lstrip=random.random() < 0.2,
            rstrip=random.random() < 0.2,
            single_word=random.random() < 0.2,
            normalized=random.random() < 0.3,
        )
        for word in random.sample(SPECIAL, random.randrange(6))
    ]
    first = [token for token in added if token.special and random.random() < 0.5]
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=first, initial_alphabet=byte_alphabet(), show_progress=False
    )
    made.train_from_iterator(made_texts(20), trainer)
    for token in added:
        made.add_special_tokens([token]) if token.special else made.add_tokens([token])
    plain = [token.content for token in added if token.special]
    made.post_processor = random.choice([lambda *_: None, byte_level_steps, template, template, sequence, roberta])(made, plain)
    if random.random() < 0.2:
        made.enable_truncation(random.randrange(4, 50))
    if random.random() < 0.2 and plain:
        made.enable_padding(pad_id=made.token_to_id(plain[0]), pad_token=plain[0])
    return made


def with_new_ids(made: Tokenizer, names: dict) -> None:
    """Gives the new ids to what keeps the old ones in HF's method: padding, and a post-processor in a Sequence."""
    root = json.loads(made.to_str())
    for step in (root["post_processor"] or {}).get("processors", []):
        for one in step.get("special_tokens", {}).values():
            one["tokens"] = [names.get(token, token) for token in one["tokens"]]
            one["ids"] = [made.token_to_id(token) for token in one["tokens"]]
    made.post_processor = Tokenizer.from_str(json.dumps(root)).post_processor
    if made.padding:
        token = names.get(made.padding["pad_token"], made.padding["pad_token"])
        made.enable_padding(**{**made.padding, "pad_token": token, "pad_id": made.token_to_id(token)})


def byte_alphabet():
    return pre_tokenizers.ByteLevel.alphabet()


def byte_level_steps(*_):
    return processors.ByteLevel(trim_offsets=False)


def template(made, tokens):
    tokens = [token for token in tokens if " " not in token and "\n" not in token]
    if not tokens:
        return None
    one = random.choice(tokens)
    ids = [(one, made.token_to_id(one))]
    return processors.TemplateProcessing(single=f"{one} $A", pair=f"{one} $A $B:1 {one}:1", special_tokens=ids)


def sequence(made, tokens):
    one = template(made, tokens)
    return one and processors.Sequence([byte_level_steps(), one])


def roberta(made, tokens):
    if not tokens:
        return None
    first, last = ((token, made.token_to_id(token)) for token in (tokens[0], tokens[-1]))
    return processors.RobertaProcessing(last, first)


def odd_texts(count: int, names):
    """Texts with line ends of every kind, special tokens, and more than one script."""
    texts = made_texts(count)
    for i in range(0, count, 3):
        joint = random.choice(["\n", "\r\n", "\n\n\n", " \n ", "\t", "\u2028", *names, *names])
        texts[i] = texts[i] + joint + texts[i - 1] + joint * random.randrange(3)
    return texts + ["", "\n", " ", "\r", "1234567 89", "日本語 with English's\n\n'LL"]


def saved(tokenizer) -> dict:
    """What it writes, by the names of the files."""
    with tempfile.TemporaryDirectory() as home:
        tokenizer.save_pretrained(home)
        return {path.name: path.read_text("utf-8") for path in sorted(Path(home).iterdir())}


class TrainNewFromIterator(unittest.TestCase):
    """What transformers' method returns, `bpe.train_new_from_iterator` returns."""

    def check(self, tokenizer, texts, vocab_size, names=(), **options) -> None:
        ours = bpe.train_new_from_iterator(tokenizer, iter(texts), vocab_size, **options)
        theirs = tokenizer.train_new_from_iterator(iter(texts), vocab_size, **{"show_progress": False, **options})
        with_new_ids(theirs.backend_tokenizer, options.get("special_tokens_map", {}))
        self.assertIs(type(ours), type(theirs))
        self.assertEqual(json.loads(ours.backend_tokenizer.to_str()), json.loads(theirs.backend_tokenizer.to_str()))
        self.assertEqual(ours.get_vocab(), theirs.get_vocab())
        self.assertEqual(ours.special_tokens_map, theirs.special_tokens_map)
        self.assertEqual(ours.all_special_ids, theirs.all_special_ids)
        self.assertEqual(
            {id: str(token) for id, token in ours.added_tokens_decoder.items()},
            {id: str(token) for id, token in theirs.added_tokens_decoder.items()},
        )
        self.assertEqual(saved(ours), saved(theirs))
        mixed = [text + name + text for text in odd_texts(6, names) for name in [*names, ""]]
        self.assertEqual(ours(mixed)["input_ids"], theirs(mixed)["input_ids"])
        with tempfile.TemporaryDirectory() as home:
            ours.save_pretrained(Path(home, "ours"))
            theirs.save_pretrained(Path(home, "theirs"))
            again, expected = (AutoTokenizer.from_pretrained(Path(home, name)) for name in ("ours", "theirs"))
            self.assertIs(type(again), type(expected))
            self.assertEqual(again(mixed)["input_ids"], expected(mixed)["input_ids"])

    def test_a_hundred_made_tokenizers(self) -> None:
        random.seed(20261123)
        for number in range(int(os.environ.get("BPE_TEST_MADE", "100"))):
            made = made_tokenizer()
            names = [token.content for token in made.get_added_tokens_decoder().values()]
            special = [token.content for token in made.get_added_tokens_decoder().values() if token.special]
            settings = {role: random.choice([*special, "[NEW]"]) for role in random.sample(ROLES, random.randrange(4))}
            if random.random() < 0.3:
                settings["chat_template"] = "{% for m in messages %}{{ m.content }}{% endfor %}"
            if random.random() < 0.3:
                settings.update(model_max_length=512, padding_side="left")
            base = PreTrainedTokenizerFast(tokenizer_object=made, **settings)
            options = {}
            if random.random() < 0.3:
                options["new_special_tokens"] = ["<|new|>", AddedToken("<n>", lstrip=True, special=True), "the"][: random.randrange(4)]
            if random.random() < 0.3 and special:
                options["special_tokens_map"] = {random.choice(special): "<|other|>"}
            if random.random() < 0.3:
                options["min_frequency"] = random.randrange(6)
            if random.random() < 0.3:
                options["max_token_length"] = random.randrange(2, 8)
            texts = odd_texts(40, names)
            texts = texts if random.random() < 0.5 else [texts[i : i + 7] for i in range(0, len(texts), 7)]
            with self.subTest(number=number, made=made.to_str()[:3000], settings=settings, options=options), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.check(base, texts, 256 + 20 + random.randrange(150), names, **options)


if __name__ == "__main__":
    unittest.main()
