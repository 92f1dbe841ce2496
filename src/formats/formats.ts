import { UserError } from "../errors.ts";
import type { FinishedTokenizer } from "../vocabulary/vocabulary.ts";
import { gpt2Files } from "./gpt2.ts";
import type { OutputFile } from "./output-file.ts";
import { tiktokenFiles, tiktokenObstacle } from "./tiktoken.ts";
import { huggingfaceFiles } from "./tokenizer-json.ts";

type Format = {
  /** As `--format` has it. */
  readonly name: string;
  readonly files: (tokenizer: FinishedTokenizer) => OutputFile[];
  /** Why a tokenizer cannot be written in this format, or null. */
  readonly obstacle: (tokenizer: FinishedTokenizer) => string | null;
};

/** Every format, in the order in which they are written. */
export const formats: readonly Format[] = [
  { name: "huggingface", files: huggingfaceFiles, obstacle: () => null },
  { name: "gpt2", files: gpt2Files, obstacle: () => null },
  { name: "tiktoken", files: tiktokenFiles, obstacle: tiktokenObstacle },
];

/** The formats named, or all that can hold the tokenizer. A UserError if one that is named cannot. */
export function chooseFormats(
  names: readonly string[] | undefined,
  tokenizer: FinishedTokenizer,
): readonly Format[] {
  if (names === undefined) return formats.filter((format) => format.obstacle(tokenizer) === null);
  return formats.filter((format) => {
    if (!names.includes(format.name)) return false;
    const obstacle = format.obstacle(tokenizer);
    if (obstacle !== null) throw new UserError(`--format ${format.name}: ${obstacle}`);
    return true;
  });
}
