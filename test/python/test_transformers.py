"""Tokenizer directories as transformers loads them, and `like` compared with its `train_new_from_iterator`."""

import importlib.metadata
import json
import random
import re
import tempfile
import unittest
from pathlib import Path

from tokenizers import AddedToken, Encoding, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import bpe_trainer as bpe
from test_bpe import made_texts

#: The special tokens that the chat templates add.
CHATML = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
LLAMA3 = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|finetune_right_pad_id|>"]
GEMMA = ["<bos>", "<start_of_turn>", "<end_of_turn>", "<pad>"]
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
CALLED = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "1 + 2?"},
    {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"a": 1, "b": "é"}}}]},
    {"role": "tool", "content": "3"},
    {"role": "assistant", "content": "3"},
]
CHAT = [
    {"role": "user", "content": " Hi! "},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "Bye"},
]


class Transformers(unittest.TestCase):
    def check(self, special_tokens, name, rendered, roles) -> None:
        random.seed(20261122)
        texts = made_texts(300)
        with tempfile.TemporaryDirectory() as home:
            path = Path(home) / "tokenizer"
            ours = bpe.train(
                texts=texts,
                vocab_size=400,
                output=path,
                chat_template=name,
                model_max_length=512,
                add_bos=True,
            )
            theirs = AutoTokenizer.from_pretrained(path)
            theirs.save_pretrained(Path(home) / "saved")
            saved = AutoTokenizer.from_pretrained(Path(home) / "saved")
            mixed = [text[:9] + special + text[9:] for text in texts for special in special_tokens]
            expected = ours.encode_batch(mixed)
            again = bpe.Tokenizer.load(Path(home) / "saved")
            self.assertEqual(again.encode_batch(mixed), expected)
            again.close()
            for tokenizer in (theirs, saved):
                self.assertEqual((tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token), roles)
                self.assertIsNone(tokenizer.unk_token)
                self.assertEqual(tokenizer.model_max_length, 512)
                self.assertEqual(tokenizer(mixed, add_special_tokens=False)["input_ids"], expected)
                self.assertEqual([tokenizer.decode(ids) for ids in expected], mixed)
                with_bos = tokenizer(mixed[:20], padding=True)
                longest = 1 + max(len(ids) for ids in expected[:20])
                for ids, padded in zip(expected, with_bos["input_ids"]):
                    pad = [tokenizer.pad_token_id] * (longest - 1 - len(ids))
                    self.assertEqual(padded, [tokenizer.bos_token_id, *ids, *pad])
                text = tokenizer.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True)
                self.assertEqual(text, rendered)
                ids = tokenizer.apply_chat_template(CHAT, add_generation_prompt=True, return_dict=False)
                self.assertEqual(ids, ours.encode(rendered))
                # TRL trains on this part if `assistant_only_loss` is set.
                self.assertEqual(self.said(tokenizer, CHAT), f"Hello{roles[1]}")
                if name == "gemma":
                    with self.assertRaisesRegex(Exception, "has no tools"):
                        tokenizer.apply_chat_template(CALLED, tools=[TOOL])
                else:
                    key = "arguments" if name == "chatml" else "parameters"
                    call = '{"name": "add", "%s": {"a": 1, "b": "é"}}' % key
                    call = f"<tool_call>\n{call}\n</tool_call>" if name == "chatml" else call
                    self.assertEqual(self.said(tokenizer, CALLED, tools=[TOOL]), f"{call}{roles[1]}3{roles[1]}")
                    text = tokenizer.apply_chat_template(CALLED, tools=[TOOL], tokenize=False)
                    self.assertIn(json.dumps(TOOL), text)
                    self.assertLess(text.index("Be brief."), text.index("1 + 2?"))
            ours.close()

    def said(self, tokenizer, chat, **given) -> str:
        """Returns the text of the assistant's tokens."""
        found = tokenizer.apply_chat_template(chat, return_dict=True, return_assistant_tokens_mask=True, **given)
        return tokenizer.decode([id for id, mask in zip(found["input_ids"], found["assistant_masks"]) if mask])

    def test_chatml(self) -> None:
        rendered = (
            "<|im_start|>user\n Hi! <|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n"
            "<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n"
        )
        self.check(CHATML, "chatml", rendered, ("<|endoftext|>", "<|im_end|>", "<|endoftext|>"))

    def test_llama3(self) -> None:
        def turn(role: str, content: str) -> str:
            return f"<|start_header_id|>{role}<|end_header_id|>\n\n{content}"

        rendered = "<|begin_of_text|>" + "<|eot_id|>".join(
            [turn("user", "Hi!"), turn("assistant", "Hello"), turn("user", "Bye"), turn("assistant", "")]
        )
        self.check(LLAMA3, "llama3", rendered, ("<|begin_of_text|>", "<|eot_id|>", "<|finetune_right_pad_id|>"))

    def test_gemma(self) -> None:
        rendered = (
            "<bos><start_of_turn>user\nHi!<end_of_turn>\n<start_of_turn>model\nHello<end_of_turn>\n"
            "<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n"
        )
        self.check(GEMMA, "gemma", rendered, ("<bos>", "<end_of_turn>", "<pad>"))


