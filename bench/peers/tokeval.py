"""The measures of `bpe eval` against TokEval's own (github.com/cimeister/tokenizer-intrinsic-evals), on the ids of HF's
`tokenizers` and of tiktoken. Run manually, after `npm run build`, with a Python that has TokEval's packages:

    python bench/peers/tokeval.py TOKEVAL_DIRECTORY NAME=TOKENIZER... -- NAME=TEXT...

A tokenizer is a `tokenizer.json`, a directory with one, or cl100k's rank file (`.tiktoken`). Texts are plain UTF-8,
each read as one sample. Prints how many values were compared and the largest relative difference. Exits with 1 if a
difference is above 1e-9.
"""

import base64
import json
import logging
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

directory, *arguments = sys.argv[1:]
sys.path.insert(0, directory)
os.environ["MPLBACKEND"] = "Agg"

import tiktoken
import tokenizers
from tokenizer_analysis.config.text_measurement import TextMeasurementConfig
from tokenizer_analysis.core.input_types import TokenizedData
from tokenizer_analysis.metrics.basic import BasicTokenizationMetrics
from tokenizer_analysis.metrics.gini import TokenizerGiniMetrics
from tokenizer_analysis.metrics.math import DigitBoundaryMetrics
from tokenizer_analysis.metrics.information_theoretic import InformationTheoreticMetrics
from tokenizer_analysis.metrics.utf8_integrity import UTF8IntegrityMetrics

logging.disable(logging.WARNING)
root = Path(__file__).parents[2]
split = arguments.index("--")
tokenizer_paths = dict(argument.split("=", 1) for argument in arguments[:split])
text_paths = dict(argument.split("=", 1) for argument in arguments[split + 1 :])
names = list(text_paths)
command = [root / "dist/bpe", "eval", *arguments[:split], "--text", *arguments[split + 1 :], "--json", "--numbers", "-q"]
ours = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
texts = {name: open(path, encoding="utf8", newline="").read() for name, path in text_paths.items()}


def load(path):
    """Returns the vocabulary in HF's spelling, and the function that encodes."""
    if path.endswith(".tiktoken"):
        lines = (line.split() for line in open(path))
        ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
        specials = {f"<|{name}|>": 100257 + i for name, i in cl100k_specials.items()}
        encoding = tiktoken.Encoding("ranks", pat_str=cl100k_pattern, mergeable_ranks=ranks, special_tokens=specials)
        spelled = tokenizers.pre_tokenizers.ByteLevel.alphabet()
        order = [*range(33, 127), *range(161, 173), *range(174, 256)]
        order += [byte for byte in range(256) if byte not in order]
        letters = [chr(byte) for byte in order[:188]] + [chr(256 + i) for i in range(68)]
        assert set(letters) == set(spelled)
        letter_of = dict(zip(order, letters))
        vocabulary = {"".join(letter_of[byte] for byte in token): rank for token, rank in ranks.items()}
        return vocabulary | specials, lambda text: encoding.encode(text, allowed_special="all")
    file = Path(path, "tokenizer.json") if Path(path).is_dir() else Path(path)
    tokenizer = tokenizers.Tokenizer.from_file(str(file))
    return tokenizer.get_vocab(), lambda text: tokenizer.encode(text, add_special_tokens=False).ids


