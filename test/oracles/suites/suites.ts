/** Tests of another project, which run against bpe_trainer through the adapters next to this file. */
export type Suite = {
  readonly name: string;
  readonly source:
    | { readonly pypi: string; readonly version: string; readonly sha256: string }
    | { readonly github: string; readonly commit: string };
  /** More packages that the tests import. */
  readonly packages?: readonly string[];
  /** Modules of adapters/ that replace installed ones. */
  readonly adapters: readonly string[];
  /** The directory in the unpacked source where pytest runs. */
  readonly directory?: string;
  /** The arguments of pytest. */
  readonly arguments: readonly string[];
  /** The reasons why tests fail, by a part of the test's name. */
  readonly explained?: Readonly<Record<string, string>>;
  /** Files of the suite that are replaced by files of adapters/, or deleted if null. */
  readonly replaced?: Readonly<Record<string, string | null>>;
  /** Large files that a mirror omits. In place of each, `file` is repeated until it has at least `bytes` bytes. */
  readonly repeated?: Readonly<Record<string, { readonly file: string; readonly bytes: number }>>;
};

export const suites: readonly Suite[] = [
  {
    name: "tiktoken",
    source: {
      ...{ pypi: "tiktoken", version: "0.14.0" },
      sha256: "231dec90efcdccf1b565a1416107736f1e09b1a08fe736ef9d6363e626d03874",
    },
    adapters: ["tiktoken"],
    packages: ["hypothesis==6.170.17"],
    arguments: ["tests"],
    explained: {
      test_encode_bytes:
        "a private method, which joins bytes that are no UTF-8 to the last piece; ours cuts before them",
    },
  },
  {
    name: "rustbpe",
    source: {
      ...{ pypi: "rustbpe", version: "0.1.0" },
      sha256: "18765f62ac579a9ff9e89c611f9c9b9e46bd1adde9be3f59c00b6eb4e1f28b3a",
    },
    packages: ["regex"],
    adapters: ["rustbpe"],
    arguments: ["tests/python"],
  },
  {
    name: "gigatoken",
    source: {
      ...{ pypi: "gigatoken", version: "0.10.0" },
      sha256: "562fd4284eacdebd8a8043ce21ddcdacb61210a036e6e700cd13bdca2b2af7ac",
    },
    adapters: ["gigatoken"],
    arguments: ["tests/test_bpe_train_compare.py", "tests/test_tiktoken_compat.py"],
    explained: {
      test_encode_special_as_ordinary_raises_loudly:
        "gigatoken cannot encode a special token as text; ours does, as tiktoken",
      test_substring_matcher_present: "an internal class of gigatoken",
    },
  },
  {
    name: "tokenizers",
    source: {
      ...{ pypi: "tokenizers", version: "0.23.3" },
      sha256: "cded33237c77caeef62944d32aa9a7ef42bdce2b3497e18d137e072a8c4be438",
    },
    adapters: ["hf_plugin"],
    explained: {
      test_multiprocessing_with_parallelism: "asserts that HF's encoder hangs after a fork; ours does not",
    },
    directory: "bindings/python",
    arguments: [
      ...["-p", "hf_plugin", "tests/bindings/test_tokenizer.py", "tests/bindings/test_trainers.py"],
      "tests/implementations/test_byte_level_bpe.py",
    ],
  },
  {
    name: "vllm",
    source: {
      ...{ pypi: "vllm", version: "0.33.0" },
      sha256: "f4c33c2503d52bb411146afa9618a4f48bed68912f617e6803ac8d76e4c74112",
    },
    adapters: ["vllm"],
    replaced: { "tests/conftest.py": null },
    arguments: ["tests/tokenizers_/test_detokenize.py"],
  },
  {
    name: "minbpe",
    source: { github: "karpathy/minbpe", commit: "1acefe89412b20245db5a22d2a02001e547dc602" },
    adapters: ["minbpe"],
    arguments: ["tests"],
  },
  {
    name: "nanochat",
    source: { github: "karpathy/nanochat", commit: "92d63d4e8bb4df75c3b71618f31ddde2378b2bcd" },
    adapters: ["rustbpe", "tiktoken"],
    arguments: ["tests/test_tokenizer.py"],
  },
  {
    name: "cs336",
    source: {
      ...{ github: "stanford-cs336/assignment1-basics" },
      commit: "25a8a49f6460c83a30416d42348f2ef11d1dd185",
    },
    packages: ["psutil"],
    adapters: [],
    replaced: { "tests/adapters.py": "cs336_adapters.py", "tests/conftest.py": null },
    // Two tests of memory read this file. Its content does not matter.
    repeated: {
      "tests/fixtures/tinystories_sample_5M.txt": {
        file: "tests/fixtures/tinystories_sample.txt",
        bytes: 5_000_000,
      },
    },
    arguments: ["tests/test_train_bpe.py", "tests/test_tokenizer.py"],
  },
];
