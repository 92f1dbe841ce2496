import { counted, grouped } from "../bytes/quantities.ts";
import { codePointAt, lineFeed, space } from "../bytes/text.ts";
import { isUnspaced } from "../evaluation/text-words.ts";
import { keyHtml } from "./charts.ts";
import { type Html, html, plainSigns, type Section, signedHtml, tokenText, trustedHtml } from "./html.ts";
import { jsonForPage } from "./packed-vocabulary.ts";
import type { Passage, Sample, SampleToken, TextComparison } from "./report-data.ts";

/** Texts cut into tokens by one tokenizer. Null without texts. */
export function sampleSection(samples: readonly Sample[]): Section | null {
  if (samples.length === 0) return null;
  return {
    id: "samples",
    title: "Texts cut into tokens",
    isWide: true,
    text: "Beginnings of texts. Each colour is a token; ␣ is a space, ‿ a no-break space, ▫ another one. The id of a token shows under the pointer, or by the arrow keys.",
    content: html`${samples.map(
      ({ name, cuts }) => html`<h3>${name}</h3>
${cuts.map(cutHtml)}`,
    )}`,
  };
}

/** A text that is cut into bytes has many. */
const shownTokensMax = 400;

function cutHtml(all: readonly SampleToken[]): Html {
  const tokens = all.slice(0, shownTokensMax);
  const byteCount = sum(all.map(({ bytes }) => bytes.length));
  return html`<p class="quiet">${grouped(all.length)} tokens, ${(byteCount / Math.max(1, all.length)).toFixed(2)} bytes per token</p>
<p class="text" dir="auto" tabindex="0">${tokens.map(
    (token, i) => html`${chipHtml(token)}${endsLine(token, tokens[i + 1]) ? html`<br>` : undefined}`,
  )}${all.length > tokens.length ? " …" : undefined}</p>
<details><summary>Ids</summary><p class="ids">${tokens.map(({ id }) => `${id} `)}</p></details>`;
}

const chipHtml = ({ id, bytes }: SampleToken) =>
  html`<i data-id="${id}" data-n="${bytes.length}">${tokenText(bytes)}</i>`;

/** The last of some line feeds ends the line. */
const endsLine = ({ bytes }: SampleToken, next: SampleToken | undefined) =>
  bytes.at(-1) === lineFeed && next?.bytes[0] !== lineFeed;

/** Consecutive tokens of two tokenizers that hold the same bytes: no border within them is one of both. */
export type Span = { readonly startByte: number; readonly endByte: number } & Readonly<
  Record<"left" | "right", readonly [first: number, end: number]>
>;

/** The spans of a text, from the lengths of its tokens: of its two cuts the same bytes. */
export function spansOf(left: readonly number[], right: readonly number[]): Span[] {
  const spans: Span[] = [];
  let [i, j, startByte] = [0, 0, 0];
  while (i < left.length) {
    const [firstLeft, firstRight] = [i, j];
    let [leftEnd, rightEnd] = [startByte + left[i++]!, startByte + right[j++]!];
    while (leftEnd !== rightEnd) {
      if (leftEnd < rightEnd) leftEnd += left[i++]!;
      else rightEnd += right[j++]!;
    }
    spans.push({ startByte, endByte: leftEnd, left: [firstLeft, i], right: [firstRight, j] });
    startByte = leftEnd;
  }
  return spans;
}

const isCutAlike = ({ left, right }: Span) => left[1] - left[0] === 1 && right[1] - right[0] === 1;

/** The least bytes of a passage, and the tokens of any cut that make it as long; it ends at the next line feed or space at which all tokenizers have a border. */
const passageBytes = 240;
const passageTokens = 72;
/** What is left at the end of a text is a passage only if it is not shorter. */
const restBytes = 40;
/** Passages that are shown of a text. */
const passagesMax = 3;

/**
 * The passages of a text in which tokenizers differ most, by the borders per byte that are not those of all. First counts what has
 * letters and was not shown before; so repetitions, rules of tables and the like come last. Empty if all cut the text alike. All
 * cuts are of the same bytes.
 */
