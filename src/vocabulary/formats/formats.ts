import { gpt2Files } from "./gpt2.ts";
import { huggingfaceFiles } from "./huggingface.ts";
import type { FinishedTokenizer, OutputFile } from "./output-file.ts";
import { tiktokenFiles, tiktokenObstacle } from "./tiktoken.ts";

/** One format: what it writes, and why it cannot say a certain tokenizer, if so. */
export type Format = {
  readonly name: string;
  readonly files: (tokenizer: FinishedTokenizer) => OutputFile[];
  readonly obstacle: (tokenizer: FinishedTokenizer) => string | null;
};

/** Every format that `--format` knows, in the order in which they are written. */
export const formats: readonly Format[] = [
  { name: "huggingface", files: huggingfaceFiles, obstacle: () => null },
  { name: "gpt2", files: gpt2Files, obstacle: () => null },
  { name: "tiktoken", files: tiktokenFiles, obstacle: tiktokenObstacle },
];
