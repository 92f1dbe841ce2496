"""Random patterns and small random corpora: `bpe train` against the trainers that `--compat` names. Run manually, after
`npm run build` and `bench/peers/setup`:

    dist/peers/bin/python bench/peers/trials.py [trials, default 300] [seed, default 1]

Each trial is one of three families. `huggingface` compares the vocabulary and merges of HF's trainer, which gets the
pattern as typed; `rustbpe` its tokens and ranks. `cs336` compares those of a naive trainer, on the pretokens that HF's
engine finds with the pattern of our tokenizer.json. Then ids of `bpe encode` are compared: with those of HF for our
tokenizer.json, and with those of tiktoken for our ranks, if there are any, and the pattern as typed. Patterns that `bpe`
refuses (exit 2) are counted separately. If there is a difference, prints the trial and exits with 1.
"""

import base64
import collections
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import rustbpe
import tiktoken
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

root = Path(__file__).parents[2]
trial_count, seed = (int(value) for value in (*sys.argv[1:], *["300", "1"][len(sys.argv) - 1 :]))
chance = random.Random(seed)
vocab_size = 280

CHARACTERS = list("aaabbbeessStt  \n\n\r\t1122'_-.") + list("éß²½ſKﬁ中😀\u200d\u0301\u00a0\u0085Σ")
PUBLISHED = [
    "gpt2",
    "cl100k",
    "o200k",
    "llama3",
    "deepseek-v3",
    "starcoder",
]
SETS = [r"\w", r"\W", r"\s", r"\S", r"\d", r"\p{L}", r"\p{Lu}", r"\p{N}", r"[^\s\p{L}\p{N}]", r"[\w']", r"[^\w\s]"]
SETS += ["a", "b", "[ab]", "[^a]", "s", ".", " ", r"\n", "[[:alpha:]]", "[[:punct:]]", r"[a-z&&[^b]]", r"[^\r\n\p{L}]"]
COUNTS = ["", "", "+", "+", "*", "?", "{1,3}", "{2}", "{1,3}+", "++", "*?", "+?", "?+"]
LOOKS = [r"(?!\S)", "(?=a)", "$", "^", r"\b", r"\B", r"(?<=\s)", "(?<!a)", r"\z"]
FORMS = ["(?i:{})", "(?:{})", "({})", "(?>{})", "(?m:{})"]
LAST = ["", "", "|.", r"|[\s\S]", r"|\s+|\S", r"|\S|\s"]


def sequence(depth):
    parts = []
    for _ in range(chance.randint(1, 3)):
        kind = chance.random()
        if kind < 0.75 or depth == 0:
            parts.append(chance.choice(SETS) + chance.choice(COUNTS))
        elif kind < 0.85:
            parts.append(chance.choice(LOOKS))
        else:
            parts.append(chance.choice(FORMS).format(choice(depth - 1)) + chance.choice(["", "", "+", "?"]))
    return "".join(parts)


def choice(depth):
    return "|".join(sequence(depth) for _ in range(chance.randint(1, 3)))


def random_text(most):
    words = ["".join(chance.choices(CHARACTERS, k=chance.randint(1, 6))) for _ in range(6)]
    return "".join(chance.choice([*words, chance.choice(CHARACTERS)]) for _ in range(chance.randint(1, most)))


def run(*arguments):
    return subprocess.run([root / "dist/bpe", *map(str, arguments)], capture_output=True)


def with_huggingface(pattern, ours, text):
    """Trains with HF's trainer, line by line. A named pattern is read from our tokenizer.json."""
    if pattern in PUBLISHED:
        cutter = Tokenizer.from_str(json.dumps(ours)).pre_tokenizer
    else:
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        cutter = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), byte_level])
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = cutter
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    lines = text.split("\n")
    tokenizer.train_from_iterator([line + "\n" for line in lines[:-1]] + lines[-1:], trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], model["merges"]


def with_rustbpe(regex, text):
    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(iter([text]), vocab_size, pattern=regex)
    return {bytes(token): rank for token, rank in tokenizer.get_mergeable_ranks()}