export function differingPassages(cuts: readonly (readonly SampleToken[])[]): Passage[] {
  const left = passagesOf(cuts)
    .map((passage) => ({ passage, places: differencesOf(passage) }))
    .filter(
      ({ passage: { bytes }, places }, i) => places.length > 0 && (i === 0 || bytes.length >= restBytes),
    );
  const chosen: Passage[] = [];
  const seen = new Set<string>();
  while (chosen.length < passagesMax && left.length > 0) {
    const ranked = left.map((one, at) => {
      const fresh = new Map(
        one.places.filter(({ text }) => !seen.has(text)).map((place) => [place.text, place]),
      );
      const lettered = [...fresh.values()].filter(({ text }) => /\p{L}/u.test(text));
      const share = (places: readonly Difference[]) =>
        sum(places.map(({ borders }) => borders)) / Math.max(1, one.passage.bytes.length);
      return { at, keys: [share(lettered), share(one.places)] as const };
    });
    const best = ranked.reduce((a, b) =>
      b.keys[0] > a.keys[0] || (b.keys[0] === a.keys[0] && b.keys[1] > a.keys[1]) ? b : a,
    );
    const [{ passage, places }] = left.splice(best.at, 1) as [(typeof left)[0]];
    for (const { text } of places) seen.add(text);
    chosen.push(passage);
  }
  return chosen;
}

/** A stretch between borders of all cuts, and how many borders within it only some have. */
type Difference = { readonly text: string; readonly borders: number };

function differencesOf({ bytes, cuts }: Passage): Difference[] {
  const counts = new Map<number, number>();
  for (const cut of cuts) for (const end of endsOf(cut)) counts.set(end, (counts.get(end) ?? 0) + 1);
  const differences: Difference[] = [];
  let [start, borders] = [0, 0];
  for (const end of [...counts.keys()].sort((a, b) => a - b)) {
    if (counts.get(end)! < cuts.length) borders++;
    else {
      const text = Buffer.from(bytes.subarray(start, end)).toString();
      if (borders > 0) differences.push({ text, borders });
      [start, borders] = [end, 0];
    }
  }
  return differences;
}

function endsOf(tokens: readonly SampleToken[]): number[] {
  let end = 0;
  return tokens.map(({ bytes }) => (end += bytes.length));
}

/** The text in passages: each is of whole tokens, whoever cuts it. */
function passagesOf(cuts: readonly (readonly SampleToken[])[]): Passage[] {
  const text = bytesOf(cuts[0]!);
  const ends = cuts.map(endsOf);
  /** How many tokens of a cut end up to its borders. */
  const places = ends.map((some) => new Map(some.map((end, i) => [end, i + 1])));
  const shared = ends[0]!.filter((end) => places.every((some) => some.has(end)));
  const passages: Passage[] = [];
  const taken = cuts.map(() => 0);
  let start = 0;
  for (const end of shared) {
    const isBetweenWords = end === text.length || isSpace(text[end - 1]!) || isSpace(text[end]!);
    const length = Math.max(
      (end - start) / passageBytes,
      ...cuts.map((_, t) => (places[t]!.get(end)! - taken[t]!) / passageTokens),
    );
    // A text without spaces is cut between characters, and a word only if it is long.
    const isEnd = (isBetweenWords || isUnspaced(codePointAt(text, end, text.length))) && length >= 1;
    if (!isEnd && !(isCharacter(text[end]) && length >= 1.5) && end !== text.length) continue;
    const parts = cuts.map((cut, t) => {
      const first = taken[t]!;
      taken[t] = places[t]!.get(end)!;
      return cut.slice(first, taken[t]);
    });
    passages.push({ bytes: text.subarray(start, end), cuts: parts });
    start = end;
  }
  return passages;
}

/** Whether a character begins with the byte. */
const isCharacter = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) !== 0x80;

const isSpace = (byte: number) => byte === space || byte === lineFeed;

export const bytesOf = (tokens: readonly SampleToken[]) => Buffer.concat(tokens.map(({ bytes }) => bytes));

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/**
 * The passages that tokenizers cut most differently, two tokenizers at a time: text that both cut alike is plain, and of all
 * else the tokens of both stand one above the other. The page's script shows other pairs. Null with nothing to show.
 */
