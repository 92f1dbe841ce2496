class EngineCoreRequest:
    def __init__(self, *, prompt_token_ids, sampling_params, **_):
        self.prompt_token_ids, self.sampling_params = prompt_token_ids, sampling_params
