import { countNoun, groupDigits } from "#bytes";
import type { excerpts } from "#evaluation";
import * as signs from "../signs.ts";
import { isCutAlike, spansOf } from "../token-spans.ts";
import { type Child, chooser, fold, h, replace, section } from "./dom.ts";
import { colourOf, key } from "./dot-plot.ts";
import { plainText, tokenChips } from "./token-text.ts";

// Texts cut into tokens by one tokenizer; or by two, whose cuts are stacked where they differ.

const encoder = new TextEncoder();

type Cut = { readonly ids: readonly number[]; readonly lengths: readonly number[] };
type Token = { readonly id: number; readonly bytes: Uint8Array };

/** Returns the tokens of a cut, with their bytes. */
function tokensOf(content: string, { ids, lengths }: Cut): Token[] {
  const bytes = encoder.encode(content);
  let end = 0;
  return ids.map((id, i) => ({ id, bytes: bytes.subarray(end, (end += lengths[i]!)) }));
}

/** The maximum number of tokens that `cutText` shows of a text. */
const shownTokensMax = 400;

/** A section with passages cut by one tokenizer; all but the first are collapsed. */
export function sampleSection(samples: readonly excerpts.Excerpt[]): HTMLElement {
  const shown = ({ text, content, cuts }: excerpts.Excerpt) => [
    h("h3", text),
    cutText(tokensOf(content, cuts[0]!)),
  ];
  const [first, ...others] = samples;
  return section(
    "samples",
    "A text, cut into tokens",
    `A passage from the middle of each text; colours separate neighbouring tokens. ${signs.signsNote} Point at a token for its id, or use the arrow keys.`,
    shown(first!),
    others.length > 0 && fold(`${others.length} more`, () => others.map(shown)),
  );
}

/** Returns a text cut by one tokenizer, with its ids collapsed. */
function cutText(tokens: readonly Token[]): Child {
  const shown = tokens.slice(0, shownTokensMax);
  const byteCount = tokens.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const lines: Token[][] = [[]];
  for (const [i, token] of shown.entries()) {
    lines.at(-1)!.push(token);
    if (endsLine(token) && (shown[i + 1] === undefined || !startsWithLineEnd(shown[i + 1]!))) lines.push([]);
  }
  const perToken = (byteCount / Math.max(1, tokens.length)).toFixed(2);
  return [
    h("p.quiet", `${countNoun(tokens.length, "token")}, ${perToken} bytes per token`),
    h(
      "p.text",
      { dir: "auto", tabindex: 0 },
      lines.map((line, i) => [i > 0 && h("br"), tokenChips(line)]),
      tokens.length > shown.length && " …",
    ),
    h("details", h("summary", "Ids"), h("p.ids", shown.map(({ id }) => id).join(" "))),
  ];
}

const lineFeed = 0x0a;
const endsLine = ({ bytes }: Token) => bytes.at(-1) === lineFeed;
const startsWithLineEnd = ({ bytes }: Token) => bytes[0] === lineFeed;

/**
 * Explains passages that two tokenizers cut differently. `where` says which part of the texts they come from, and
 * `tokenizerCount` how many tokenizers they were chosen for.
 */
export const passagesNote = (where: string, tokenizerCount: number) =>
  `Passages chosen ${tokenizerCount > 2 ? `where all ${tokenizerCount}` : "because they"} differ most, from ${where}. Text without colour is cut alike; in colour, the tokens of the first are above those of the second. ${signs.signsNote}`;

/** States how many tokens two tokenizers make of a whole text. */
export const wholeTextNote = ([a, b]: readonly string[], [countA, countB]: readonly number[]) =>
  `whole text: ${a} ${countNoun(countA!, "token")}, ${b} ${groupDigits(countB!)}`;

/**
 * Returns excerpts cut by two tokenizers, which the reader chooses; `pair` is the initial choice, if both of its
 * tokenizers cut the excerpts. `noteOf` returns a note on a text.
 */
export function stackedExcerpts(
  names: readonly string[],
  excerpts: readonly excerpts.Excerpt[],
  pair: readonly [number, number],
  noteOf: (text: string, pair: readonly [number, number]) => Child = () => null,
): Child {
  // All excerpts are cut by the same tokenizers.
  const known = names.flatMap((_, t) => (excerpts[0]!.cuts[t] == null ? [] : [t]));
  const shown = (pair.every((t) => known.includes(t)) ? [...pair] : known.slice(0, 2)) as [number, number];
  const place = h("div");
  const keys = shown.map(key);
  const show = () => replace(place, stacked(excerpts, shown, noteOf));
  const choose = (side: number) => (index: number) => {
    shown[side] = known[index]!;
    keys[side]!.className = `key ${colourOf(shown[side])}`;
    show();
  };
  show();
  const offered = known.map((t) => names[t]!);
  const sides = ["above", "below"].map((label, side) => {
    const t = shown[side]!;
    if (known.length === 2) return h("span", keys[side], `${label}: `, h("b", names[t]));
    return h("span", keys[side], chooser(label, offered, known.indexOf(t), choose(side)));
  });
  return [h("p.row.choosers.pair-names", sides), place];
}

function stacked(
  excerpts: readonly excerpts.Excerpt[],
  pair: readonly [number, number],
  noteOf: (text: string, pair: readonly [number, number]) => Child,
): Child {
  const texts = [...Map.groupBy(excerpts, ({ text }) => text)];
  return texts.map(([text, passages]) => {
    const [first, ...others] = passages.flatMap((passage) => stackedPassage(passage, pair) ?? []);
    return [
      h("h3", text, " ", h("small", noteOf(text, pair))),
      first ?? h("p.quiet", "Both cut the passages of this text alike."),
      others.length > 0 && fold(`${others.length} more`, () => h("div.columns.passages", others)),
    ];
  });
}

/** A passage cut by two tokenizers; null if both cut it in the same places. */
function stackedPassage(
  { content, cuts }: Pick<excerpts.Excerpt, "content" | "cuts">,
  [a, b]: readonly [number, number],
) {
  const bytes = encoder.encode(content);
  const [left, right] = [cuts[a]!, cuts[b]!];
  const [above, below] = [tokensOf(content, left), tokensOf(content, right)];
  const pieces: Child[] = [];
  let plainStart = 0;
  for (const span of spansOf(left.lengths, right.lengths)) {
    if (isCutAlike(span)) continue;
    pieces.push(plainText(bytes.subarray(plainStart, span.startByte)));
    plainStart = span.endByte;
    pieces.push(
      h(
        "span.x",
        h(`span.${colourOf(a)}`, tokenChips(above.slice(...span.left))),
        h(`span.${colourOf(b)}`, tokenChips(below.slice(...span.right))),
      ),
    );
    if (bytes[span.endByte - 1] === lineFeed) pieces.push(h("br"));
  }
  if (pieces.length === 0) return null;
  pieces.push(plainText(bytes.subarray(plainStart)));
  const counts = `This passage: ${countNoun(above.length, "token")} above, ${groupDigits(below.length)} below`;
  return h("div.passage", h("p.quiet", counts), h("p.text", { dir: "auto", tabindex: 0 }, pieces));
}