export function textComparisonSection({
  tokenizers,
  pair,
  texts,
  textCount,
  unlike,
}: TextComparison): Section | null {
  const shown = texts.filter(({ passages }) => passages.length > 0);
  if (shown.length === 0) return null;
  const isChosen = tokenizers.length > 2;
  return {
    id: "differences",
    title: "Where they cut differently",
    isWide: true,
    text: html`The passages of the beginning (16 KB) of ${texts.length < textCount ? `the first ${counted(texts.length, "text")}` : "each text"} that are cut most differently. What both tokenizers cut alike is
      plain text. Elsewhere the tokens of one stand above those of the other. ␣ is a space, ⇥ a tab, ↵ a new line, ‿ a no-break space, ▫ another one.${
        unlike.length === 0
          ? undefined
          : ` Not compared, because they change the texts before they cut them: ${unlike.join(", ")}.`
      }`,
    content: html`${isChosen ? choosers(tokenizers, pair) : undefined}
<p class="pair-names">${(["above", "below"] as const).map((place, side) => {
      const { index, name } = tokenizers[pair[side]!]!;
      return html`<span class="${place}" data-side="${side}">${keyHtml(index)}${place}: <b>${name}</b></span> `;
    })}</p>
${shown.map(
  ({ name, passages }) => html`<h3>${name}</h3>
<div class="passages">${passages.map(({ bytes, cuts }) => passageHtml({ bytes, cuts: pair.map((t) => cuts[t]!) }))}</div>`,
)}
${isChosen ? html`<script type="application/json" id="passages">${trustedHtml(jsonForPage(shown.map(({ passages }) => passages.map(packPassage))))}</script>` : undefined}`,
  };
}

/** For the page's script: the text as Latin-1, and of each tokenizer the lengths and ids of its tokens. */
const packPassage = ({ bytes, cuts }: Passage) => [
  Buffer.from(bytes).toString("latin1"),
  cuts.map((cut) => cut.map((token) => token.bytes.length)),
  cuts.map((cut) => cut.map(({ id }) => id)),
];

/** The page's script shows them where there are more than two tokenizers. */
const choosers = (tokenizers: TextComparison["tokenizers"], pair: TextComparison["pair"]) =>
  html`<p class="choosers" hidden>${["above", "below"].map(
    (place, side) =>
      html`<label>${place} <select data-side="${side}">${tokenizers.map(
        ({ index, name }, i) =>
          html`<option value="${i}" data-colour="${index}"${i === pair[side] ? html` selected` : undefined}>${name}</option>`,
      )}</select></label> `,
  )}</p>`;

/** The two cuts of a passage. page-script.js does the same with any two. */
export function passageHtml({ bytes, cuts: [left, right] }: Passage): Html {
  const lengthsOf = (tokens: readonly SampleToken[]) => tokens.map((token) => token.bytes.length);
  const pieces: Html[] = [];
  let plainStart = 0;
  // The page's script shows it, where the chosen tokenizers cut it differently.
  let isHidden: Html | undefined = html` hidden`;
  const plainTo = (end: number) => {
    if (end > plainStart) pieces.push(signedHtml(bytes.subarray(plainStart, end), plainSigns));
  };
  for (const span of spansOf(lengthsOf(left!), lengthsOf(right!))) {
    if (isCutAlike(span)) continue;
    plainTo(span.startByte);
    plainStart = span.endByte;
    isHidden = undefined;
    pieces.push(
      html`<span class="x"><span class="above">${left!.slice(...span.left).map(chipHtml)}</span><span class="below">${right!.slice(...span.right).map(chipHtml)}</span></span>${bytes[span.endByte - 1] === lineFeed ? html`<br>` : undefined}`,
    );
  }
  plainTo(bytes.length);
  return html`<div class="passage"${isHidden}><p class="quiet">${countsText(left!.length, right!.length)}</p><p class="text" dir="auto" tabindex="0">${pieces}</p></div>`;
}

const countsText = (left: number, right: number) => `${grouped(left)} tokens above, ${grouped(right)} below`;
