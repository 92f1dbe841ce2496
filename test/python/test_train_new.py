"""`train_new_from_iterator`, compared with that of `transformers`, for generated tokenizers."""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from pathlib import Path

import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, GPT2Tokenizer, PreTrainedTokenizerFast

import bpe_trainer as bpe
from test_bpe import made_texts

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
#: Special tokens. Some occur in the texts, some have the text of a byte's token, and merges may make some.
SPECIAL = ["<s>", "</s>", "<pad>", "<unk>", "<mask>", "<|endoftext|>", "<x y>", "  ", "the", "a", "Ġ", "é", "\n\n"]
ROLES = ["bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token"]


def split(regex: str, behavior: str = "isolated"):
    return pre_tokenizers.Split(Regex(regex), behavior)


def pipelines():
    """Returns pre-tokenizers of published tokenizers, and others."""
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
    """Returns a tokenizer with a random pipeline and random added tokens, trained on little text."""
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
    """Updates the old ids that HF's method leaves in two places: padding, and post-processors in a Sequence."""
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
    """Returns texts with several kinds of line ends, special tokens, and more than one script."""
    texts = made_texts(count)
    for i in range(0, count, 3):
        joint = random.choice(["\n", "\r\n", "\n\n\n", " \n ", "\t", "\u2028", *names, *names])
        texts[i] = texts[i] + joint + texts[i - 1] + joint * random.randrange(3)
    return texts + ["", "\n", " ", "\r", "1234567 89", "日本語 with English's\n\n'LL"]


def saved(tokenizer) -> dict:
    """Returns the contents of the files that `save_pretrained` writes, by name."""
    with tempfile.TemporaryDirectory() as home:
        tokenizer.save_pretrained(home)
        return {path.name: path.read_text("utf-8") for path in sorted(Path(home).iterdir())}


