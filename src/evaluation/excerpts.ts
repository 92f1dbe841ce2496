import { differingPassages, type Passage, type SampleToken } from "./passages.ts";

export type { SampleToken };

/** A piece of a text with its tokens. It is valid UTF-8. */
export type Excerpt = {
  /** The name of the text. */
  readonly text: string;
  readonly content: string;
  /**
   * The ids of the tokens and their lengths in bytes, for each tokenizer. null for a tokenizer outside the largest
   * group of tokenizers that change the texts alike (`tokenizersAlike`), because its tokens may not spell `content`.
   */
  readonly cuts: readonly ({ readonly ids: readonly number[]; readonly lengths: readonly number[] } | null)[];
};

/** A text, or a sample of it, cut by each tokenizer. */
export type CutText = { readonly name: string; readonly cuts: readonly (readonly SampleToken[])[] };

/**
 * Returns the passages that the tokenizers of the largest group (`tokenizersAlike`) cut most differently; none if that
 * group has one tokenizer. For a single tokenizer, returns the whole texts. A passage or text that is not valid UTF-8
 * is left out.
 */
export function select(texts: readonly CutText[]): Excerpt[] {
  const tokenizerCount = texts[0]?.cuts.length ?? 0;
  if (tokenizerCount === 1)
    return texts.flatMap(({ name, cuts }) => excerptOf(name, { bytes: bytesOf(cuts[0]!), cuts }, [0], 1));
  const alike = tokenizersAlike(texts);
  if (alike.length < 2) return [];
  return texts.flatMap(({ name, cuts }) =>
    differingPassages(alike.map((t) => cuts[t]!)).flatMap((passage) =>
      excerptOf(name, passage, alike, tokenizerCount),
    ),
  );
}

/** Returns the largest group of tokenizers that leave the texts unchanged, or change them in the same way. */
function tokenizersAlike(texts: readonly CutText[]): number[] {
  const groups = new Map<string, number[]>();
  for (const t of texts[0]?.cuts.keys() ?? []) {
    const written = texts.map(({ cuts }) => bytesOf(cuts[t]!).toString("latin1")).join("\0");
    groups.set(written, [...(groups.get(written) ?? []), t]);
  }
  return [...groups.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Makes an excerpt of a passage. Returns an empty list if the passage is not valid UTF-8.
 *
 * @param alike the tokenizers of `passage.cuts`
 */
function excerptOf(
  text: string,
  passage: Passage,
  alike: readonly number[],
  tokenizerCount: number,
): Excerpt[] {
  let content: string;
  try {
    content = strict.decode(passage.bytes);
  } catch {
    return [];
  }
  const cuts = Array.from({ length: tokenizerCount }, (_, t) => {
    const tokens = passage.cuts[alike.indexOf(t)];
    return tokens === undefined
      ? null
      : { ids: tokens.map(({ id }) => id), lengths: tokens.map(({ bytes }) => bytes.length) };
  });
  return [{ text, content, cuts }];
}

const bytesOf = (tokens: readonly SampleToken[]) => Buffer.concat(tokens.map(({ bytes }) => bytes));
