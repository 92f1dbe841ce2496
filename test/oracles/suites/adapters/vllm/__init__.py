"""The modules that vLLM's detokenizer tests import. Incremental decoding is ours; the rest is
vLLM's own file or a stub."""