class TrainNewFromIterator(unittest.TestCase):
    """Compares `bpe.train_new_from_iterator` with the method of transformers."""

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

    def test_every_class_of_transformers_is_equal_or_refused(self) -> None:
        random.seed(20261123)
        texts = odd_texts(150, ["<s>", "<|endoftext|>"])
        equal, refused = [], []
        names = [name for name in dir(transformers) if name.endswith(("Tokenizer", "TokenizerFast"))]
        for name in names:
            try:
                tokenizer = getattr(transformers, name)()
            except Exception:
                continue  # The class needs files, or another package.
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    ours = bpe.train_new_from_iterator(tokenizer, texts, 600)
                except bpe.BpeError as error:
                    self.assertNotIn("/tmp", str(error))
                    refused.append(name)
                    continue
                theirs = tokenizer.train_new_from_iterator(texts, 600, show_progress=False)
                with_new_ids(theirs.backend_tokenizer, {})
                self.assertIs(type(ours), type(theirs))
                self.assertEqual(saved(ours), saved(theirs))
                equal.append(name)
        self.assertLessEqual({"GPT2Tokenizer", "Qwen2Tokenizer", "RobertaTokenizer", "WhisperTokenizer"}, {*equal})
        self.assertLessEqual({"BertTokenizer", "T5Tokenizer", "LlamaTokenizer", "CLIPTokenizer"}, {*refused})
        self.assertLessEqual({"ByT5Tokenizer", "CanineTokenizer"}, {*refused})

    def test_a_bare_tokenizer_is_what_the_method_makes_of_it(self) -> None:
        random.seed(20261124)
        for number in range(25):
            made = made_tokenizer()
            before = made.to_str()
            added = [token for _, token in sorted(made.get_added_tokens_decoder().items())]
            special = [token.content for token in added if token.special]
            options = {"new_special_tokens": ["<|new|>", AddedToken("<n>", rstrip=True, special=True)]} if number % 2 else {}
            if number % 3 == 0 and special:
                options["special_tokens_map"] = {special[0]: "<|other|>"}
            texts = odd_texts(40, special)
            with self.subTest(number=number, made=before[:2000], options=options), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours = bpe.train_new_from_iterator(made, texts, 330, **options)
                self.assertIs(type(ours), Tokenizer)
                self.assertEqual(made.to_str(), before)
                base = PreTrainedTokenizerFast(tokenizer_object=made)
                theirs = base.train_new_from_iterator(texts, 330, show_progress=False, **options).backend_tokenizer
                # The method omits added tokens that are not special, unless transformers knows them.
                theirs.add_tokens([token for token in added if not token.special])
                with_new_ids(theirs, options.get("special_tokens_map", {}))
                expected = json.loads(theirs.to_str())
                # transformers adds an empty template once it has been asked for bos and eos.
                if (expected["post_processor"] or {}).get("special_tokens") == {}:
                    expected["post_processor"] = None
                self.assertEqual(json.loads(ours.to_str()), expected)

    def test_a_tokenizer_of_bpe_is_trained_as_with_like(self) -> None:
        texts = ["low lower<s>lowest\n\n"] * 5
        with tempfile.TemporaryDirectory() as home:
            first = bpe.train(texts=texts, vocab_size=262, special_tokens=["<s>"], normalize="NFC", output=f"{home}/a")
            again = bpe.train_new_from_iterator(first, texts, 264, new_special_tokens=["<t>"])
            like = bpe.train(texts=texts, vocab_size=264, special_tokens=["<t>"], like=f"{home}/a")
            self.assertEqual(again.to_hf().to_str(), like.to_hf().to_str())
            self.assertEqual(sorted(again.special_tokens), ["<s>", "<t>"])
            with self.assertRaisesRegex(bpe.BpeError, "special_tokens_map is only for tokenizers of"):
                bpe.train_new_from_iterator(first, texts, 264, special_tokens_map={"<s>": "<t>"})
            for tokenizer in (first, again, like):
                tokenizer.close()

    def test_wrong_arguments_are_refused(self) -> None:
        tokenizer = GPT2Tokenizer()
        texts = ["low lower"]
        for error, words, arguments, options in [
            (TypeError, r"text_iterator is a string: give a list", ("low", 300), {}),
            (TypeError, "text_iterator must be an iterable of strings, found NoneType", (None, 300), {}),
            (TypeError, r"""texts is a dict of 'a'.*dataset\["a"\]""", ({"a": texts}, 300), {}),
            (TypeError, "texts must be strings, found int", ([1], 300), {}),
            (UnicodeEncodeError, r"'\\udc80' in position 1", (["a\udc80"], 300), {}),
            (bpe.BpeError, "there are no texts to learn from", ([], 300), {}),
            (bpe.BpeError, "there are no texts to learn from", (iter([[], ()]), 300), {}),
            (TypeError, "vocab_size must be a whole number, found .300", (texts, "300"), {}),
            (TypeError, "vocab_size must be a whole number, found True", (texts, True), {}),
            (TypeError, "vocab_size must be a whole number, found list", (texts, [300, 400]), {}),
            (bpe.BpeError, "^vocab_size is 256, but must be at least", (texts, 256), {}),
            (bpe.BpeError, '^min_frequency is "-1", but must be a whole number', (texts, 300), {"min_frequency": -1}),
            (TypeError, "has no parameter 'nope'", (texts, 300), {"nope": 1}),
            (TypeError, "pass additional ones as new_special_tokens", (texts, 300), {"special_tokens": ["x"]}),
            (TypeError, "new_special_tokens is a str: give a list", (texts, 300), {"new_special_tokens": "x"}),
            (bpe.BpeError, "a special token is empty", (texts, 300), {"new_special_tokens": [""]}),
            (bpe.BpeError, "half of a surrogate pair", (texts, 300), {"new_special_tokens": ["a\udc80"]}),
            (TypeError, "special_tokens_map must be a dict", (texts, 300), {"special_tokens_map": ["x"]}),
        ]:
            for one in (tokenizer, tokenizer.backend_tokenizer):
                with self.subTest(words, of=type(one).__name__), self.assertRaisesRegex(error, words):
                    bpe.train_new_from_iterator(one, *arguments, **options)
        for one, error, words in [
            (GPT2Tokenizer, TypeError, "tokenizer is the class GPT2Tokenizer"),
            ("gpt2", bpe.BpeError, "the settings of builtins.str cannot be read"),
            (Tokenizer(models.WordLevel({"a": 0}, "a")), bpe.BpeError, "WordLevel model: only byte-level BPE"),
            (Tokenizer(models.BPE()), bpe.BpeError, "it has no pre-tokenizer, so it is not byte-level"),
            (PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE())), bpe.BpeError, "its pre-tokenizer is null"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                bpe.train_new_from_iterator(one, texts, 300)

    def test_a_method_of_another_kind_is_refused(self) -> None:
        class Own(GPT2Tokenizer):
            def train_new_from_iterator(self, *_, **__):
                return self

        with self.assertRaisesRegex(bpe.BpeError, "Own.train_new_from_iterator is not the train_new_from_iterator of"):
            bpe.train_new_from_iterator(Own(), ["low"], 300)

    def test_warnings_name_the_line_of_the_caller(self) -> None:
        for tokenizer in (GPT2Tokenizer(), GPT2Tokenizer().backend_tokenizer):
            with self.assertWarnsRegex(UserWarning, "stopped early") as caught:
                bpe.train_new_from_iterator(tokenizer, ["low"], 1000)
            self.assertEqual(caught.filename, __file__)

    def test_forks_and_threads_train_too(self) -> None:
        tokenizer = GPT2Tokenizer()
        sizes = []

        def train() -> None:
            sizes.append(len(bpe.train_new_from_iterator(tokenizer, ["low lower"] * 5, 262)))

        threads = [threading.Thread(target=train) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sizes, [262] * 4)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(trained_size, [261, 262]), [261, 262])

    def test_texts_that_raise_or_never_end_leave_nothing(self) -> None:
        def failing():
            yield "low lower"
            raise LookupError("nothing more")

        with tempfile.TemporaryDirectory() as home:
            before = tempfile.tempdir
            tempfile.tempdir = home
            try:
                with self.assertRaisesRegex(LookupError, "nothing more"):
                    bpe.train_new_from_iterator(GPT2Tokenizer(), failing(), 300)
                with self.assertRaises(ZeroDivisionError):
                    bpe.train_new_from_iterator(GPT2Tokenizer(), ["low"] * 9, 258, show_progress=lambda *_: 1 / 0)
            finally:
                tempfile.tempdir = before
            self.assertEqual(os.listdir(home), [])
            endless = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", ENDLESS], stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": home}
            )
            with endless:
                self.assertEqual(endless.stdout.readline(), "begun\n")
                endless.send_signal(signal.SIGINT)
                self.assertEqual(endless.stdout.read(), "interrupted\n")
            self.assertEqual([name for name in os.listdir(home) if name.startswith("bpe-")], [])


#: A program that trains on an almost endless generator of texts, which prints "begun" after 1,000 texts.
ENDLESS = """
import bpe_trainer as bpe
from transformers import GPT2Tokenizer

def texts():
    for number in range(1 << 60):
        if number == 1000:
            print("begun", flush=True)
        yield "low lower lowest " * 20

try:
    bpe.train_new_from_iterator(GPT2Tokenizer(), texts(), 300)
except KeyboardInterrupt:
    print("interrupted")
"""


def trained_size(size: int) -> int:
    return len(bpe.train_new_from_iterator(GPT2Tokenizer(), ["low lower"] * 5, size))


if __name__ == "__main__":
    unittest.main()
