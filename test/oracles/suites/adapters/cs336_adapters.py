"""tests/adapters.py of the assignment: what it asks of a tokenizer. Its other adapters are models of PyTorch."""

from bpe_trainer.cs336 import get_tokenizer, run_train_bpe

__all__ = ["get_tokenizer", "run_train_bpe"]
