"""vLLM's incremental detokenizers, each implemented with one of our streams."""

import functools

import bpe_trainer as bpe


@functools.cache
def _ours(text):
    return bpe.Tokenizer.from_str(text)


class IncrementalDetokenizer:
    def __init__(self, tokenizer, request):
        params = request.sampling_params
        given = {"skip_special_tokens": params.skip_special_tokens, "skip_unknown_ids": True}
        ours = _ours(tokenizer.backend_tokenizer.to_str())
        self.stream = ours.stream(ids=request.prompt_token_ids, **given)
        self.output_token_ids, self.text = [], ""

    from_new_request = classmethod(lambda cls, tokenizer, request: cls(tokenizer, request))

    def update(self, new_token_ids, stop_terminated):
        self.output_token_ids += new_token_ids
        self.text += self.stream.push(new_token_ids)

    def get_next_output_text(self, finished, delta):
        assert delta
        text, self.text = self.text, ""
        return text + (self.stream.end() if finished else "")


FastIncrementalDetokenizer = SlowIncrementalDetokenizer = IncrementalDetokenizer
