import { byteCharacters, bytesOf } from "#bytes";
import { patternForms } from "#pattern";
import { assert } from "#runtime";
import { modelSettings, vocabularies } from "#tokenizer";
import { type FinishedTokenizer, pieceKinds } from "./finished-tokenizer.ts";
import { padName } from "./llama-pieces.ts";
import { mergeLines } from "./merge-lines.ts";
import { Chunk, type OutputFile, type TokenizerFormat } from "./output-file.ts";

/**
 * Yields a GGUF file without tensors, from which llama.cpp reads a vocabulary. The file has a magic number, the
 * version, the number of tensors, the number of fields, and the fields.
 */
function* ggufFile(tokenizer: FinishedTokenizer): Generator<Uint8Array> {
  const { vocabulary, model, exportForm, characters } = tokenizer;
  const roles = modelSettings.roleNames.flatMap((role) => {
    const s = vocabulary.specialTokens.indexOf(model.roles[role] ?? "");
    return s < 0 ? [] : [{ key: keyOfRole[role], id: vocabulary.specialIds[s]! }];
  });
  const fields = new Fields();
  fields.text("general.architecture", "llama");
  fields.text("general.name", "tokenizer");
  fields.text("tokenizer.ggml.model", characters ? "llama" : "gpt2");
  fields.text("tokenizer.ggml.pre", characters ? "default" : patternForms.llamaCppOf(exportForm)!.name);
  if (characters) fields.flag("tokenizer.ggml.add_space_prefix", characters.addsPrefix);
  const unknown = characters?.kinds.indexOf("unknown") ?? -1;
  if (unknown >= 0 && roles.every(({ id }) => id !== unknown)) fields.number(keyOfRole.unk, unknown);
  for (const { key, id } of roles) fields.number(key, id);
  fields.flag("tokenizer.ggml.add_bos_token", model.addsBos);
  if (model.chatTemplate !== null) fields.text("tokenizer.chat_template", model.chatTemplate);
  const { size, mergeCount } = vocabulary;
  fields.list("tokenizer.ggml.token_type", valueTypes.int32, size);
  for (let id = 0; id < size; id++) fields.chunk.append(uint32(typeOf(tokenizer, id)));
  if (characters) fields.numbers("tokenizer.ggml.scores", characters.scores);
  fields.list("tokenizer.ggml.tokens", valueTypes.text, size);
  yield head(fields.count + Number(characters === undefined));
  yield fields.chunk.take();
  for (let id = 0; id < size; id++) {
    fields.value(keyOf(tokenizer, id));
    if (fields.chunk.isFull) yield fields.chunk.take();
  }
  if (characters) {
    yield fields.chunk.take();
    return;
  }
  fields.list("tokenizer.ggml.merges", valueTypes.text, mergeCount);
  yield fields.chunk.take();
  yield* mergeTexts(tokenizer);
}

const keyOfRole = {
  bos: "tokenizer.ggml.bos_token_id",
  eos: "tokenizer.ggml.eos_token_id",
  pad: "tokenizer.ggml.padding_token_id",
  unk: "tokenizer.ggml.unknown_token_id",
} as const;

const valueTypes = { uint32: 4, int32: 5, float32: 6, flag: 7, text: 8, list: 9 } as const;
/**
 * llama.cpp's token types: `normal` for ordinary tokens, `control` for special tokens, `userDefined` for added tokens
 * that are not special, `unused` for ids without a token.
 */
const tokenTypes = { normal: 1, control: 3, userDefined: 4, unused: 5 } as const;

const encoder = new TextEncoder();
const uint32 = (value: number) => new Uint8Array(Uint32Array.of(value).buffer);
const uint64 = (value: number) => new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);

function head(fieldCount: number): Uint8Array {
  const chunk = new Chunk();
  chunk.ascii("GGUF");
  chunk.append(uint32(3));
  chunk.append(uint64(0));
  chunk.append(uint64(fieldCount));
  return chunk.take();
}

/**
 * Gathers the fields of a file. A field is a key, the type of its value, and the value. Before a text comes its length
 * in bytes; before a list come its element type and length. Numbers are little-endian.
 */
