from bpe_trainer._characters import byte_of


def _gpt2_unicode_to_byte():
    return {chr(point): byte_of.get(point, point) for point in (*range(256), *byte_of)}
