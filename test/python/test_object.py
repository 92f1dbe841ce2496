"""The behaviour of a tokenizer object: vocabulary, offsets, special tokens around a text, roles,
types."""

import base64
import copy
import hashlib
import inspect
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import typing
import unittest
import unittest.mock
from pathlib import Path

import numpy
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer

import bpe_trainer as bpe
from bpe_trainer import cs336
from test_bpe import END, Home, made_texts

#: Pieces of texts, including added tokens and parts of them.
PIECES = [
    *("a", "b", "e", " ", "  ", "the", " the", "\n", "\r\n", "\t", "'s", "1", "23", "é", "e\u0301", "你", "好", "😀"),
    *("👩\u200d👩\u200d👧", "ß", "\u00a0", "\u3000", "\u2028", "!", "...", "İ", "\x00", "\ufffd", "\ufeff", "𐍈", "Ġ"),
    *("<s>", "</s>", "<x>", " <x>", "<mask>", "<e e>", "✓", "a b"),
]
NAMES = ["<s>", "</s>", "<x>", "<mask>", "<e e>", "ab", "the", "  ", "✓", " <x>"]


def made_text(draw: random.Random) -> str:
    return "".join(draw.choices(PIECES, k=draw.choice((0, 1, 2, 5, 12, 40))))


def made_steps(draw: random.Random, named: list) -> list:
    """Returns random steps of a post-processor, of which at most one adds tokens."""
    # All steps have the same `adds_space`. bpe refuses steps with different values, because these would trim
    # differently.
    adds_space = draw.random() < 0.5
    steps = [processors.ByteLevel(trim_offsets=draw.random() < 0.8, add_prefix_space=adds_space)]
    if named and draw.random() < 0.6:
        first, last = draw.choice(named), draw.choice(named)
        template = draw.choice(["{0} $A", "{0} $A {1}", "$A {1}", "{0} {0} $A"]).format(first[0], last[0])
        adding = [
            processors.TemplateProcessing(single=template, pair="$A $B", special_tokens=[*{first, last}]),
            processors.RobertaProcessing(first, last, draw.random() < 0.7, adds_space),
            processors.BertProcessing(first, last),
        ]
        steps.append(draw.choice(adding))
    draw.shuffle(steps)
    return steps[: draw.randrange(3)]


def made_by_hf(draw: random.Random) -> Tokenizer:
    """Returns a tokenizer of HF's trainer with a random pipeline, random added tokens and a random post-processor."""
    made = Tokenizer(models.BPE(ignore_merges=draw.random() < 0.3))
    byte_level = pre_tokenizers.ByteLevel
    made.pre_tokenizer = draw.choice(
        [
            byte_level(add_prefix_space=False),
            byte_level(add_prefix_space=True),
            byte_level(add_prefix_space=True, use_regex=False),
            pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level(add_prefix_space=False)]),
            pre_tokenizers.Sequence(
                [pre_tokenizers.Split(Regex(r"\w+|[^\w\s]+|\s+"), "isolated"), byte_level(False, use_regex=False)]
            ),
        ]
    )
    made.decoder = decoders.ByteLevel()
    added = []
    for name in draw.sample(NAMES, draw.randrange(5)):
        flags = {flag: draw.random() < 0.3 for flag in ("lstrip", "rstrip", "single_word", "normalized")}
        if name[0] == " " or any(token.content[0] == " " for token in added):
            flags["rstrip"] = False
        added.append(AddedToken(name, special=draw.random() < 0.7, **flags))
    if any(token.content[0] == " " for token in added):
        # bpe refuses a tokenizer in which one added token begins with a space, and one has rstrip.
        added = [token for token in added if not token.rstrip]
    wanted = {"initial_alphabet": byte_level.alphabet(), "show_progress": False}
    first = [token for token in added if token.special and draw.random() < 0.5]
    texts = [made_text(draw) for _ in range(60)]
    made.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=262 + draw.randrange(120), special_tokens=first, **wanted))
    for token in added:
        (made.add_special_tokens if token.special else made.add_tokens)([token])
    named = [(token.content, made.token_to_id(token.content)) for token in added if " " not in token.content]
    steps = made_steps(draw, named)
    if steps:
        made.post_processor = steps[0] if len(steps) == 1 else processors.Sequence(steps)
    return made