class Compared(unittest.TestCase):
    def test_transformers_excludes_tokenizers_1(self) -> None:
        wanted = [line for line in importlib.metadata.requires("transformers") or [] if line.startswith("tokenizers")]
        self.assertTrue(wanted)
        for line in wanted:
            self.assertIn("<0.24", line.split(";")[0])

    def test_version_0_23_has_what_1_0_lacks(self) -> None:
        for name in ("get_vocab", "token_to_id", "add_tokens", "save", "to_str", "from_str", "pre_tokenizer", "train"):
            self.assertTrue(hasattr(Tokenizer, name), name)
        for name in ("offsets", "tokens", "word_ids"):
            self.assertTrue(hasattr(Encoding, name), name)
        self.assertFalse(hasattr(Encoding, "ids_array"))
        for name in ("BpeTrainer", "UnigramTrainer", "WordPieceTrainer", "WordLevelTrainer"):
            self.assertTrue(hasattr(trainers, name), name)


class Like(unittest.TestCase):
    """`like` gives the result of `train_new_from_iterator`. All added tokens are special."""

    WORDS = ["<s>", "</s>", "<pad>", "<mask>", "<think>", "<x y>", "  "]

    def tokenizer(self) -> Tokenizer:
        """Returns a tokenizer with a random pipeline and random added tokens, trained on little text."""
        made = Tokenizer(models.BPE(ignore_merges=random.random() < 0.5))
        made.normalizer = random.choice([normalizers.Sequence([]), normalizers.NFC(), normalizers.NFKC()])
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.pre_tokenizer = random.choice(
            [
                byte_level,
                pre_tokenizers.ByteLevel(add_prefix_space=True),
                pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level]),
                pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"\w+|[^\w\s]+|\s+"), "isolated"), byte_level]),
            ]
        )
        made.decoder = decoders.ByteLevel()
        added = [
            AddedToken(
                word,
                special=True,
                lstrip=random.random() < 0.2,
                single_word=random.random() < 0.2,
                normalized=random.random() < 0.3,
            )
            for word in random.sample(self.WORDS, random.randrange(6))
        ]
        first = [token for token in added if random.random() < 0.5]
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        wanted = {"vocab_size": 300, "special_tokens": first, "initial_alphabet": alphabet, "show_progress": False}
        made.train_from_iterator(made_texts(20), trainers.BpeTrainer(**wanted))
        for token in added:
            made.add_special_tokens([token])
        special = [token.content for token in added if " " not in token.content]
        if special and random.random() < 0.5:
            one = random.choice(special)
            made.post_processor = processors.TemplateProcessing(
                single=f"{one} $A", pair=f"{one} $A $B", special_tokens=[(one, made.token_to_id(one))]
            )
        return made

    def test_like_is_train_new_from_iterator(self) -> None:
        random.seed(20261122)
        for _ in range(25):
            with tempfile.TemporaryDirectory() as home:
                base, path = Path(home) / "base", Path(home) / "tokenizer"
                made = self.tokenizer()
                names = [token.content for token in made.get_added_tokens_decoder().values()]
                roles = {role: random.choice([*names, "[NEW]"]) for role in ("bos_token", "pad_token")}
                PreTrainedTokenizerFast(tokenizer_object=made, **roles).save_pretrained(base)
                theirs = AutoTokenizer.from_pretrained(base)
                text = "\n".join(made_texts(60))
                for name in [*names, "[NEW]"]:
                    text = text.replace(name, "")
                corpus = Path(home) / "corpus.txt"
                corpus.write_text(text, "utf-8", newline="")
                size = 256 + len(theirs.get_added_vocab()) + random.randrange(100)
                ours = bpe.train(corpus, size, like=base, output=path)
                ours.close()
                lines = [line for line in re.split(r"(?<=\n)", text) if line]
                theirs = theirs.train_new_from_iterator([lines], size, show_progress=False)
                learned = Tokenizer.from_file(str(path / "tokenizer.json"))
                expected, given = (json.loads(made.to_str()) for made in (theirs.backend_tokenizer, learned))
                for said in (expected, given):
                    # transformers writes an empty template only after it has been asked for bos and eos.
                    if (said["post_processor"] or {}).get("special_tokens") == {}:
                        said["post_processor"] = None
                self.assertEqual(given, expected)
                loaded = AutoTokenizer.from_pretrained(path)
                self.assertEqual(loaded.get_vocab(), theirs.get_vocab())
                self.assertEqual((loaded.bos_token, loaded.pad_token), (theirs.bos_token, theirs.pad_token))
                mixed = [text + name + text for text in made_texts(5) for name in [*names, ""]]
                self.assertEqual(loaded(mixed)["input_ids"], theirs(mixed)["input_ids"])



if __name__ == "__main__":
    unittest.main()
