import { checkOr, fieldsOf, flag, optional, orNull, shown, text } from "../../bytes/schema.ts";
import { UserError } from "../../errors.ts";
import { type NormalizationForm, normalizationForms, type TokenizerParts } from "../tokenizer-parts.ts";
import { readAddedTokens } from "./added-tokens.ts";
import { areNarrow, assembleModel, assembleTokens, idsOfTokens, modelOf } from "./assemble-model.ts";
import { objectAt, parseJson, refuse } from "./checked-json.ts";
import { compileSplits, readPreTokenizer } from "./pre-tokenizer.ts";
import { scanTokenizerJson } from "./scan-tokenizer-json.ts";

/**
 * The tokenizer of HF's `tokenizer.json` of a byte-level BPE. An error names what would give other ids than HF.
 *
 * @param path the file's, for messages
 */
export function tokenizerOfJson(bytes: Uint8Array, path: string): TokenizerParts {
  const scanned = scanTokenizerJson(bytes);
  const json = scanned === null ? parseJson(utf8.decode(bytes), path) : scanned.root;
  const root = objectAt(json, path, "the tokenizer");
  const modelJson = objectAt(root.model, path, "the model");
  checkModel(modelJson, path);
  const { ignore_merges, unk_token } = checkOr(modelFields, modelJson, (what) => {
    throw new UserError(`"${path}": the model cannot be read: ${what}`);
  });
  const vocab = scanned?.vocab ?? idsOfTokens(objectAt(modelJson.vocab, path, "the model's vocab"), path);
  const kind = { vocab, ignoresMerges: ignore_merges === true, unknownToken: unk_token ?? null };
  const model =
    scanned === null
      ? assembleModel({ ...kind, path, merges: readMerges(modelJson.merges, path) })
      : modelOf(kind, scanned.merges);
  const lacksBytes = model.dropsBytes || new Set(model.byteIds).size < 256;
  if (lacksBytes) checkUnknown(modelJson, path);
  const normalization = readNormalizer(root.normalizer, path);
  const { tokens: addedTokens, notes } = readAddedTokens(root.added_tokens, vocab, normalization, path);
  const { sources, name, addsPrefixSpace } = readPreTokenizer(root.pre_tokenizer, path);
  const tokens = assembleTokens(vocab, addedTokens);
  return {
    model,
    pattern: compileSplits(sources, path),
    normalization,
    addsPrefixSpace,
    addedTokens,
    isNarrow: areNarrow(vocab.idMax, addedTokens),
    tokens,
    description: { path, kind: "tokenizer.json", patternName: name, patternSources: sources },
    notes: [...notes, ...notesOn(root, model.dropsBytes)],
  };
}

/** A byte order mark is no JSON. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** HF takes only these types, too: "true" is no flag. */
const modelFields = fieldsOf({
  ignore_merges: optional(orNull(flag)),
  byte_fallback: optional(orNull(flag)),
  fuse_unk: optional(orNull(flag)),
  unk_token: optional(orNull(text)),
});

function checkModel(model: Record<string, unknown>, path: string): void {
  // Old files have no type.
  const type = model.type ?? ("merges" in model ? "BPE" : undefined);
  if (type !== "BPE") refuse(path, `its model is ${shown(type)}, not BPE`);
  for (const name of ["continuing_subword_prefix", "end_of_word_suffix"]) {
    if (model[name]) refuse(path, `${name} is ${shown(model[name])}`);
  }
  if (model.dropout) refuse(path, `dropout is ${shown(model.dropout)}: it merges at random`);
}

function readMerges(merges: unknown, path: string): [string, string][] {
  if (!Array.isArray(merges)) throw new UserError(`"${path}": the model's merges are missing or no list`);
  return merges.map((merge, rank) => {
    if (typeof merge === "string") {
      const parts = merge.split(" ");
      if (parts.length === 2) return [parts[0]!, parts[1]!];
    } else if (
      Array.isArray(merge) &&
      merge.length === 2 &&
      merge.every((part) => typeof part === "string")
    ) {
      return merge as [string, string];
    }
    throw new UserError(`"${path}": merge ${rank} is ${shown(merge)}, not two tokens`);
  });
}

/** Refuses what would matter for bytes without a token of their own. */
function checkUnknown(model: Record<string, unknown>, path: string): void {
  if (model.byte_fallback === true) refuse(path, "byte_fallback with a vocabulary that lacks bytes");
  if (model.unk_token && model.fuse_unk === true) refuse(path, "fuse_unk with a vocabulary that lacks bytes");
}

function readNormalizer(value: unknown, path: string): NormalizationForm | null {
  if (value === null || value === undefined) return null;
  const normalizer = objectAt(value, path, "the normalizer");
  const { type } = normalizer;
  if (type === "Sequence" && Array.isArray(normalizer.normalizers) && normalizer.normalizers.length < 2) {
    return readNormalizer(normalizer.normalizers[0], path);
  }
  const form = normalizationForms.find((known) => known === type);
  if (form === undefined)
    refuse(path, `its normalizer is ${shown(type)}`, `known are ${normalizationForms.join(", ")}`);
  return form;
}

function notesOn(root: Record<string, unknown>, dropsBytes: boolean): string[] {
  const notes: string[] = [];
  const post = root.post_processor as { type?: string; processors?: { type?: string }[] } | null | undefined;
  const steps = post?.type === "Sequence" ? (post.processors ?? []) : post ? [post] : [];
  const adding = steps.filter((step) => step.type !== "ByteLevel");
  if (adding.length > 0) {
    const types = adding.map((step) => step.type).join(", ");
    notes.push(`the post-processor (${types}) is not applied: ids are as with add_special_tokens=False`);
  }
  if (root.truncation) notes.push("the tokenizer's truncation is not applied");
  if (root.padding) notes.push("the tokenizer's padding is not applied");
  if (dropsBytes) notes.push("the vocabulary lacks some bytes; they are left out of the ids, as in HF");
  return notes;
}