class BesideHF(unittest.TestCase):
    def same_names(self, ours: bpe.Tokenizer, theirs: Tokenizer) -> None:
        vocab = theirs.get_vocab()
        self.assertEqual(ours.get_vocab(), vocab)
        self.assertEqual((len(ours), ours.vocab_size), (theirs.get_vocab_size(), theirs.get_vocab_size()))
        limit = ours.id_limit
        self.assertEqual([ours.id_to_token(id) for id in range(limit + 2)], [theirs.id_to_token(id) for id in range(limit + 2)])
        tokens = [*vocab, "", "not there", "Ġthe "]
        self.assertEqual([ours.token_to_id(token) for token in tokens], [theirs.token_to_id(token) for token in tokens])
        special = {token.content: id for id, token in theirs.get_added_tokens_decoder().items() if token.special}
        self.assertEqual(ours.special_tokens, special)

    def same(self, ours: bpe.Tokenizer, theirs: Tokenizer, texts: list) -> None:
        """Compares names, ids, masks, offsets and decoded texts."""
        self.same_names(ours, theirs)
        for adds in (False, True):
            expected = theirs.encode_batch(texts, add_special_tokens=adds)
            called = ours(texts, add_special_tokens=adds, return_offsets_mapping=True)
            self.assertEqual(called["input_ids"], [encoding.ids for encoding in expected])
            self.assertEqual(called["attention_mask"], [encoding.attention_mask for encoding in expected])
            for text, offsets, encoding in zip(texts, called["offset_mapping"], expected):
                self.assertEqual(offsets, encoding.offsets, (text, encoding.tokens))
            self.assertEqual(ours.encode_batch(texts, add_special_tokens=adds), called["input_ids"])
            self.assertEqual(ours(texts, add_special_tokens=adds)["input_ids"], called["input_ids"])
            for skips in (False, True):
                decoded = theirs.decode_batch(called["input_ids"], skip_special_tokens=skips)
                self.assertEqual(ours.decode_batch(called["input_ids"], skip_special_tokens=skips), decoded)
        for text in texts[:8]:
            ids, spans = ours.encode_with_offsets(text, add_special_tokens=True)
            encoding = theirs.encode(text)
            self.assertEqual((ids, spans), (encoding.ids, encoding.offsets))
            one = {"input_ids": ids, "attention_mask": [1] * len(ids), "offset_mapping": spans}
            self.assertEqual(ours(text, return_offsets_mapping=True), one)
            self.assertEqual(ours.encode(text, add_special_tokens=True), ids)
            self.assertEqual(ours.decode(ids, skip_special_tokens=True), theirs.decode(ids, skip_special_tokens=True))

    def spans_of_bytes(self, ours: bpe.Tokenizer, texts: list) -> None:
        """Checks that byte spans are consecutive, and have the bytes of their tokens, apart from stripped white
        space."""
        for text in texts:
            data = text.encode()
            ids, spans = ours.encode_with_offsets(text, unit="bytes")
            self.assertEqual([start for start, _ in spans], [0, *(end for _, end in spans)][: len(spans)])
            self.assertEqual(spans[-1][1] if spans else 0, len(data))
            for id, (start, end) in zip(ids, spans):
                token, found = ours.token_bytes(id), data[start:end]
                self.assertIn(token.decode("utf-8", "replace").strip(), found.decode("utf-8", "replace"))
                self.assertIn(found.decode("utf-8", "replace").strip(), token.decode("utf-8", "replace"))

    def test_a_fingerprint_is_that_of_the_executable_and_of_hf(self):
        """The fingerprint is also the digest of the ids that HF's package gives for docs/probe-1.json."""
        for options in ({}, {"normalize": "NFKC,lowercase"}, {"pattern": "deepseek-v3", "compat": "huggingface"}):
            with tempfile.TemporaryDirectory() as home:
                path = os.path.join(home, "tokenizer")
                tokenizer = bpe.train(texts=made_texts(1), vocab_size=600, special_tokens=[END, "<s>"], output=path, **options)
                self.assertEqual(tokenizer.fingerprint, bpe.inspect(path)["fingerprint"])
                as_text = bpe.Tokenizer.load(path, special_tokens_as_text=True)
                self.assertEqual(as_text.fingerprint, tokenizer.fingerprint)
                from bpe_trainer._probe import TEXT

                ids = Tokenizer.from_file(f"{path}/tokenizer.json").encode(TEXT, add_special_tokens=False).ids
                digest = hashlib.sha256(" ".join(map(str, ids)).encode()).hexdigest()
                self.assertEqual(tokenizer.fingerprint, f"1-{digest[:32]}")

    def test_whatever_hf_trained_is_the_same_here(self) -> None:
        draw = random.Random(20261123)
        for case in range(24):
            made = made_by_hf(draw)
            texts = ["", "\r\n", "😀😀", *(made_text(draw) for _ in range(40))]
            with self.subTest(case=case), tempfile.TemporaryDirectory() as home:
                path = os.path.join(home, "tokenizer.json")
                made.save(path)
                with bpe.Tokenizer.load(path) as ours:
                    self.same(ours, made, texts)
                    self.spans_of_bytes(ours, texts)

    def test_what_is_trained_here_is_the_same_there(self) -> None:
        draw = random.Random(1)
        texts = [made_text(draw) for _ in range(150)]
        specials = ["<s>", "<x>", "</s>", "✓"]
        for options in ({}, {"add_bos": True}, {"pattern": "cl100k"}, {"pad_to": 64}, {"compat": "huggingface", "add_bos": True}):
            with self.subTest(options=options), bpe.train(
                texts=texts, vocab_size=380, special_tokens=specials, **options
            ) as ours:
                self.same(ours, ours.to_hf(), texts)
                self.spans_of_bytes(ours, texts)
                bos = [ours.bos_token_id] if options.get("add_bos") else []
                self.assertEqual(ours.encode("a", add_special_tokens=True), [*bos, *ours.encode("a")])
                as_text, spans = ours.encode_with_offsets("<s>a", unit="bytes", special_tokens_as_text=True)
                self.assertEqual(as_text, ours.encode("<s>a", special_tokens_as_text=True))
                self.assertEqual((spans[0][0], spans[-1][1]), (0, 4))

    def test_names_are_hfs_where_a_special_token_has_the_id_of_a_learned_one(self) -> None:
        draw = random.Random(20261127)
        alphabet = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġthe", "th", "Ã©", "ä¸", "中", "\0", "\n", "\u0301", "\ufeff", "\U0010ffff"]
        drawn = [["".join(draw.choices(alphabet, k=draw.randrange(1, 3))) for _ in range(4)] for _ in range(6)]
        for special in (["é"], ["Ġ", "Ġthe", "Ã©"], ["é", "éé", "Ġ Ġ", "the"], *drawn):
            texts = ["the é 中 the é中", "".join(special), *draw.choices(special, k=4)]
            with self.subTest(special=special), bpe.train(
                texts=texts, vocab_size=280, special_tokens=special, compat="huggingface"
            ) as ours:
                theirs = ours.to_hf()
                self.same_names(ours, theirs)
                for text in texts:
                    self.assertEqual(ours.tokenize(text), theirs.encode(text).tokens)

    def test_the_bytes_of_tokens_are_tiktokens(self) -> None:
        with bpe.train(texts=made_texts(100), vocab_size=300, special_tokens=[END]) as ours:
            theirs = ours.to_tiktoken()
            for id in range(ours.id_limit):
                self.assertEqual(ours.token_bytes(id), theirs.decode_single_token_bytes(id))
            self.assertEqual(ours.id_limit, theirs.n_vocab)
            for id in (-1, 300, 2**40):
                self.assertIsNone(ours.id_to_token(id))
                with self.assertRaisesRegex(bpe.BpeError, f"id {id} is not in the vocabulary"):
                    ours.token_bytes(id)
            self.assertEqual(ours.decode(numpy.array([97, 299]), skip_special_tokens=True), "a")

    def test_an_unsupported_post_processor_is_refused_only_where_it_is_needed(self) -> None:
        made = made_by_hf(random.Random(5))
        made.add_special_tokens(["<s>"])
        pair = ("<s>", made.token_to_id("<s>"))
        template = processors.TemplateProcessing(single="<s> $A", pair="$A $B", special_tokens=[pair])
        made.post_processor = processors.Sequence([template, processors.BertProcessing(pair, pair)])
        twice = json.loads(made.to_str())
        unknown = {**twice, "post_processor": {"type": "Unheard"}}
        for root, reason in ((twice, "two steps"), (unknown, "Unheard")):
            with tempfile.TemporaryDirectory() as home:
                path = Path(home, "tokenizer.json")
                path.write_text(json.dumps(root), "utf-8")
                with bpe.Tokenizer.load(path) as ours:
                    self.assertEqual(ours.encode("a b"), made.encode("a b", add_special_tokens=False).ids)
                    with self.assertRaisesRegex(bpe.BpeError, reason):
                        ours.encode("a b", add_special_tokens=True)
                    with self.assertRaisesRegex(bpe.BpeError, reason):
                        ours("a b")

    def test_get_vocab_refuses_tokens_that_share_an_id_or_a_name(self) -> None:
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        made = Tokenizer(models.BPE({token: id for id, token in enumerate(alphabet)}, []))
        made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        root = json.loads(made.to_str())
        # HF gives an added token the next number, even if that id is taken.
        root["model"]["vocab"][alphabet[-1]] = 256
        flags = {flag: False for flag in ("lstrip", "rstrip", "single_word", "normalized")}
        root["added_tokens"] = [{"id": 256, "content": "<x>", "special": True, **flags}]
        with tempfile.TemporaryDirectory() as home:
            path, ranks = Path(home, "tokenizer.json"), Path(home, "of.tiktoken")
            path.write_text(json.dumps(root), "utf-8")
            self.assertEqual(len(Tokenizer.from_file(str(path)).get_vocab()), 257)
            with bpe.Tokenizer.load(path) as ours, self.assertRaisesRegex(bpe.BpeError, "the same id"):
                ours.get_vocab()
            tokens = [*(bytes([byte]) for byte in range(256)), b" t"]
            ranks.write_text("".join(f"{base64.b64encode(token).decode()} {id}\n" for id, token in enumerate(tokens)))
            with bpe.Tokenizer.load(ranks, pattern="gpt2", special_tokens={"Ġt": 257}) as ours:
                with self.assertRaisesRegex(bpe.BpeError, "both spelled 'Ġt'"):
                    ours.token_to_id("Ġt")
                self.assertEqual((ours.id_to_token(256), ours.token_bytes(257)), ("Ġt", "Ġt".encode()))

    def test_normalized_text_has_no_offsets_and_the_error_says_why(self) -> None:
        with bpe.train(texts=made_texts(50), vocab_size=300, normalize="NFC") as ours:
            for call in (lambda: ours.encode_with_offsets("a"), lambda: ours(["a"], return_offsets_mapping=True)):
                with self.assertRaisesRegex(bpe.BpeError, "normalized .NFC."):
                    call()
            self.assertEqual(ours("a")["input_ids"], ours.encode("a"))


