import { decodeText, parseJson } from "#bytes";
import { UserError } from "#runtime";
import type { AddedToken } from "#text";
import type { OutputFile, SourceFile, SourceFiles } from "./output-file.ts";
import { JsonRewriter, type Place } from "./rewrite-json.ts";

/** New texts of special tokens, by the old ones. */
export type Names = ReadonlyMap<string, string>;

/** A `vocab.json`. Merges are of other tokens. */
export function renamedVocab([vocab, ...others]: SourceFiles, names: Names): SourceFiles {
  const json = new JsonRewriter(vocab.bytes);
  json.renameKeys(json.placeOf([])!.start, names);
  return [rewritten(vocab, json), ...others];
}

/** A `tokenizer.json`: what names a special token there is its vocabulary, its list of them, padding and post-processor. */
export function renamedTokenizerJson([file]: SourceFiles, names: Names): SourceFiles {
  const json = new JsonRewriter(file.bytes);
  json.renameKeys(json.placeOf(["model", "vocab"])!.start, names);
  for (const keys of [["added_tokens"], ["padding"], ["model", "unk_token"]]) renameIn(json, keys, names);
  const post = json.placeOf(["post_processor"]);
  if (post !== undefined) {
    const before = JSON.parse(json.textAt(post));
    const after = renamedValue(before, names, true);
    // Some of its keys are texts of tokens.
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      const indent = json.placeOf([])!.before.replace(/^\n/, "");
      json.replace(post, JSON.stringify(after, null, indent).replaceAll("\n", `\n${indent}`));
    }
  }
  return [rewritten(file, json)];
}

function renameIn(json: JsonRewriter, keys: readonly string[], names: Names): void {
  const place = json.placeOf(keys);
  if (place === undefined) return;
  const value = JSON.parse(json.textAt(place));
  json.changeValues(place.start, value, renamedValue(value, names, false));
}

/** A value with other texts where it has one of the old ones; as keys, too, if these are texts of tokens. */
function renamedValue(value: unknown, names: Names, hasKeys: boolean): unknown {
  if (typeof value === "string") return names.get(value) ?? value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => renamedValue(one, names, hasKeys));
  const members = Object.entries(value).map(([key, one]) => [
    hasKeys ? (names.get(key) ?? key) : key,
    renamedValue(one, names, hasKeys),
  ]);
  return Object.fromEntries(members);
}

/** What `transformers` reads beside the tokenizer. A template that writes an old text is a UserError: it is a program. */
export function renamedBeside(file: SourceFile, names: Names): SourceFile {
  const { name, path, bytes } = file;
  const refuseIn = (template: string) => {
    const old = [...names.keys()].find((text) => template.includes(text));
    if (old === undefined) return;
    throw new UserError(`"${path}": the chat template writes "${old}", which is renamed`, {
      hint: "change it in the template first",
    });
  };
  const isConfig = name === "tokenizer_config.json" || name === "special_tokens_map.json";
  if (name.startsWith("chat_template")) {
    refuseIn(decodeText(bytes, 0));
    return file;
  }
  const json = new JsonRewriter(bytes);
  const { start } = json.placeOf([])!;
  if (!isConfig) {
    json.renameKeys(start, names);
    return rewritten(file, json);
  }
  const config = parseJson(decodeText(bytes, 0), path) as Record<string, unknown>;
  const { chat_template: template, ...others } = config;
  const templates = [template ?? []].flat() as (string | { readonly template?: unknown })[];
  for (const one of templates) refuseIn(typeof one === "string" ? one : String(one?.template));
  const renamed = { ...(renamedValue(others, names, false) as object), chat_template: template };
  json.changeValues(start, config, renamed);
  return rewritten(file, json);
}

const rewritten = (file: SourceFile, json: JsonRewriter): SourceFile => ({
  ...file,
  bytes: Buffer.concat([...json.chunks()]),
});

/** The same files with new special tokens in their lists of them. */
export const extendedBeside = (files: readonly SourceFile[], added: readonly AddedToken[]): OutputFile[] =>
  files.map(({ name, bytes }) => {
    const isConfig = name === "tokenizer_config.json" || name === "special_tokens_map.json";
    if (!isConfig || added.length === 0) return { name, chunks: () => [bytes] };
    const json = new JsonRewriter(bytes);
    const texts = json.placeOf(["additional_special_tokens"]);
    if (texts !== undefined && json.textAt(texts).startsWith("["))
      json.addElements(
        texts,
        added.map(({ content }) => JSON.stringify(content)),
      );
    const decoder = json.placeOf(["added_tokens_decoder"]);
    if (decoder !== undefined) json.addElements(decoder, decoderTexts(json, decoder, added));
    return { name, chunks: () => json.chunks() };
  });

/** Entries of `added_tokens_decoder`, in the layout of the first one. */
function decoderTexts(json: JsonRewriter, place: Place, added: readonly AddedToken[]): string[] {
  const [firstStart = place.start] = json.membersOf(place.start).values();
  const first = json.placeAt(firstStart);
  const [inner, atEnd] = place.isEmpty ? ["", ""] : [first.before, first.atEnd];
  const colon = `:${json.afterColon(place)}`;
  return added.map(({ id, content, lstrip, rstrip, normalized, singleWord, special }) => {
    const token = { content, lstrip, normalized, rstrip, single_word: singleWord, special };
    const members = Object.entries(token).map(
      ([key, value]) => `${inner}"${key}"${colon}${JSON.stringify(value)}`,
    );
    return `"${id}"${colon}{${members.join(",")}${atEnd}}`;
  });
}
