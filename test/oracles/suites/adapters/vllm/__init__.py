"""What vLLM's tests of detokenizing import: incremental decoding is ours, the rest is vLLM's own file or a stub."""
