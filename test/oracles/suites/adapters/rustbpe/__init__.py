"""rustbpe's API, implemented with bpe_trainer."""

import bpe_trainer as bpe


class Tokenizer:
    def __init__(self):
        self._pattern, self._learned = "gpt4", None
        self._ranks = {bytes([byte]): byte for byte in range(256)}

    @property
    def _tokenizer(self):
        if self._learned is None:
            self._learned = bpe.Tokenizer.from_ranks(self._ranks, self._pattern)
        return self._learned

    def train_from_iterator(self, iterator, vocab_size, buffer_size=8192, pattern=None):
        assert vocab_size >= 256, "vocab_size must be at least 256"
        self._pattern = self._pattern if pattern is None else pattern
        texts = iter(iterator)
        self._learned = bpe.train(texts=texts, vocab_size=vocab_size, pattern=self._pattern, compat="rustbpe")
        self._ranks = self._learned.ranks()

    def get_pattern(self):
        return self._tokenizer.pattern

    def get_mergeable_ranks(self):
        return sorted(((list(token), id) for token, id in self._ranks.items()), key=lambda row: row[1])

    @property
    def vocab_size(self):
        return len(self._ranks)

    def encode(self, text):
        return self._tokenizer.encode(text)

    def batch_encode(self, texts):
        return self._tokenizer.encode_batch(texts)

    def decode(self, ids):
        try:
            return self._tokenizer.decode(ids)
        except bpe.BpeError as error:
            raise ValueError(f"Unknown token id: {error}") from None
