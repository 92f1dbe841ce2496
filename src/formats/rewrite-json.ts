import { ascii, byteCharacters, json, showValue, utf8 } from "#bytes";
import { assert } from "#runtime";
import { changes, type encodingModels, type TokenizerParts, tokenizers, tokenTables } from "#tokenizer";
import type { TokenIds } from "./scan-tokenizer-json.ts";

/** A value in a JSON text: its start and end, and the layout of its elements if it is an object or list. */
export type Place = {
  readonly start: number;
  readonly end: number;
  /** The whitespace before the first element. */
  readonly before: string;
  /** The whitespace after the last element. */
  readonly atEnd: string;
  readonly isEmpty: boolean;
};

export type IdRow = readonly [key: string, id: number];
export type Pair = readonly [left: string, right: string];

/** Edits parts of a JSON file and leaves other bytes unchanged. The file must be valid JSON. */
export class JsonRewriter {
  private readonly edits: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  private readonly isAscii: boolean;

  constructor(private readonly file: Uint8Array) {
    let pos = 0;
    while (pos < file.length && file[pos]! < 0x80) pos++;
    this.isAscii = pos === file.length;
  }

  /**
   * Returns the value to which the path `keys` leads from the value at `start`; undefined if there is none. If a key
   * occurs twice, the last one counts.
   */
  placeOf(keys: readonly string[], start = json.skipSpace(this.file, 0)): Place | undefined {
    for (const key of keys) {
      const found = this.membersOf(start).get(key);
      if (found === undefined) return undefined;
      start = found;
    }
    return this.placeAt(start);
  }

  placeAt(start: number): Place {
    const { file } = this;
    const end = json.skipValue(file, start);
    assert(end !== json.invalid, "the file was parsed before");
    const first = json.skipSpace(file, start + 1);
    let last = end - 1;
    while (last > first && json.isSpace(file[last - 1]!)) last--;
    return {
      start,
      end,
      before: utf8.decode(file, start + 1, first),
      atEnd: utf8.decode(file, Math.max(last, first), end - 1),
      isEmpty: first === end - 1,
    };
  }

  /** Returns the start of the value of each key or index of an object or list. */
  membersOf(start: number): Map<string | number, number> {
    const places = new Map<string | number, number>();
    json.walkMembers(this.file, start, (key, pos) => {
      places.set(key, pos);
      return json.skipValue(this.file, pos);
    });
    return places;
  }

  textAt({ start, end }: Pick<Place, "start" | "end">): string {
    return utf8.decode(this.file, start, end);
  }

  replace({ start, end }: Pick<Place, "start" | "end">, text: string): void {
    this.edits.push({ start, end, text });
  }

  /** Replaces all elements of an object or list. */
  replaceElements({ start, end, before, atEnd }: Place, elements: readonly string[]): void {
    const text = elements.length === 0 ? "" : `${before}${elements.join(`,${before}`)}${atEnd}`;
    this.replace({ start: start + 1, end: end - 1 }, text);
  }

  /** Appends elements after the last one. `ofEmpty` is the layout that an empty object or list gets. */
  addElements(
    place: Place,
    elements: readonly string[],
    ofEmpty = { before: place.before, atEnd: "" },
  ): void {
    const { start, end, before, atEnd, isEmpty } = place;
    if (elements.length === 0) return;
    const layout = isEmpty ? ofEmpty : { before, atEnd: "" };
    const rows = `${layout.before}${elements.join(`,${layout.before}`)}`;
    const last = end - 1 - atEnd.length;
    if (isEmpty) this.replace({ start: start + 1, end: end - 1 }, `${rows}${layout.atEnd}`);
    else this.replace({ start: last, end: last }, `,${rows}`);
  }

  /**
   * Changes the value at `start`, which is `before`, to `after`, without changing the text of what is equal in both. A
   * member that `before` lacks is not added.
   */
  changeValues(start: number, before: unknown, after: unknown): void {
    if (before === after) return;
    if (typeof after !== "object" || after === null) {
      this.replace({ start, end: json.skipValue(this.file, start) }, JSON.stringify(after));
      return;
    }
    type Members = Record<string | number, unknown>;
    for (const [key, pos] of this.membersOf(start)) {
      this.changeValues(pos, (before as Members)[key], (after as Members)[key]);
    }
  }

  /** Renames keys of the object at `start`. */
  renameKeys(start: number, names: ReadonlyMap<string, string>): void {
    json.walkMembers(this.file, start, (key, pos, keyStart, keyEnd) => {
      const name = names.get(String(key));
      if (name !== undefined) this.replace({ start: keyStart, end: keyEnd }, this.quoted(name));
      return json.skipValue(this.file, pos);
    });
  }

  /** Formats keys with their ids in the layout of the object at `place`. */
  idTexts(place: Place, rows: readonly IdRow[]): string[] {
    const colon = `:${this.afterColon(place)}`;
    return rows.map(([key, id]) => `${this.quoted(key)}${colon}${id}`);
  }

