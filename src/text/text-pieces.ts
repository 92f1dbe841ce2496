import { cutText } from "#pattern";
import { type Cutting, sectionSettings } from "./cutting.ts";
import { TextSections } from "./text-sections.ts";

/** Text between two added tokens, after normalization; or an added token, with its id. */
export type TextSection = { readonly bytes: Uint8Array; readonly id?: number };

/** Splits a text into sections and added tokens. An added token includes the whitespace that it strips. */
export function sectionsOf(cutting: Cutting, text: Uint8Array): TextSection[] {
  const found: TextSection[] = [];
  let pushed: Uint8Array[] = [];
  const sections = new TextSections(sectionSettings(cutting));
  sections.open(cutting.specialTokensAsText ?? false);
  sections.pushText(text, 0, text.length, {
    push: (bytes, start, end) => void pushed.push(bytes.slice(start, end)),
    end: () => {
      found.push({ bytes: Buffer.concat(pushed) });
      pushed = [];
    },
    token: (id, bytes, start, end) => void found.push({ bytes: Buffer.from(bytes.slice(start, end)), id }),
    strip: (bytes, start, end) => {
      const { bytes: token, id } = found.pop()!;
      found.push({ bytes: Buffer.concat([token, bytes.subarray(start, end)]), id: id! });
    },
  });
  return found;
}

/**
 * Splits a text into the pieces that are encoded one by one: pretokens, and added tokens with the whitespace that they
 * strip. Joined, the pieces are the normalized text, with prefix spaces if the tokenizer adds them.
 */
export function of(cutting: Cutting, text: Uint8Array): Uint8Array[] {
  return sectionsOf(cutting, text).flatMap(({ bytes, id }) =>
    id === undefined ? pretokensOf(cutting, bytes) : [bytes],
  );
}

export const pretokensOf = ({ pattern }: Cutting, section: Uint8Array): Uint8Array[] =>
  cutText(pattern, section).map((end, i, ends) => section.subarray(ends[i - 1] ?? 0, end));
