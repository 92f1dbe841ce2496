/**
 * The classes of characters of a family's formula. In ASCII they are fixed: the kernel compares bytes. Beyond ASCII each
 * character has the classes of the *example* that the automaton treats alike, in all of its states. So a pattern with other
 * letters than \p{L} has a formula, too, if its automaton tells no more kinds of characters apart.
 */
export type ClassSystem = {
  /** Each class's ASCII characters. */
  readonly ascii: Readonly<Record<string, string>>;
  /**
   * Examples of characters beyond ASCII, or of ASCII characters like them, each with the classes of those that are like it.
   * Where two examples are alike, the first one counts.
   */
  readonly examples: readonly Example[];
};

export type Example = {
  readonly codePoint: number;
  readonly classes: readonly string[];
};

const lowerLetters = "abcdefghijklmnopqrstuvwxyz";
const upperLetters = lowerLetters.toUpperCase();
const digits = "0123456789";
const white = "\t\n\v\f\r ";

const plainAscii = {
  letter: lowerLetters + upperLetters,
  digit: digits,
  white,
  space: " ",
  newline: "\r\n",
  lineFeed: "\n",
  apostrophe: "'",
  slash: "/",
};
const { letter: _, ...uncasedAscii } = plainAscii;

/** Letters that contractions are made of. */
export const contractionLetters = "sdmtlvre";

const like = (text: string, ...classes: string[]): Example[] =>
  Array.from(text, (character) => ({ codePoint: character.codePointAt(0)!, classes }));

/** White space that ends no line, digits, and signs. */
const commonExamples = [...like("0", "digit"), ...like("\t", "white"), ...like("!")];

/** Examples are tried in order: "a" is in no contraction, so that what is like "s" but not like "a" is known as such. */
export const plainClasses: ClassSystem = {
  ascii: plainAscii,
  examples: [...like(`a${contractionLetters}`, "letter"), ...commonExamples],
};

export const casedClasses: ClassSystem = {
  ascii: { ...uncasedAscii, lower: lowerLetters, upper: upperLetters, caseless: "", mark: "" },
  examples: [
    ...like(`a${contractionLetters}`, "lower"),
    ...like("A", "upper"),
    ...like("ª", "caseless"),
    ...like("\u0301", "mark"),
    ...commonExamples,
  ],
};

const asciiSigns = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

export const deepseekClasses: ClassSystem = {
  ascii: {
    asciiLetter: lowerLetters + upperLetters,
    otherLetter: "",
    digit: digits,
    asciiSign: asciiSigns,
    otherSign: "",
    kana: "",
    white,
    space: " ",
    newline: "\r\n",
    lineFeed: "\n",
  },
  examples: [
    ...like("é", "otherLetter"),
    ...like("一", "otherLetter", "kana"),
    ...like("“", "otherSign"),
    ...like("・", "otherSign", "kana"),
    ...like("0", "digit"),
    ...like("\t", "white"),
    // Neither letter nor sign: a control character, and one that is not assigned between the kana.
    ...like("\u0001"),
    ...like("\u3040", "kana"),
  ],
};

/** Classes of characters beyond ASCII, as the kernel knows them: what examples are. */
export type Kind = {
  readonly classes: readonly string[];
  /** It counts as a letter of a contraction, such as the long s. */
  readonly isContractionLetter: boolean;
};

/** The kinds of a system, at most `kindCountMax`, and for each example its kind. */
export function kindsOf({ examples }: ClassSystem): {
  kinds: readonly Kind[];
  kindOfExample: readonly number[];
} {
  const kinds: Kind[] = [];
  const ids = new Map<string, number>();
  const kindOfExample = examples.map(({ codePoint, classes }) => {
    const isContractionLetter = contractionLetters.includes(String.fromCodePoint(codePoint));
    const key = `${classes} ${isContractionLetter}`;
    const id = ids.get(key) ?? kinds.push({ classes, isContractionLetter }) - 1;
    ids.set(key, id);
    return id;
  });
  return { kinds, kindOfExample };
}

export const kindCountMax = 8;
