"""A tokenizer directory, as transformers uses it."""

import random
import tempfile
import unittest
from pathlib import Path

from transformers import AutoTokenizer

import bpe
from test_bpe import made_texts

CHATML = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|pad|>"]
LLAMA3 = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|finetune_right_pad_id|>"]
GEMMA = ["<bos>", "<start_of_turn>", "<end_of_turn>", "<pad>"]
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
                special_tokens=special_tokens,
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
                ids = tokenizer.apply_chat_template(CHAT, add_generation_prompt=True)
                self.assertEqual(ids, ours.encode(rendered))
            ours.close()

    def test_chatml(self) -> None:
        rendered = (
            "<|im_start|>user\n Hi! <|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n"
            "<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n"
        )
        self.check(CHATML, "chatml", rendered, ("<|endoftext|>", "<|im_end|>", "<|pad|>"))

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


if __name__ == "__main__":
    unittest.main()