class Fields {
  readonly chunk = new Chunk();
  count = 0;

  value(text: string): void {
    const bytes = encoder.encode(text);
    this.chunk.append(uint64(bytes.length));
    this.chunk.append(bytes);
  }

  text(key: string, text: string): void {
    this.key(key, valueTypes.text);
    this.value(text);
  }

  number(key: string, value: number): void {
    this.key(key, valueTypes.uint32);
    this.chunk.append(uint32(value));
  }

  flag(key: string, value: boolean): void {
    this.key(key, valueTypes.flag);
    this.chunk.append(Uint8Array.of(Number(value)));
  }

  numbers(key: string, values: Float32Array): void {
    this.list(key, valueTypes.float32, values.length);
    this.chunk.append(bytesOf(values));
  }

  /** Starts a list. The caller must append its elements. */
  list(key: string, elementType: number, length: number): void {
    this.key(key, valueTypes.list);
    this.chunk.append(uint32(elementType));
    this.chunk.append(uint64(length));
  }

  private key(key: string, type: number): void {
    this.value(key);
    this.chunk.append(uint32(type));
    this.count++;
  }
}

function typeOf({ vocabulary, like, characters }: FinishedTokenizer, id: number): number {
  if (characters) return pieceKinds.indexOf(characters.kinds[id]!) + 1;
  const entry = vocabulary.entries[id]!;
  if (!vocabularies.isSpecialEntry(entry) || vocabularies.otherOfEntry(vocabulary, entry) !== undefined)
    return tokenTypes.normal;
  const content = vocabulary.specialTokens[vocabularies.specialOfEntry(entry)];
  if (content === undefined) return tokenTypes.unused;
  const isLater = like?.laterTokens.some((token) => token.content === content && !token.special);
  return isLater ? tokenTypes.userDefined : tokenTypes.control;
}

function keyOf({ vocabulary }: FinishedTokenizer, id: number): string {
  const entry = vocabulary.entries[id]!;
  if (!vocabularies.isSpecialEntry(entry)) return byteCharacters.encode(vocabulary.tokenBytes.copy(entry));
  return (
    vocabulary.specialTokens[vocabularies.specialOfEntry(entry)] ??
    vocabularies.otherOfEntry(vocabulary, entry)?.key ??
    padName(id)
  );
}

/** Yields the merges as length-prefixed texts: the lines of merges.txt. */
function* mergeTexts({ vocabulary }: FinishedTokenizer): Generator<Uint8Array> {
  const fields = new Fields();
  let rest = "";
  const decoder = new TextDecoder();
  for (const chunk of mergeLines(vocabulary)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) fields.value(line);
    yield fields.chunk.take();
  }
}

/**
 * Pre-tokenizers of llama.cpp with which it does not merge a pretoken that is in the vocabulary (`ignore_merges`). Only
 * those that `bpe` writes are listed.
 */
const takesWhole = new Set(["llama-bpe", "tekken"]);

function obstacle(tokenizer: FinishedTokenizer): string | null {
  if (tokenizer.characters) return tokenizer.characters.llamaObstacle;
  const pre = patternForms.llamaCppOf(tokenizer.exportForm);
  if (pre === undefined) return "llama.cpp has no pre-tokenizer for this pattern";
  const { others } = tokenizer.vocabulary;
  const areWhole = others?.areWhole === true;
  if (areWhole !== takesWhole.has(pre.name) && (others?.tokens.length ?? 0) > 0) {
    const rule = areWhole ? "merges" : "does not merge";
    return `no merge produces some of its tokens, and llama.cpp's pre-tokenizer ${pre.name} ${rule} a pretoken that equals such a token`;
  }
  return modelSettings.settingOnlyInTokenizerJson(tokenizer);
}

function neverRead(): never {
  assert(false, "nothing is recognized as this format");
}

export const gguf: TokenizerFormat = {
  writing: {
    obstacle,
    files: (tokenizer): OutputFile[] => [{ name: "tokenizer.gguf", chunks: () => ggufFile(tokenizer) }],
  },
  read: neverRead,
  prune: neverRead,
};