  /**
   * Formats merges in the form and layout of the first merge in the file. If the file has no merges, the new ones are
   * formatted as HF does: as pairs, each on lines that are indented one level deeper than `before`, or on one line if
   * `before` has no line feed.
   */
  mergeTexts(place: Place, merges: readonly Pair[], before = ""): string[] {
    const { file } = this;
    const first = place.start + 1 + place.before.length;
    if (file[first] === ascii.quote) return merges.map(([left, right]) => this.quoted(`${left} ${right}`));
    let [inner, between, last] = before.includes("\n")
      ? [`${before}  `, `${before}  `, before]
      : ["", before, ""];
    if (!place.isEmpty) {
      const pair = this.placeAt(first);
      const comma = json.skipSpace(file, json.skipValue(file, first + 1 + pair.before.length));
      between = utf8.decode(file, comma + 1, json.skipSpace(file, comma + 1));
      [inner, last] = [pair.before, pair.atEnd];
    }
    return merges.map(
      ([left, right]) => `[${inner}${this.quoted(left)},${between}${this.quoted(right)}${last}]`,
    );
  }

  /**
   * Returns the whitespace between the colon of a key and its value, as it is after the first key. Returns a single
   * space if there is no key.
   */
  afterColon({ start, before, isEmpty }: Place): string {
    const { file } = this;
    if (isEmpty || file[start] !== ascii.openBrace) return " ";
    const colon = json.skipSpace(file, json.skipValue(file, start + 1 + before.length));
    return utf8.decode(file, colon + 1, json.skipSpace(file, colon + 1));
  }

  /** Formats a JSON string. If the file is ASCII, other characters and U+007F are escaped. */
  private quoted(text: string): string {
    const json = JSON.stringify(text);
    if (!this.isAscii) return json;
    return json.replace(
      /[\u007f-\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  }

  /** Yields the edited file. Edits must not overlap. */
  *chunks(): Generator<Uint8Array> {
    const encoder = new TextEncoder();
    let pos = 0;
    for (const { start, end, text } of this.edits.sort((a, b) => a.start - b.start)) {
      yield this.file.subarray(pos, start);
      yield encoder.encode(text);
      pos = end;
    }
    yield this.file.subarray(pos);
  }
}

/**
 * Adds the new tokens to the vocabulary, preceded by the added tokens that the vocabulary lacks. HF ignores the stated
 * ids of added tokens that the vocabulary lacks, and numbers them from the vocabulary's size on. So new tokens alone
 * would change these ids.
 */
export function addNewIds(
  json: JsonRewriter,
  vocab: Place,
  base: TokenizerParts,
  extension: changes.Extension,
): void {
  const known = JSON.parse(json.textAt(vocab)) as Record<string, unknown>;
  const added = tokenizers
    .allAddedTokens(base)
    .filter(({ content }) => !Object.hasOwn(known, content))
    .map(({ content, id }): IdRow => [content, id])
    .sort(([, a], [, b]) => a - b);
  const rows = [
    ...added,
    ...extension.tokens.map(({ id, bytes }): IdRow => [byteCharacters.encode(bytes), id]),
    ...changes.newSpecials(extension).map(({ id, content }): IdRow => [content, id]),
  ];
  json.addElements(vocab, json.idTexts(vocab, rows));
}

/** Spells the new merges in byte-to-character form. */
export function spellMerges(base: TokenizerParts, { tokens, merges }: changes.Extension): Pair[] {
  const { idLimit } = base.tokens;
  const keyOf = (id: number) =>
    byteCharacters.encode(id < idLimit ? tokenTables.bytesOf(base.tokens, id) : tokens[id - idLimit]!.bytes);
  return Array.from(merges.left, (left, k): Pair => [keyOf(left), keyOf(merges.right[k]!)]);
}

/** The kept tokens and merges of a vocabulary, spelled as in its file. */
type KeptRows = {
  /** The tokens with their new ids, ascending. */
  readonly tokens: readonly IdRow[];
  /** Yields the merges in the order of ranks. */
  readonly merges: () => Generator<Pair>;
};

/**
 * Selects the rows of kept tokens. A merge is kept if its halves and its result are kept, and its rank is below
 * `mergeCount`. It is not kept if a merge with a rank from `mergeCount` on has the same pair.
 */
export function selectKeptRows(
  vocab: TokenIds,
  merges: encodingModels.RankedMerges,
  { newIds, mergeCount }: changes.Numbering,
  path: string,
): KeptRows {
  const textOf: string[] = [];
  const tokens: IdRow[] = [];
  for (const [text, id] of vocab) {
    const other = textOf[id];
    if (other !== undefined)
      tokenizers.refuse(
        path,
        `the tokens ${showValue(other)} and ${showValue(text)} have the same id, ${id}`,
      );
    textOf[id] = text;
    const newId = newIds[id] ?? changes.removed;
    if (newId !== changes.removed) tokens.push([text, newId]);
  }
  tokens.sort(([, a], [, b]) => a - b);
  const stays = (id: number) => newIds[id] !== changes.removed;
  return {
    tokens,
    *merges() {
      const { left, right, merged } = merges;
      const count = Math.min(merged.length, mergeCount);
      const pairOf = (rank: number) => left[rank]! * 2 ** 32 + right[rank]!;
      // If a pair is listed twice, the last rank counts.
      const later = new Set(Array.from({ length: merged.length - count }, (_, k) => pairOf(count + k)));
      for (let rank = 0; rank < count; rank++) {
        const [l, r] = [left[rank]!, right[rank]!];
        if (stays(l) && stays(r) && stays(merged[rank]!) && !later.has(pairOf(rank)))
          yield [textOf[l]!, textOf[r]!];
      }
    },
  };
}
