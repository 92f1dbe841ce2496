"""From texts to a model's tokenizer, as in a notebook: train, look, save, load, use in other processes."""

import multiprocessing
import pickle
from pathlib import Path

import bpe_trainer as bpe
from datasets import Dataset
from transformers import AutoTokenizer

# Train on any iterable of strings, here some source files of Python itself.
paths = sorted(Path(multiprocessing.__file__).parent.glob("*.py"))
texts = [path.read_text("utf-8") for path in paths]
tokenizer = bpe.train(
    (text for text in texts), 2_000, special_tokens=["<s>", "</s>", "<pad>"], add_bos=True, pattern="cl100k"
)

# Inspect it.
print(tokenizer, tokenizer.special_tokens_map)
ids, spans = tokenizer.encode_with_offsets("import multiprocessing as mp")
print([(tokenizer.id_to_token(id), span) for id, span in zip(ids, spans)])
print(max((token for token in tokenizer.get_vocab() if token.isalpha()), key=len), len(tokenizer))

# Save it; transformers reads the same directory.
tokenizer.save("session-tokenizer")
theirs = AutoTokenizer.from_pretrained("session-tokenizer")
assert theirs(texts)["input_ids"] == tokenizer(texts)["input_ids"]
assert tokenizer.decode(tokenizer(texts[0])["input_ids"], skip_special_tokens=True) == texts[0]

# Use it in other processes: with pickle, in a pool that forks, in a data set.
assert pickle.loads(pickle.dumps(tokenizer)).get_vocab() == tokenizer.get_vocab()
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(tokenizer.encode, texts) == tokenizer.encode_batch(texts)
documents = Dataset.from_dict({"text": texts * 20})
encoded = documents.map(
    lambda batch: tokenizer(batch["text"]), batched=True, num_proc=2, remove_columns="text"
)
assert encoded["input_ids"][: len(texts)] == tokenizer(texts)["input_ids"]
print(encoded)
