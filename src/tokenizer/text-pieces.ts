import { cutText } from "#pattern";
import { type Cutting, sectionSettings, TextSections } from "#text";

/** The text between added tokens, changed as the tokenizer changes it before it cuts; or an added token, with its id. */
export type TextSection = { readonly bytes: Uint8Array; readonly id?: number };

/** The sections of a text, and the added tokens between them, with the white space that they take. */
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
 * What a text is cut into before anything is merged: pretokens, and added tokens with the white space that they take. Joined,
 * the pieces are the text; a normalized one where the tokenizer normalizes, with the spaces where it puts some.
 */
export function textPieces(cutting: Cutting, text: Uint8Array): Uint8Array[] {
  return sectionsOf(cutting, text).flatMap(({ bytes, id }) =>
    id === undefined ? pretokensOf(cutting, bytes) : [bytes],
  );
}

/** A section as its pretokens. */
export const pretokensOf = ({ pattern }: Cutting, section: Uint8Array): Uint8Array[] =>
  cutText(pattern, section).map((end, i, ends) => section.subarray(ends[i - 1] ?? 0, end));
