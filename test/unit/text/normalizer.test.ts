import { describe, expect, test } from "bun:test";
import { randomSource } from "../../../bench/random.ts";
import * as normalForms from "../../../src/text/normalization.ts";
import { hfNormalizer } from "./hf-normalizer.ts";

const forms = normalForms.stepNames;
const seed = Number(process.env.TEST_SEED ?? 15);

/** Every character of the planes 0 to 2. */
const characters: string[] = [];
for (let point = 0; point < 0x30000; point++) {
  if (point < 0xd800 || point > 0xdfff) characters.push(String.fromCodePoint(point));
}

/**
 * Returns the texts whose form differs from HF's. Many are normalized at once, separated by a line feed, which begins a
 * new sequence in every form.
 */
function differing(texts: readonly string[], form: normalForms.Step): string[] {
  const split = (text: string) => text.split("\n");
  const wanted = split(hfNormalizer(form)(texts.join("\n")));
  const got = texts.map((text) => normalForms.normalize(text, form));
  return texts.filter((_, i) => got[i] !== wanted[i]);
}

describe("a text has HF's normal form", () => {
  for (const form of forms) {
    test(`${form}: each character between marks that may be reordered around it`, () => {
      // Puts each character between a mark of the highest class and one of the lowest, so that a mark between them
      // moves.
      const texts = characters
        .filter((character) => character !== "\n")
        .map((character) => `a\u0345${character}\u0334`);
      expect(differing(texts, form)).toEqual([]);
    });

    test(`${form}: the decomposition of each character`, () => {
      const texts = characters.map((character) => character.normalize("NFD"));
      expect(
        differing(
          [...new Set(texts)].filter((text) => text.length > 1),
          form,
        ),
      ).toEqual([]);
    });

    test(`${form}: sequences of characters that change`, () => {
      const random = randomSource(seed);
      const changing = characters.filter(
        (character) => character.normalize("NFKD") !== character || /\p{M}/u.test(character),
      );
      const bases = [..."aeE가각က\u{11131}\u{11347}\u{114b9}\u{11382}\u{113c2}\u{11935}\u{1611e}\u{16d67} "];
      const pool = [changing, changing, bases, characters.slice(0x20)];
      const texts = Array.from({ length: 20_000 }, () =>
        Array.from({ length: 1 + random.below(6) }, () => {
          const list = pool[random.below(pool.length)]!;
          return list[random.below(list.length)]!;
        }).join(""),
      );
      expect({ seed, texts: differing(texts, form) }).toEqual({ seed, texts: [] });
    });
  }
});
