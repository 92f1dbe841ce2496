import { countNoun, escapeBytes, groupDigits } from "#bytes";
import { idFormats, idReaders, idWriters } from "#ids";
import { optionTables } from "#options";
import { UserError, yieldToEventLoop } from "#runtime";
import { dataOutput, givenTokenizers, type Invocation, type Output } from "#terminal";
import { type TokenizerParts, tokenizers, tokenTables } from "#tokenizer";
import { CanonicalCheck, type NoncanonicalPlace } from "./canonical-ids.ts";
import { findIdFiles } from "./ids-command.ts";
import { checkIdsOptions } from "./ids-options.ts";

/** A place in a document where ids are not canonical. */
type FoundPlace = NoncanonicalPlace & { readonly path: string; readonly document: number };

type Counts = { idCount: number; documentCount: number; noncanonicalCount: number };

/** The maximum number of places that are listed. The counts also include documents whose places are not listed. */
const placesMax = 1000;
/** The maximum number of places that are printed for people. */
const shownPlaces = 10;
/** The maximum number of tokens that are printed for each of the two lists of a place. */
const shownTokens = 8;

/** `bpe ids check`: checks whether ids are those that encoding their text gives. */
export async function runCheckIds({ files, options }: Invocation, output: Output): Promise<void> {
  const asked = optionTables.readTyped(checkIdsOptions, options);
  const inputs = findIdFiles(files);
  const parts = await givenTokenizers.open(await givenTokenizers.tokenizerOf(asked), true, output);
  const endId = tokenizers.findDocumentEndId(parts, asked.documentEnd);
  const counts: Counts = { idCount: 0, documentCount: 0, noncanonicalCount: 0 };
  const places: FoundPlace[] = [];
  for (const { path } of inputs) {
    const type = { asked: asked.idType, needed: idWriters.typeFor(parts) };
    const formatted = idFormats.openFormattedIds(path, asked.idType ?? type.needed);
    const hasDocuments =
      formatted === undefined ? !idWriters.isFileName(path) : formatted.format.hasDocuments;
    const documents = new CheckedDocuments(parts, hasDocuments ? undefined : endId, path, counts, places);
    const { idLimit } = parts.tokens;
    const reading = formatted
      ? idReaders.readDocuments(path, formatted, documents, idLimit)
      : idReaders.readSequences(path, type, documents, idLimit);
    for await (const _ of reading) await yieldToEventLoop();
  }
  const { idCount, documentCount, noncanonicalCount } = counts;
  if (asked.json) await dataOutput.writeJson(resultOf(asked.tokenizer!, counts, places, parts));
  else if (noncanonicalCount > 0)
    await dataOutput.writeLines(linesOf(counts, places, parts, inputs.length > 1));
  if (noncanonicalCount > 0)
    throw new UserError(
      `${groupDigits(noncanonicalCount)} of ${countNoun(documentCount, "document")} ${noncanonicalCount === 1 ? "does not have the ids that encoding its" : "do not have the ids that encoding their"} text gives`,
      {
        hint: "give the tokenizer and options that made these ids; to compare tokenizers, use bpe diff A B --text FILE",
      },
    );
  output.succeed(
    `canonical: ${countNoun(idCount, "id")} in ${countNoun(documentCount, "document")} are those that encoding gives`,
    { ...counts },
  );
}

/** Checks the ids of a file's documents. If `endId` is given, a document also ends after this id. */
class CheckedDocuments {
  private readonly check: CanonicalCheck;
  /** Whether the last id was `endId`, and ended its document; false again after `endDocument`. */
  private hasEnded = false;
  private document = 0;

  constructor(
    private readonly parts: TokenizerParts,
    private readonly endId: number | undefined,
    private readonly path: string,
    private readonly counts: Counts,
    private readonly places: FoundPlace[],
  ) {
    this.check = new CanonicalCheck(parts);
  }

  ids(given: ArrayLike<number>, count: number): void {
    const ids = new Uint32Array(count);
    for (let i = 0; i < count; i++) ids[i] = given[i]!;
    this.counts.idCount += count;
    for (let start = 0; start < count; ) {
      const at = this.endId === undefined ? -1 : ids.indexOf(this.endId, start);
      const end = at < 0 ? count : at + 1;
      // If special tokens are text, the id that ends documents was added after encoding, so it is not checked.
      const isText = at < 0 || !this.parts.specialTokensAsText;
      this.check.take(ids.subarray(start, isText ? end : at));
      if (at >= 0) this.finishDocument();
      this.hasEnded = at >= 0;
      start = end;
    }
  }

  endDocument(): void {
    if (!this.hasEnded) this.finishDocument();
    this.hasEnded = false;
  }

  private finishDocument(): void {
    const place = this.check.end();
    const { document, path, counts, places } = this;
    counts.documentCount++;
    this.document++;
    if (place === null) return;
    counts.noncanonicalCount++;
    if (places.length < placesMax) places.push({ path, document, ...place });
  }
}

/** The output of `--json` (docs/ids-check.schema.json). */
const resultOf = (
  tokenizer: string,
  counts: Counts,
  places: readonly FoundPlace[],
  { tokens }: TokenizerParts,
) => {
  const tokensOf = (ids: readonly number[]) =>
    ids.map((id) => ({ id, token: escapeBytes(tokenTables.bytesOf(tokens, id)) }));
  return {
    format: "bpe-ids-check",
    version: 1,
    tokenizer,
    ...counts,
    places: places.map(({ path, document, index, given, canonical }) => ({
      ...{ path, document, index },
      ...{ given: tokensOf(given), canonical: tokensOf(canonical) },
    })),
  };
};

/** Describes the first places, for people to read. */
function linesOf(
  { noncanonicalCount }: Counts,
  places: readonly FoundPlace[],
  { tokens }: TokenizerParts,
  hasManyFiles: boolean,
): string[] {
  const listed = (ids: readonly number[]) => {
    const shown = ids.slice(0, shownTokens);
    const texts = shown.map((id) => `"${escapeBytes(tokenTables.bytesOf(tokens, id))}"`);
    return `${texts.join(" ")}${ids.length > shown.length ? " …" : ""} (${shown.join(" ")}${ids.length > shown.length ? " …" : ""})`;
  };
  const lines = places
    .slice(0, shownPlaces)
    .flatMap(({ path, document, index, given, canonical }) => [
      `${hasManyFiles ? `${path}, ` : ""}document ${document}, position ${index}`,
      `  given    ${given.length === 0 ? "no more ids" : listed(given)}`,
      `  encoded  ${canonical.length === 0 ? "no more ids" : listed(canonical)}`,
    ]);
  const moreCount = noncanonicalCount - Math.min(places.length, shownPlaces);
  return moreCount > 0 ? [...lines, `and ${countNoun(moreCount, "document")} more`] : lines;
}
