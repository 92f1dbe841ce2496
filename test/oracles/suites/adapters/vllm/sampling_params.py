from dataclasses import dataclass


@dataclass
class SamplingParams:
    skip_special_tokens: bool = True
    spaces_between_special_tokens: bool = True
