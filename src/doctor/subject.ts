import { join } from "node:path";
import { isPlainObject } from "#bytes";
import { tokenizerFileOf } from "#formats";
import { isDirectory, isFile, readBytes, UserError } from "#runtime";
import type { Derivations, JsonObject, TokenizerParts } from "#tokenizer";
import { type Finding, finding } from "./checks.ts";

/** The subject of a diagnosis: the files of a tokenizer, parsed but not checked. */
export type Subject = {
  /** The path as typed. */
  readonly path: string;
  readonly isDirectory: boolean;
  /** The tokenizer.json; null for other formats. */
  readonly json: JsonObject | null;
  readonly jsonBytes: Uint8Array;
  /** The other files of the directory, as JSON; undefined if they are missing. */
  readonly config: JsonObject | undefined;
  readonly map: JsonObject | undefined;
  readonly generation: JsonObject | undefined;
  readonly model: JsonObject | undefined;
  readonly template: string | undefined;
};

/** A loaded tokenizer, with the derivations of its tokens. */
export type Loaded = { readonly parts: TokenizerParts; readonly derivations: Derivations };

const companions = {
  config: "tokenizer_config.json",
  map: "special_tokens_map.json",
  generation: "generation_config.json",
  model: "config.json",
} as const;

/** Reads the files. A file that is not JSON becomes a finding. Throws a UserError if there is no tokenizer. */
export function readSubject(path: string): { subject: Subject; findings: Finding[] } {
  const file = tokenizerFileOf(path);
  const findings: Finding[] = [];
  const isWhole = isDirectory(path);
  const objectIn = (name: string): JsonObject | undefined => {
    const at = join(path, name);
    if (!isWhole || !isFile(at)) return undefined;
    try {
      const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(readBytes(at)));
      if (isPlainObject(value)) return value as JsonObject;
      findings.push(finding("unreadable-file", "error", `${name} is not a JSON object`));
    } catch (error) {
      if (error instanceof UserError) throw error;
      findings.push(
        finding("unreadable-file", "error", `${name} is not JSON`, {
          evidence: [String((error as Error).message)],
          fix: "repair the file, or remove it",
        }),
      );
    }
    return undefined;
  };
  const files = Object.entries(companions).map(([key, name]) => [key, objectIn(name)] as const);
  const named = Object.fromEntries(files) as Record<keyof typeof companions, JsonObject | undefined>;
  const isJson = file.format.name === "huggingface";
  const jsonBytes = isJson ? readBytes(file.paths[0]!) : new Uint8Array();
  return {
    subject: {
      ...named,
      path,
      isDirectory: isWhole,
      json: isJson ? parsed(jsonBytes) : null,
      jsonBytes,
      template: templateOf(path, isWhole, named.config),
    },
    findings,
  };
}

function parsed(bytes: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isPlainObject(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

/**
 * Returns the chat template: from a file of its own, or from the configuration, where it may be a list of
 * named templates.
 */
function templateOf(path: string, isWhole: boolean, config: JsonObject | undefined): string | undefined {
  const file = join(path, "chat_template.jinja");
  if (isWhole && isFile(file)) return new TextDecoder().decode(readBytes(file));
  const value = config?.chat_template;
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return undefined;
  return value.map((each) => (each as { template?: unknown } | null)?.template ?? "").join("\n");
}

/** Whether a model begins with characters, as SentencePiece's do, and its vocabulary spells spaces as U+2581. */
export function spellsCharacters(model: JsonObject): boolean {
  const vocab = objectOf(model.vocab);
  return model.byte_fallback === true || ("\u2581" in vocab && !("\u0120" in vocab));
}

/** Returns the objects of a list; none if the value is not a list. */
export const objectsIn = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter((each): each is JsonObject => isPlainObject(each)) : [];

export const objectOf = (value: unknown): JsonObject => (isPlainObject(value) ? (value as JsonObject) : {});
