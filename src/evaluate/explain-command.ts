import { isUtf8 } from "node:buffer";
import { countNoun, escapeBytes, groupDigits } from "#bytes";
import { namedTokenizers, writtenCounts } from "#formats";
import { optionTables } from "#options";
import { runSliced, usageError } from "#runtime";
import { dataOutput, givenTokenizers, type Invocation, type Output, styling, summaryRows } from "#terminal";
import { textPieces } from "#text";
import { encodingModels, type TokenizerParts, tokenTables } from "#tokenizer";
import { piecesText } from "./eval-text.ts";
import { explainOptions } from "./evaluate-options.ts";
import { type ExplainedPart, explainText } from "./explain.ts";
import { shortenName } from "./grid.ts";

/**
 * The maximum length in bytes of a text whose merges are shown; a text that is only cut into pieces may be longer.
 * Explaining a pretoken of this length takes a second.
 */
const textBytesMax = 10_000;

/** `bpe explain`: shows how a text is encoded, merge by merge. */
export async function runExplain({ files, options }: Invocation, output: Output): Promise<void> {
  const [path, text] = files as [string, string];
  const asked = optionTables.readTyped(explainOptions, options);
  const opened = async () =>
    givenTokenizers.open(
      { ...namedTokenizers.find(path), ...(await givenTokenizers.readSupplements(asked)) },
      true,
      output,
    );
  if (asked.onlyPieces) {
    const whole = text === "-" ? await Bun.stdin.bytes() : new TextEncoder().encode(text);
    if (!isUtf8(whole))
      throw usageError("the text on stdin is not UTF-8", "convert the text to UTF-8, e.g. with iconv");
    const pieces = textPieces.of(await opened(), whole);
    return dataOutput.writeJson(pieces.map((piece) => Buffer.from(piece).toString()));
  }
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > textBytesMax) {
    throw usageError(
      `the text has ${groupDigits(bytes.length)} bytes, but bpe explain takes at most ${groupDigits(textBytesMax)}`,
      "give a word or a sentence; to encode long texts, use bpe encode",
    );
  }
  const parts = await opened();
  const explained: Explained = {
    parts,
    text,
    pretokens: explainText(parts, bytes),
    tokenCounts: await runSliced(writtenCounts.read(parts)),
  };
  await (asked.json
    ? dataOutput.writeJson(explanationOf(explained))
    : dataOutput.writeLines(explanationLines(explained)));
}

type Explained = {
  readonly parts: TokenizerParts;
  readonly text: string;
  readonly pretokens: readonly ExplainedPart[];
  /** null if no usable counts are next to the tokenizer (`writtenCounts.read`). */
  readonly tokenCounts: writtenCounts.WrittenTokenCounts | null;
};

const shown = ({ tokens }: TokenizerParts, id: number) => escapeBytes(tokenTables.bytesOf(tokens, id));

const idsOf = ({ pretokens }: Explained) => pretokens.flatMap(({ ids }) => ids);

/** The output of `bpe explain --json`: docs/explanation.schema.json. */
function explanationOf(explained: Explained) {
  const { parts, text, pretokens, tokenCounts } = explained;
  const token = (id: number) => ({ id, token: shown(parts, id) });
  return {
    format: "bpe-explanation",
    version: 1,
    tokenizer: parts.description.path,
    text,
    pattern: parts.description.patternName,
    normalForm: parts.normalization,
    parts: pretokens.map(({ kind, bytes, start, steps, ids }) => ({
      kind,
      text: escapeBytes(bytes),
      start: start.map(token),
      merges: steps.map(({ rank, at, left, right, id }) => ({
        ...{ rank, count: tokenCounts?.createdCounts[id] ?? null, at },
        ...{ left: token(left), right: token(right), merged: token(id) },
      })),
      tokens: kind === "added" ? [{ id: ids[0]!, token: escapeBytes(bytes) }] : ids.map(token),
    })),
    ids: idsOf(explained),
  };
}

function explanationLines(explained: Explained): styling.Line[] {
  const { parts, text, pretokens, tokenCounts } = explained;
  const { description, normalization } = parts;
  const ids = idsOf(explained);
  const counts = [
    countNoun(Buffer.byteLength(text), "byte"),
    countNoun(pretokens.length, "part"),
    countNoun(ids.length, "token"),
  ];
  const form = normalization === null ? "" : `, normal form ${normalization}`;
  const times = tokenCounts === null ? "" : " its count in training,";
  const hasMerges = pretokens.some(({ steps }) => steps.length > 0);
  return [
    `${counts.join(", ")}; pattern ${description.patternName ?? "of its own"}${form}`,
    ...(hasMerges ? [`Each line is a merge: its rank,${times} its halves, the pieces.`] : []),
    ...pretokens.flatMap((part) => ["", ...partLines(explained, part)]),
    "",
    `ids ${ids.join(" ")}`,
  ];
}

const kinds = {
  added: " is an added token",
  whole: " is in the vocabulary, though no merge makes it",
  merged: "",
};

function partLines(
  { parts, tokenCounts }: Explained,
  { kind, bytes, start, steps, ids }: ExplainedPart,
): styling.Line[] {
  const { byteIds, beginning } = parts.model;
  const lost =
    kind === "merged" && beginning === undefined
      ? bytes.filter((byte) => byteIds[byte] === encodingModels.droppedByte)
      : [];
  // An added token may share its id with a learned token of other bytes. Then the bytes of the added token are shown.
  const nameOf = (id: number) => (kind === "added" ? escapeBytes(bytes) : shown(parts, id));
  const tokens = ids.map((id) => `${id} "${nameOf(id)}"`).join(", ");
  const pieces = start.map((id) => shown(parts, id));
  const rows = steps.map(({ rank, at, id }) => {
    const joined = `"${pieces[at]}" + "${pieces[at + 1]}"`;
    pieces.splice(at, 2, shown(parts, id));
    const count = tokenCounts === null ? [] : [`${groupDigits(tokenCounts.createdCounts[id]!)} times`];
    return { numbers: [groupDigits(rank), ...count], joined, pieces: shownPieces(pieces) };
  });
  const widest = (texts: readonly string[]) => Math.max(...texts.map(summaryRows.shownWidth));
  const widths = rows[0]?.numbers.map((_, column) => widest(rows.map(({ numbers }) => numbers[column]!)));
  const joinedWidth = widest(rows.map(({ joined }) => joined));
  return [
    [styling.piece("bold", `"${escapeBytes(bytes)}"`), kinds[kind], tokens === "" ? "" : ` -> ${tokens}`],
    ...(lost.length > 0
      ? [`  left out, because they have no id: ${escapeBytes(Uint8Array.from(lost))}`]
      : []),
    ...rows.map(({ numbers, joined, pieces }) => {
      const cells = numbers.map((text, column) => text.padStart(widths![column]!));
      const line = `  ${cells.join("  ")}  ${joined}${" ".repeat(joinedWidth - summaryRows.shownWidth(joined))}  `;
      return (
        line +
        shortenName(
          pieces,
          Math.max(piecesColumnsLeast, styling.terminalColumns(1) - summaryRows.shownWidth(line)),
        )
      );
    }),
  ];
}

/** Formats pieces without quotes. Spaces become visible. */
const shownPieces = (pieces: readonly string[]) =>
  piecesText(
    pieces.map((text) => text.replaceAll(" ", "␣")),
    shownPiecesMax,
  );

const shownPiecesMax = 40;
/** Pieces are not shortened to fewer columns than this. */
const piecesColumnsLeast = 20;
