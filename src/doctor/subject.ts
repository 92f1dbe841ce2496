import { join } from "node:path";
import { isPlainObject, type json } from "#bytes";
import { type ScannedModel, tokenizerFiles } from "#formats";
import { files, UserError } from "#runtime";
import type { derivation, TokenizerParts } from "#tokenizer";
import { type Finding, finding } from "./checks.ts";

/** The subject of a diagnosis: the files of a tokenizer, parsed but not checked. */
export type Subject = {
  /** The path as typed. */
  readonly path: string;
  readonly isDirectory: boolean;
  readonly source: tokenizerFiles.Source;
  /**
   * The content of tokenizer.json; null for other formats, or if it is not a JSON object. If the vocabulary and the
   * merges are in `scanned`, `model.vocab` and `model.merges` are empty here.
   */
  readonly json: json.JsonObject | null;
  /** Vocabulary and merges of a tokenizer.json of the usual form; otherwise null. */
  readonly scanned: ScannedModel | null;
  /** Whether the vocabulary of the tokenizer.json has a token, as spelled in the file. */
  readonly hasToken: (text: string) => boolean;
  /**
   * tokenizer_config.json of the directory; undefined if it is missing or not a JSON object, or if `path` is a file.
   */
  readonly config: json.JsonObject | undefined;
  /** special_tokens_map.json, likewise. */
  readonly map: json.JsonObject | undefined;
  /** generation_config.json, likewise. */
  readonly generation: json.JsonObject | undefined;
  /** config.json, likewise. */
  readonly model: json.JsonObject | undefined;
  /** The chat template. */
  readonly template: string | undefined;
};

/** A loaded tokenizer, with the derivations of its tokens. */
export type Loaded = {
  readonly parts: TokenizerParts;
  readonly derivations: derivation.Derivations;
  /** 1 for each token that is valid UTF-8, by id. */
  readonly isText: Uint8Array;
  /** Encodes a short text. Special tokens in the text are recognized unless `specialTokensAsText` is true. */
  readonly encode: (text: string, specialTokensAsText?: boolean) => number[];
};

const companions = {
  config: "tokenizer_config.json",
  map: "special_tokens_map.json",
  generation: "generation_config.json",
  model: "config.json",
} as const;

/**
 * Reads the files of a tokenizer. Throws a UserError if the path has no tokenizer. A file of `companions` that is not a
 * JSON object becomes a finding.
 */
export async function readSubject(path: string): Promise<{ subject: Subject; findings: Finding[] }> {
  const read = await tokenizerFiles.readSource(tokenizerFiles.fileOf(path));
  const findings: Finding[] = [];
  const isWhole = files.isDirectory(path);
  const objectIn = (name: string): json.JsonObject | undefined => {
    const at = join(path, name);
    if (!isWhole || !files.isFile(at)) return undefined;
    try {
      const value: unknown = JSON.parse(
        new TextDecoder("utf-8", { fatal: true }).decode(files.readBytes(at)),
      );
      if (isPlainObject(value)) return value as json.JsonObject;
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
  const entries = Object.entries(companions).map(([key, name]) => [key, objectIn(name)] as const);
  const named = Object.fromEntries(entries) as Record<keyof typeof companions, json.JsonObject | undefined>;
  const [first, ...others] = read.files;
  const scanned = read.code.scan?.(first) ?? null;
  const json = read.code.scan === undefined ? null : scanned === null ? parsed(first.bytes) : scanned.root;
  const vocab = objectOf(objectOf(objectOf(json).model).vocab);
  return {
    subject: {
      ...named,
      path,
      isDirectory: isWhole,
      source: { ...read, files: [{ ...first, scanned }, ...others] },
      json: isPlainObject(json) ? (json as json.JsonObject) : null,
      scanned,
      hasToken: (text) =>
        scanned === null ? Object.hasOwn(vocab, text) : scanned.vocab.get(text) !== undefined,
      template: templateOf(path, isWhole, named.config),
    },
    findings,
  };
}

/** Parses a tokenizer.json; null if it is not JSON. */
export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

/**
 * Returns the chat template: from a file of its own, or from the configuration, where it may be a list of named
 * templates.
 */
function templateOf(path: string, isWhole: boolean, config: json.JsonObject | undefined): string | undefined {
  const file = join(path, "chat_template.jinja");
  if (isWhole && files.isFile(file)) return new TextDecoder().decode(files.readBytes(file));
  const value = config?.chat_template;
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return undefined;
  return value.map((each) => (each as { template?: unknown } | null)?.template ?? "").join("\n");
}

/** Whether a model looks as if it was made from a SentencePiece model. */
export const spellsCharacters = ({ json, hasToken }: Subject): boolean =>
  objectOf(json?.model).byte_fallback === true || (hasToken("\u2581") && !hasToken("\u0120"));

/** Returns the objects of a list; none if the value is not a list. */
export const objectsIn = (value: unknown): json.JsonObject[] =>
  Array.isArray(value) ? value.filter((each): each is json.JsonObject => isPlainObject(each)) : [];

export const objectOf = (value: unknown): json.JsonObject =>
  isPlainObject(value) ? (value as json.JsonObject) : {};
