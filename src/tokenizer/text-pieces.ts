import { normalize } from "../bytes/normalization.ts";
import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import { cutText } from "../pattern/cut-text.ts";
import { type AddedToken, type Cutting, tokensToFind } from "../text/cutting.ts";
import { Normalizer, PrefixSpace, type TextSink, TokenCutter } from "../text/links.ts";

/**
 * What a text is cut into before anything is merged: pretokens, and added tokens with the white space that they take. Joined,
 * the pieces are the text; a normalized one where the tokenizer normalizes, with the spaces where it puts some.
 *
 * The steps are those of `linksBefore`, one after the other: each then gives slices of what it takes.
 */
export function textPieces(cutting: Cutting, text: Uint8Array): Uint8Array[] {
  const { normalization, addsPrefixSpace, isLinewise, pattern } = cutting;
  const tokens = tokensToFind(cutting);
  const early = tokens.filter(({ normalized }) => !normalized);
  const late = tokens.filter(({ normalized }) => normalized);
  const changed = (section: Uint8Array, link: (next: TextSink) => TextSink): Uint8Array => {
    const pushed: Uint8Array[] = [];
    const first = link({ ...deaf, push: (bytes, start, end) => void pushed.push(bytes.slice(start, end)) });
    first.push(section, 0, section.length);
    first.end();
    return Buffer.concat(pushed);
  };
  const pretokens = (section: Uint8Array): Uint8Array[] => {
    const spaced = addsPrefixSpace ? changed(section, (next) => new PrefixSpace(next, isLinewise)) : section;
    return cutText(pattern, spaced).map((end, i, ends) => spaced.subarray(ends[i - 1] ?? 0, end));
  };
  if (normalization === null) {
    return cutAtTokens(early, text, (section) => cutAtTokens(late, section, pretokens));
  }
  const lateInForm = late.map((token) => ({ ...token, content: normalize(token.content, normalization) }));
  return cutAtTokens(early, text, (section) => {
    const inForm = changed(section, (next) => new Normalizer(normalization, next));
    return cutAtTokens(lateInForm, inForm, pretokens);
  });
}

const deaf: TextSink = { push() {}, end() {}, token() {}, stripBehind() {} };

/** A text cut at added tokens: each as it is in the text, and what `cut` makes of the text between them. */
function cutAtTokens(
  tokens: readonly AddedToken[],
  text: Uint8Array,
  cut: (section: Uint8Array) => Uint8Array[],
): Uint8Array[] {
  if (tokens.length === 0) return text.length === 0 ? [] : cut(text);
  const finder = new SpecialTokenFinder(tokens.map(({ content }) => new TextEncoder().encode(content)));
  finder.reset(text);
  const pieces: Uint8Array[] = [];
  /** The end of what is in `pieces`, and of the section that is being pushed. */
  let done = 0;
  let end = 0;
  /** The last piece is a token that begins here. */
  let tokenStart = 0;
  const cutter = new TokenCutter(tokens, {
    push: (_, from, to) => {
      end += to - from;
    },
    end: () => {
      if (end === done) return;
      for (const piece of cut(text.subarray(done, end))) pieces.push(piece);
      done = end;
    },
    token: (_, strippedBytes) => {
      tokenStart = done;
      const start = done + strippedBytes;
      done = end = start + finder.lengthAt(start, text.length);
      pieces.push(text.subarray(tokenStart, done));
    },
    stripBehind: (byteCount) => {
      if (byteCount === 0) return;
      done = end = end + byteCount;
      pieces[pieces.length - 1] = text.subarray(tokenStart, done);
    },
  });
  cutter.push(text, 0, text.length);
  cutter.end();
  return pieces;
}