cl100k_specials = {"endoftext": 0, "fim_prefix": 1, "fim_middle": 2, "fim_suffix": 3, "endofprompt": 19}
cl100k_pattern = (
    r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"""
    r"""|\s*[\r\n]+|\s+(?!\S)|\s+"""
)


class Vocabulary:
    def __init__(self, ids):
        self.ids = ids
        self.tokens = {id: token for token, id in ids.items()}

    def get_vocab(self):
        return self.ids

    def get_special_token_ids(self):
        return set()

    def convert_ids_to_tokens(self, ids):
        return [self.tokens[id] for id in ids]


class Provider:
    def __init__(self, name, data, ids):
        self.name, self.data, self.ids = name, data, ids

    def get_tokenizer_names(self):
        return [self.name]

    def get_tokenized_data(self):
        return {self.name: self.data}

    def get_vocab_size(self, _name):
        return len(self.ids)

    def get_languages(self, _name=None):
        return names

    def get_tokenizer(self, _name):
        return Vocabulary(self.ids)


worst = 0.0
compared_count = 0


def compare(what, value, wanted):
    global worst, compared_count
    compared_count += 1
    difference = 0.0 if value == wanted else abs(value - wanted) / max(abs(value), abs(wanted))
    worst = max(worst, difference)
    if difference > 1e-9:
        print(f"{what}: bpe {value}, TokEval {wanted}")


def in_units(unit):
    return TextMeasurementConfig.from_dict({"method": unit})


for result in ours["tokenizers"]:
    name = result["name"]
    ids, encode = load(tokenizer_paths[name])
    data = [TokenizedData(name, text, encode(texts[text]), texts[text]) for text in names]
    provider = Provider(name, data, ids)
    all_data = provider.get_tokenized_data()
    measured = dict(zip(names, result["texts"]))
    compare(f"{name} size", result["vocabularySize"], len(ids))
    rates = {"bytes": "bytesPerToken", "characters": "charactersPerToken", "words": "wordsPerToken"}
    for unit, field in rates.items():
        metrics = InformationTheoreticMetrics(provider, measurement_config=in_units(unit))
        found = metrics.compute_compression_rate(all_data)["per_tokenizer"][name]
        for text in names:
            compare(f"{name} {text} {field}", measured[text][field], found["per_language"][text])
        compare(f"{name} {field}", result["overall"][field], found["global"]["compression_rate"])
    basic = BasicTokenizationMetrics(provider)
    fertility = basic.compute_fertility_analysis(all_data)["fertility"]["per_tokenizer"][name]
    used = basic.compute_vocabulary_utilization_analysis(all_data)["vocabulary_utilization"]["per_tokenizer"][name]
    entropies = InformationTheoreticMetrics(provider, renyi_alphas=[2.0, 2.5])
    efficiencies = entropies.compute_renyi_efficiency_analysis(all_data)["per_tokenizer"][name]
    utf8 = UTF8IntegrityMetrics(provider).compute(
        {name: [TokenizedData(name, part.language, part.tokens) for part in data]}
    )["utf8_token_integrity"]["per_tokenizer"][name]
    utf8 = utf8.get("per_language", utf8)
    digits = DigitBoundaryMetrics(provider).compute(all_data)
    digits = digits["three_digit_boundary_alignment"]["per_tokenizer"][name]["overall"]
    for part in data:
        text, of = part.language, measured[part.language]
        compare(f"{name} {text} fertility", of["fertility"], fertility["per_language"][text]["mean"])
        compare(f"{name} {text} used", of["usedTokens"], used["per_language"][text]["used_tokens"])
        compare(f"{name} {text} used", of["vocabularyUtilization"], used["per_language"][text]["utilization"])
        for renyi in of["renyi"]:
            alpha = float(renyi["alpha"])
            entropy = entropies.compute_renyi_entropy(Counter(part.tokens), alpha)
            compare(f"{name} {text} entropy {alpha}", renyi["entropy"], entropy)
            efficiency = efficiencies[f"renyi_{alpha}"][text]
            compare(f"{name} {text} efficiency {alpha}", renyi["efficiency"], efficiency)
        if texts[text].isascii():  # TokEval loses its position at the first other character.
            numbers, found = of["numbers"], digits.get(text, {"count": 0, "mean_f1": None})
            compare(f"{name} {text} numbers", numbers["count"], found["count"])
            compare(f"{name} {text} alignment", numbers["alignment"], found["mean_f1"])
        compare(f"{name} {text} not UTF-8", of["notUtf8Tokens"], utf8[text]["total_incomplete_tokens"])
    if len(names) > 1:
        units = [("words", "Fertility", ""), ("bytes", "Bytes", "ByBytes")]
        units += [("characters", "Characters", "ByCharacters"), ("lines", "Tokens", "ByTokens")]
        for unit, gini_of, by in units:
            metrics = TokenizerGiniMetrics(provider, measurement_config=in_units(unit))
            found = metrics.compute_tokenizer_fairness_gini(all_data)["per_tokenizer"][name]
            parity = result["parity"]
            compare(f"{name} gini {unit}", parity[f"gini{gini_of}"], found["gini_coefficient"])
            compare(f"{name} cost ratio {unit}", parity[f"costRatio{by}"], found["cost_ratio"])
            assert parity[f"cheapestText{by}"] == found["most_efficient_language"][0]
            assert parity[f"costliestText{by}"] == found["least_efficient_language"][0]

print(f"{compared_count} values compared, largest relative difference {worst:.1e}")
sys.exit(0 if worst <= 1e-9 else 1)
