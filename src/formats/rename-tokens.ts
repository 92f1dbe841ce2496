import { json, utf8 } from "#bytes";
import { asOption, phrase, UserError } from "#runtime";
import type { AddedToken } from "#text";
import type { OutputFile, SourceFile, SourceFiles } from "./output-file.ts";
import { JsonRewriter, type Place } from "./rewrite-json.ts";

/** The new texts of special tokens, by their old texts. */
export type Names = ReadonlyMap<string, string>;

/** Renames keys in a `vocab.json`. No token that merges make is renamed, so merges.txt stays unchanged. */
export function renameVocab([vocab, ...others]: SourceFiles, names: Names): SourceFiles {
  const rewriter = new JsonRewriter(vocab.bytes);
  rewriter.renameKeys(rewriter.placeOf([])!.start, names);
  return [applyEdits(vocab, rewriter), ...others];
}

export function renameTokenizerJson([file]: SourceFiles, names: Names): SourceFiles {
  const rewriter = new JsonRewriter(file.bytes);
  rewriter.renameKeys(rewriter.placeOf(["model", "vocab"])!.start, names);
  for (const keys of [["added_tokens"], ["padding"], ["model", "unk_token"]]) renameIn(rewriter, keys, names);
  const post = rewriter.placeOf(["post_processor"]);
  if (post !== undefined) {
    const before = JSON.parse(rewriter.textAt(post));
    const after = renameInValue(before, names, true);
    // The keys of a post-processor may be texts of tokens, too, so the whole value is rewritten.
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      const indent = rewriter.placeOf([])!.before.replace(/^\n/, "");
      rewriter.replace(post, JSON.stringify(after, null, indent).replaceAll("\n", `\n${indent}`));
    }
  }
  return [applyEdits(file, rewriter)];
}

function renameIn(rewriter: JsonRewriter, keys: readonly string[], names: Names): void {
  const place = rewriter.placeOf(keys);
  if (place === undefined) return;
  const value = JSON.parse(rewriter.textAt(place));
  rewriter.changeValues(place.start, value, renameInValue(value, names, false));
}

/** Replaces old texts in a JSON value, and in its keys if `hasKeys`. */
function renameInValue(value: unknown, names: Names, hasKeys: boolean): unknown {
  if (typeof value === "string") return names.get(value) ?? value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => renameInValue(one, names, hasKeys));
  const members = Object.entries(value).map(([key, one]) => [
    hasKeys ? (names.get(key) ?? key) : key,
    renameInValue(one, names, hasKeys),
  ]);
  return Object.fromEntries(members);
}

/**
 * Renames tokens in a file next to the tokenizer. Throws a UserError if a chat template contains an old text: a
 * template is a program, in which replacing text may change more than the token.
 */
export function rename(file: SourceFile, names: Names): SourceFile {
  const { name, path, bytes } = file;
  const refuseIn = (template: string) => {
    const old = [...names.keys()].find((text) => template.includes(text));
    if (old === undefined) return;
    throw new UserError(
      phrase`"${path}": the chat template contains the token "${old}", which ${asOption("rename")} would change`,
      {
        hint: "first change this token in the chat template",
      },
    );
  };
  const isConfig = name === "tokenizer_config.json" || name === "special_tokens_map.json";
  if (name.startsWith("chat_template")) {
    refuseIn(utf8.decode(bytes));
    return file;
  }
  const rewriter = new JsonRewriter(bytes);
  const { start } = rewriter.placeOf([])!;
  if (!isConfig) {
    rewriter.renameKeys(start, names);
    return applyEdits(file, rewriter);
  }
  const config = json.parse(utf8.decode(bytes), path) as Record<string, unknown>;
  const { chat_template: template, ...others } = config;
  const templates = [template ?? []].flat() as (string | { readonly template?: unknown })[];
  for (const one of templates) refuseIn(typeof one === "string" ? one : String(one?.template));
  const renamed = { ...(renameInValue(others, names, false) as object), chat_template: template };
  rewriter.changeValues(start, config, renamed);
  return applyEdits(file, rewriter);
}

const applyEdits = (file: SourceFile, rewriter: JsonRewriter): SourceFile => ({
  ...file,
  bytes: Buffer.concat([...rewriter.chunks()]),
});

/** Adds new special tokens to the lists of special tokens in companion files. */
export const extend = (files: readonly SourceFile[], added: readonly AddedToken[]): OutputFile[] =>
  files.map(({ name, bytes }) => {
    const isConfig = name === "tokenizer_config.json" || name === "special_tokens_map.json";
    if (!isConfig || added.length === 0) return { name, chunks: () => [bytes] };
    const rewriter = new JsonRewriter(bytes);
    const texts = rewriter.placeOf(["additional_special_tokens"]);
    if (texts !== undefined && rewriter.textAt(texts).startsWith("["))
      rewriter.addElements(
        texts,
        added.map(({ content }) => JSON.stringify(content)),
      );
    const decoder = rewriter.placeOf(["added_tokens_decoder"]);
    if (decoder !== undefined) rewriter.addElements(decoder, decoderTexts(rewriter, decoder, added));
    return { name, chunks: () => rewriter.chunks() };
  });

/** Formats entries of `added_tokens_decoder` in the layout of the first entry. */
function decoderTexts(rewriter: JsonRewriter, place: Place, added: readonly AddedToken[]): string[] {
  const [firstStart = place.start] = rewriter.membersOf(place.start).values();
  const first = rewriter.placeAt(firstStart);
  const [inner, atEnd] = place.isEmpty ? ["", ""] : [first.before, first.atEnd];
  const colon = `:${rewriter.afterColon(place)}`;
  return added.map(({ id, content, lstrip, rstrip, normalized, singleWord, special }) => {
    const token = { content, lstrip, normalized, rstrip, single_word: singleWord, special };
    const members = Object.entries(token).map(
      ([key, value]) => `${inner}"${key}"${colon}${JSON.stringify(value)}`,
    );
    return `"${id}"${colon}{${members.join(",")}${atEnd}}`;
  });
}
