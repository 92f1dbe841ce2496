import { shell } from "#runtime";
import type { Compat } from "#tokenizer";
import type { Settings } from "./playground-job.ts";

/** What a link is made from: the settings and the text. `hashOf` leaves the text out if it is long. */
export type AskedSettings = Settings & { readonly text: string };

/** The maximum length of the text in a link, in UTF-16 code units: other programs truncate longer links. */
const linkTextMax = 1500;

export function hashOf({ text, vocabSize, pattern, specialTokens, compat }: AskedSettings): string {
  const fields = new URLSearchParams({ n: String(vocabSize), pattern, rule: compat });
  for (const token of specialTokens) fields.append("special", token);
  if (text.length <= linkTextMax && text !== "") fields.set("text", text);
  return `#${fields}`;
}

const compats: readonly string[] = ["cs336", "huggingface", "rustbpe"] satisfies Compat[];

/**
 * Reads settings from the hash of a link; none if it lacks `n`. Unknown content is ignored, because a link may come from
 * anyone.
 */
export function readHash(hash: string): Partial<AskedSettings> {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const size = Number(fields.get("n"));
  const [pattern, rule, text] = [fields.get("pattern"), fields.get("rule"), fields.get("text")];
  if (!fields.has("n")) return {};
  return {
    ...(Number.isSafeInteger(size) && size >= 256 && size <= 1_000_000 && { vocabSize: size }),
    ...(pattern !== null && { pattern }),
    ...(rule !== null && compats.includes(rule) && { compat: rule as Compat }),
    ...(text !== null && { text }),
    specialTokens: fields.getAll("special").filter((token) => /^\S+$/.test(token)),
  };
}

/** Returns the command line that writes the same files from the same text. */
export function commandOf(
  { vocabSize, pattern, specialTokens, compat }: Settings,
  files: readonly string[],
): string {
  const specials = specialTokens.flatMap((token) => ["-s", token]);
  const options = ["-n", String(vocabSize), ...specials, "--pattern", pattern, "--compat", compat];
  return shell.line(["bpe", "train", ...files, ...options, "-o", "tokenizer"]);
}