class Roles(Home):
    def test_roles_are_those_that_transformers_finds(self) -> None:
        output = self.home / "out"
        specials = ["<bos>", "<eos>", "<pad>", END]
        with bpe.train(self.corpus, 300, special_tokens=specials, add_bos=True, eos="<eos>", output=output) as ours:
            theirs = AutoTokenizer.from_pretrained(output)
            roles = ("bos_token", "eos_token", "pad_token", "unk_token")
            expected = {role: getattr(theirs, role) for role in roles if getattr(theirs, role) is not None}
            self.assertEqual(ours.special_tokens_map, expected)
            ids = (ours.bos_token_id, ours.eos_token_id, ours.pad_token_id, ours.unk_token_id)
            self.assertEqual(ids, (theirs.bos_token_id, theirs.eos_token_id, theirs.pad_token_id, None))
            self.assertEqual(ours("one text")["input_ids"], theirs("one text")["input_ids"])
            self.assertEqual(pickle.loads(pickle.dumps(ours)).special_tokens_map, expected)
        with bpe.Tokenizer.load(output / "vocab.json") as ours:
            self.assertEqual((ours.special_tokens_map, ours.encode("", add_special_tokens=True)), (expected, [ids[0]]))
        config = json.loads((output / "tokenizer_config.json").read_text("utf-8"))
        with bpe.Tokenizer.load(output) as ours:
            pickled = pickle.dumps(ours)
        changed = {**config, "eos_token": {"content": END}, "pad_token": None, "mask_token": "<new>"}
        (output / "tokenizer_config.json").write_text(json.dumps(changed), "utf-8")
        with bpe.Tokenizer.load(output) as ours:
            self.assertEqual(ours.special_tokens_map, {"bos_token": "<bos>", "eos_token": END, "mask_token": "<new>"})
            self.assertEqual((ours.eos_token_id, ours.pad_token_id), (ours.special_tokens[END], None))
        # The directory now has a second tokenizer. A pickle of the first one must not continue with the second.
        with self.assertRaisesRegex(bpe.BpeError, "has been replaced by another tokenizer"):
            pickle.loads(pickled).encode("x")
        with bpe.train(self.corpus, 300) as ours:
            self.assertEqual((ours.special_tokens_map, ours.bos_token_id), ({}, None))


