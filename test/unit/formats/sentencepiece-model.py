"""Makes sentencepiece-model.jsonl: small random SentencePiece models, and the answers of the package for texts.

    pip install sentencepiece==0.2.3 protobuf && python3 test/unit/formats/sentencepiece-model.py > test/unit/formats/sentencepiece-model.jsonl
"""

import json
import random

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as protocol

MARK = "\u2581"
CHARACTERS = ["a", "b", "é", "中", "文", "👍", "\n", ">", "“", "-", "x", "=", "\ufffd"]
OTHERS = [" ", " ", "  ", MARK, "   ", "a", "b", "z", "é", "語", "[X]", "[XY]", "<s>", "ab", "<0x41>", "<unk>", "====", "\0"]
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6


def pieces_of(r, bytes_too):
    pieces = [("<unk>", 0, UNKNOWN), ("<s>", 0, CONTROL)]
    pieces += [("<0x%02X>" % byte, 0, BYTE) for byte in range(256 if bytes_too else 0)]
    pieces += [(text, 0, USER_DEFINED) for text in r.sample(["[X]", "[XY]", "ab", "中"], r.randrange(3))]
    longest = r.choice([1, 1, 2, 4])
    pieces += [(MARK * size, 0, USER_DEFINED) for size in range(2, longest + 1)]
    taken = {text for text, *_ in pieces}
    tokens = [MARK, *(character for character in r.sample(CHARACTERS, 9) if character not in taken)]
    pieces += [(character, -r.randrange(60), NORMAL) for character in tokens]
    taken.update(tokens)
    scores = [-r.randrange(8) if r.random() < 0.3 else -8 - rank for rank in range(30)]
    if r.random() < 0.5:
        r.shuffle(scores)
    for score in scores:
        made = r.choice(tokens) + r.choice(tokens)
        if made in taken or len(made) > 6 or (MARK in made.lstrip(MARK) and r.random() < 0.8):
            continue
        taken.add(made)
        tokens.append(made)
        pieces.append((made, score, NORMAL))
    return pieces


def case(seed):
    r = random.Random(seed)
    bytes_too = r.random() < 0.6
    pieces = pieces_of(r, bytes_too)
    model = protocol.ModelProto()
    for text, score, kind in pieces:
        model.pieces.add(piece=text, score=score, type=kind)
    model.trainer_spec.model_type = protocol.TrainerSpec.BPE
    model.trainer_spec.byte_fallback = bytes_too
    model.trainer_spec.unk_surface = r.choice([" \u2047 ", "?"])
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = r.random() < 0.6
    model.normalizer_spec.remove_extra_whitespaces = False
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    pool = CHARACTERS + OTHERS
    texts = ["", " ", MARK, "[X]a", *("".join(r.choice(pool) for _ in range(r.randrange(1, 60))) for _ in range(6))]
    answers = [{"text": text, "ids": processor.encode(text)} for text in texts]
    for answer in answers:
        answer["decoded"] = processor.decode(answer["ids"])
    # The byte pieces are left out, so that the file is smaller. The test adds them again.
    own = [piece for piece in pieces if piece[2] != BYTE]
    settings = {"byteFallback": bytes_too, "unknownText": model.trainer_spec.unk_surface}
    return {"pieces": own, **settings, "addsPrefix": model.normalizer_spec.add_dummy_prefix, "answers": answers}


def main():
    for seed in range(24):
        print(json.dumps(case(seed), ensure_ascii=False, separators=(",", ":")))


main()