def naive_merges(tokenizer, text):
    """Trains like CS336's reference: the most frequent pair first, among equals the greater one in bytes.

    Tokens are in byte-to-character form.
    """
    byte_of = {character: byte for byte, character in enumerate(byte_characters())}
    words = collections.Counter(word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text))
    spelled = {word: list(word) for word in words}
    merges = []
    while len(merges) < vocab_size - 256:
        pairs = collections.Counter()
        for word, tokens in spelled.items():
            for pair in zip(tokens, tokens[1:]):
                pairs[pair] += words[word]
        if not pairs:
            break
        in_bytes = lambda pair: tuple(bytes(byte_of[character] for character in token) for token in pair)
        best = max(pairs, key=lambda pair: (pairs[pair], in_bytes(pair)))
        merges.append(list(best))
        for word, tokens in spelled.items():
            merged, at = [], 0
            while at < len(tokens):
                width = 2 if tuple(tokens[at : at + 2]) == best else 1
                merged.append("".join(tokens[at : at + width]))
                at += width
            spelled[word] = merged
    return merges


def byte_characters():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]


class GivesUp(Exception):
    """Raised if the other trainer cannot read the pattern, or reaches a limit."""


def by(peer, work, *arguments):
    try:
        return work(*arguments)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise GivesUp(f"{peer} gives up") from error


def trial(family, pattern, text, directory):
    """Runs a trial. Returns its outcome and, if there is one, the difference or the error."""
    corpus, output = directory / "corpus.txt", directory / "tokenizer"
    corpus.write_bytes(text.encode())
    trained = run("train", corpus, "-n", vocab_size, "-p", pattern, "--compat", family, "-o", output, "-q", "-w", 1)
    if trained.returncode == 2:
        return "refused", None
    if trained.returncode != 0:
        return "failed", trained.stderr.decode()
    ours = json.loads((output / "tokenizer.json").read_text())
    record = json.loads((output / "training.json").read_text())
    try:
        loaded = Tokenizer.from_file(str(output / "tokenizer.json"))
    except Exception as error:
        return "not read by HF", [str(error), ours["pre_tokenizer"]]
    ranks_path = output / "tokenizer.tiktoken"
    ranks = None
    if ranks_path.exists():
        pairs = (line.split() for line in ranks_path.read_text().splitlines())
        ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    if family == "huggingface":
        vocab, merges = by("HF's trainer", with_huggingface, pattern, ours, text)
        if vocab != ours["model"]["vocab"] or merges != ours["model"]["merges"]:
            return "different", [merges, ours["model"]["merges"]]
    elif family == "rustbpe":
        regex = record["options"]["pattern"]["regex"]
        theirs = by("rustbpe", with_rustbpe, regex, text)
        if theirs != ranks:
            return "different", [list(theirs)[256:], list(ranks)[256:]]
    else:
        merges = by("HF", naive_merges, loaded, text)
        if merges != ours["model"]["merges"]:
            return "different", [merges, ours["model"]["merges"]]
    sample = random_text(20)
    (directory / "sample.txt").write_bytes(sample.encode())
    encoded = run("encode", directory / "sample.txt", "--tokenizer", output / "tokenizer.json")
    ids = [int(number) for number in encoded.stdout.split()]
    theirs = by("HF", lambda: loaded.encode(sample).ids)
    if encoded.returncode != 0 or ids != theirs:
        return "encoded otherwise by HF", [sample, ids, theirs, encoded.stderr.decode()]
    if ranks is not None:
        regex = record["options"]["pattern"]["regex"]
        told = {"pat_str": regex, "mergeable_ranks": ranks, "special_tokens": {}}
        reader = by("tiktoken", lambda: tiktoken.Encoding("trial", **told))
        theirs = by("tiktoken", reader.encode_ordinary, sample)
        encoded = run("encode", directory / "sample.txt", "--tokenizer", ranks_path)
        ids = [int(number) for number in encoded.stdout.split()]
        if encoded.returncode != 0 or ids != theirs:
            return "encoded otherwise by tiktoken", [sample, ids, theirs, encoded.stderr.decode()]
    return "equal", None


outcomes = collections.Counter()
differences = 0
for number in range(trial_count):
    family = ["huggingface", "rustbpe", "cs336"][number % 3]
    pattern = chance.choice(PUBLISHED) if chance.random() < 0.1 else choice(2) + chance.choice(LAST)
    text = random_text(120)
    with tempfile.TemporaryDirectory() as directory:
        try:
            outcome, detail = trial(family, pattern, text, Path(directory))
        except GivesUp as error:
            outcome, detail = str(error), None
    outcomes[f"{family}: {outcome}"] += 1
    if outcome not in ("equal", "refused") and "gives up" not in outcome:
        differences += 1
        print(f"trial {number}, {family}, {outcome}: {pattern!r} on {text!r}: {str(detail)[:600]}")
for outcome, times in sorted(outcomes.items()):
    print(f"{times}\t{outcome}")
print(f"{differences} differences (seed {seed})")
sys.exit(differences > 0)
