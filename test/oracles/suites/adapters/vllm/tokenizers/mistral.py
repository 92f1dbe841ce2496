import pytest


class MistralTokenizer:
    @staticmethod
    def from_pretrained(name):
        pytest.skip(f"{name} is read by mistral-common")
