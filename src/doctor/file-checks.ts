import { basename } from "node:path";
import { tokenizerFiles } from "#formats";
import { UserError } from "#runtime";
import { fingerprints, firstDifference, probe, type TokenizerParts, type tokenizers } from "#tokenizer";
import { type Finding, finding } from "./checks.ts";
import { convertCommand } from "./fixing-commands.ts";
import type { Loaded, Subject } from "./subject.ts";

const compared = probe.parts.filter(({ name }) => name !== "Special-looking text");

/**
 * Checks that all tokenizers in a directory give the same ids for a fixed text: the parts of the probe text in
 * `compared`.
 */
export async function checkFiles(
  { path, isDirectory }: Pick<Subject, "path" | "isDirectory">,
  { parts, encode }: Pick<Loaded, "parts" | "encode">,
): Promise<Finding[]> {
  if (!isDirectory) return [];
  const found: Finding[] = [];
  const [first, ...others] = tokenizerFiles.findIn(path);
  for (const other of others) {
    const names = `${basename(first!)} and ${basename(other)}`;
    const loaded = await loadLike(other, parts);
    if (typeof loaded === "string") {
      found.push(
        finding("file-not-compared", "note", `${basename(other)} cannot be compared`, { evidence: [loaded] }),
      );
      continue;
    }
    const difference = differenceOnProbe({ parts, encode }, loaded);
    if (difference === null) continue;
    found.push(
      finding("files-disagree", "error", `${names} give different ids`, {
        evidence: difference,
        fix: "keep the file that the model was trained with, and write the others from it",
        command: convertCommand(first!),
      }),
    );
  }
  return found;
}

/**
 * Loads the tokenizer of a file. A vocab.json or a rank file does not state its pattern, normal form and prefix space,
 * so these are taken from `first`. Returns an error message if the file cannot be loaded.
 */
async function loadLike(path: string, first: TokenizerParts): Promise<TokenizerParts | string> {
  const { patternName: name, patternSources: sources } = first.description;
  const { pattern, normalization, addsPrefixSpace } = first;
  const load = (options: tokenizers.LoadOptions) => tokenizerFiles.load(path, options);
  try {
    if (/\.json$/.test(path) && basename(path) !== "vocab.json") return await load({});
    // A file that states its own pattern refuses another one.
    const parts = await load({ pattern: { name, sources, compiled: pattern } }).catch(() => null);
    return parts === null ? await load({}) : { ...parts, pattern, normalization, addsPrefixSpace };
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

/** Returns lines about the first part in `compared` whose ids differ; null if none do. */
export function differenceOnProbe(
  { parts: a, encode }: Pick<Loaded, "parts" | "encode">,
  b: TokenizerParts,
): string[] | null {
  const encodeOther = fingerprints.shortEncoder(b);
  for (const { name, text } of compared) {
    const [ours, theirs] = [encode(text, true), encodeOther(text, true)];
    const from = firstDifference(ours, theirs);
    if (from < 0) continue;
    const shown = (ids: readonly number[]) => ids.slice(from, from + 8).join(" ");
    return [
      `on the probe text "${name}", from token ${from + 1} on:`,
      `${basename(a.description.path)}: ${shown(ours)}`,
      `${basename(b.description.path)}: ${shown(theirs)}`,
    ];
  }
  return null;
}
