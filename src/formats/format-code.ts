/** The code of each format, loaded on first use to keep startup fast. */
export const formatCode = {
  huggingface: async () => (await import("./tokenizer-json.ts")).huggingface,
  gpt2: async () => (await import("./gpt2.ts")).gpt2,
  tiktoken: async () => (await import("./tiktoken.ts")).tiktoken,
  gguf: async () => (await import("./gguf.ts")).gguf,
  sentencepiece: async () => (await import("./sentencepiece.ts")).sentencepiece,
  image: async () => (await import("./tokenizer-image.ts")).image,
  tekken: async () => (await import("./tekken.ts")).tekken,
};