class Life(Home):
    """Calls in other processes and threads, on closed tokenizers, and with wrong arguments."""

    CALLS: typing.Any = [
        lambda each: each.get_vocab(),
        lambda each: [each.id_to_token(id) for id in range(320)],
        lambda each: each.token_bytes(300),
        lambda each: each.token_to_id("Ġ"),
        lambda each: each("a bc " + END, return_offsets_mapping=True),
        lambda each: each.encode_with_offsets("你 bc", unit="bytes"),
        lambda each: each.decode(each.encode("a b" + END, add_special_tokens=True), skip_special_tokens=True),
        lambda each: (len(each), bool(each), each.special_tokens, each.special_tokens_map, each.eos_token_id),
    ]

    def setUp(self) -> None:
        super().setUp()
        self.tokenizer = bpe.train(self.corpus, 320, special_tokens=[END])

    def tearDown(self) -> None:
        self.tokenizer.close()
        super().tearDown()

    def answers(self, tokenizer: bpe.Tokenizer) -> list:
        return [call(tokenizer) for call in self.CALLS]

    def test_copies_pickles_and_forks_answer_the_same(self) -> None:
        right = self.answers(self.tokenizer)
        script = "import pickle, sys\nprint(pickle.load(sys.stdin.buffer).get_vocab() == eval(sys.argv[1]))"
        for made in (copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
            with made(self.tokenizer) as copied:
                self.assertEqual(pickle.dumps(copied), pickle.dumps(self.tokenizer))
                self.assertEqual(self.answers(copied), right)
        given = pickle.dumps(self.tokenizer)
        said = subprocess.run([sys.executable, "-c", script, repr(right[0])], input=given, stdout=subprocess.PIPE)
        self.assertEqual(said.stdout, b"True\n")
        pid = os.fork()
        if pid == 0:
            self.kept._finalizer.detach()  # The parent removes the corpus.
            os._exit(0 if self.answers(self.tokenizer) == right else 1)
        self.assertEqual(self.answers(self.tokenizer), right)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_returned_values_may_be_changed(self) -> None:
        for get in (bpe.Tokenizer.get_vocab, lambda each: each.special_tokens, lambda each: each.special_tokens_map):
            get(self.tokenizer)["a"] = -1
            self.assertNotEqual(get(self.tokenizer).get("a"), -1)
        self.tokenizer("a")["input_ids"].append(7)
        self.assertEqual(self.tokenizer("a")["input_ids"], self.tokenizer.encode("a"))

    def test_a_closed_tokenizer_says_so_and_has_a_repr(self) -> None:
        self.answers(self.tokenizer)
        self.tokenizer.close()
        for call in self.CALLS:
            with self.assertRaisesRegex(bpe.BpeError, "closed"):
                call(self.tokenizer)
        self.assertEqual((repr(self.tokenizer), bool(self.tokenizer)), ("<bpe_trainer.Tokenizer, closed>", True))

    def test_repr_describes_the_tokenizer_and_never_fails(self) -> None:
        self.assertEqual(repr(self.tokenizer), "<bpe_trainer.Tokenizer of 320 tokens, 1 of them special>")
        saved = self.home / "saved"
        self.tokenizer.save(saved)
        with bpe.Tokenizer.load(saved) as loaded:
            self.assertEqual(repr(loaded), f'<bpe_trainer.Tokenizer "{saved}" of 320 tokens, 1 of them special>')
            again = pickle.loads(pickle.dumps(loaded))
        (saved / "tokenizer.json").write_text("{", "utf-8")
        self.assertEqual(repr(again), f'<bpe_trainer.Tokenizer "{saved}", not loaded>')

    def test_wrong_arguments_are_named(self) -> None:
        for error, words, call in [
            (TypeError, "found bytes", lambda each: each.token_to_id(b"a")),
            (TypeError, "", lambda each: each.id_to_token("a")),
            (TypeError, "text is a bytes", lambda each: each(b"a")),
            (TypeError, "found int", lambda each: each(["a", 3])),
            (bpe.BpeError, "padding=True is not supported", lambda each: each("a", padding=True)),
            (ValueError, "unit is 'words'", lambda each: each.encode_with_offsets("a", unit="words")),
            (UnicodeEncodeError, "surrogates", lambda each: each("half \ud800", return_offsets_mapping=True)),
        ]:
            with self.assertRaisesRegex(error, words):
                call(self.tokenizer)
        self.assertEqual(self.tokenizer([])["input_ids"], [])
        self.assertEqual(self.tokenizer("")["input_ids"], [])


class WithoutModule(Home):
    """Tests without the native module."""

    def test_loading_says_which_python_it_is_and_what_to_do(self) -> None:
        with bpe.train(self.corpus, 300, output=self.home / "trained", workers=1):
            pass
        with unittest.mock.patch.dict(sys.modules, {"bpe_trainer._native": None}):
            with self.assertRaisesRegex(ImportError, r"(?s)3\.\d+ on .*npm run build:native"):
                bpe.Tokenizer.load(self.home / "trained")
            trained = bpe.train(self.corpus, 300, output=self.home / "again", workers=1)
            with self.assertRaises(ImportError):
                trained.encode("a")


class Types(unittest.TestCase):
    def test_type_hints_are_taken_at_run_time(self) -> None:
        public = [getattr(bpe, name) for name in bpe.__all__] + [cs336.run_train_bpe, cs336.get_tokenizer]
        for each in [*public, *vars(bpe.Tokenizer).values()]:
            function = each.fget if isinstance(each, property) else getattr(each, "__func__", each)
            if inspect.isfunction(function) or inspect.isclass(function):
                typing.get_type_hints(function)
        hints = typing.get_type_hints(bpe.train)
        self.assertIn(os.PathLike[str], typing.get_args(hints["files"]))
        self.assertIs(hints["return"], bpe.Tokenizer)
        self.assertEqual(typing.get_type_hints(bpe.Tokenizer.encode)["return"], list[int])
        self.assertEqual(str(inspect.signature(bpe.Tokenizer.decode).return_annotation), "str")

    def test_an_import_loads_no_module_that_takes_long(self) -> None:
        script = "import sys, bpe_trainer as bpe\nbpe.train\nprint(*sys.modules)"
        loaded = subprocess.check_output([sys.executable, "-S", "-c", f"sys=__import__('sys'); sys.path[:] = {sys.path!r}\n{script}"], text=True)
        heavy = {"typing", "pathlib", "subprocess", "threading", "json", "tempfile", "inspect", "bpe_trainer._tokenizer"}
        self.assertEqual(heavy & set(loaded.split()), set())

    RIGHT = """
import bpe_trainer as bpe

tokenizer = bpe.train(texts=["one text"], vocab_size=300, special_tokens=["<s>"])
ids: list[int] = tokenizer.encode("a", add_special_tokens=True)
one: list[int] = tokenizer("a")["input_ids"]
several: list[list[int]] = tokenizer(["a", "b"], return_offsets_mapping=True)["input_ids"]
ids, spans = tokenizer.encode_with_offsets("a", unit="bytes")
start, end = spans[0]
print(start + end, len(tokenizer), tokenizer.get_vocab()["a"] + one[0], tokenizer.decode(ids, skip_special_tokens=True).strip())
eos = tokenizer.eos_token_id
if eos is not None:
    print(eos + 1, (tokenizer.id_to_token(eos) or "").upper(), tokenizer.token_bytes(eos).hex())
"""
    WRONG = (
        "tokenizer.encode(3)",
        "tokenizer.encode('a', 'all')",
        "tokenizer.encode_with_offsets('a', unit='words')",
        "tokenizer([b'a'])",
        "tokenizer.token_to_id('a') + 1",
        "len(tokenizer.encode)",
        "bpe.train('a.txt', 300, special_tokens=[1])",
    )

    def test_a_checker_takes_right_programs_and_refuses_wrong_calls(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            path = Path(home, "program.py")
            path.write_text(self.RIGHT + "\n".join(self.WRONG) + "\n", "utf-8")
            command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", str(path)]
            said = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=home).stdout
        first = len(self.RIGHT.splitlines()) + 1
        refused = {int(line.split(":")[1]) for line in said.splitlines() if ": error: " in line}
        self.assertEqual(refused, set(range(first, first + len(self.WRONG))), said)


if __name__ == "__main__":
    unittest.main()
