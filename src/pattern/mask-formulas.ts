/*
 * Formulas over masks that compute where pretokens begin: their operators, the classes of characters that they use, and
 * a formula for each family of patterns. The build turns the formulas into loops of the kernel
 * (scripts/generate-mask-loops.ts). A pattern is cut by a formula only if the build has proved that the formula is
 * right for it (scripts/masks). docs/internals/masks.md explains the method.
 */

/**
 * The operators of a formula. A mask has a bit for each character of a text. A formula receives masks (which characters
 * are letters, which are digits), and computes where pretokens begin. After the end of the text, all masks are 0.
 *
 * Each call of an operator that looks at neighbours, such as `prev`, keeps state of its own about the preceding text.
 * So a formula must call the same operators in the same order, whatever the text.
 *
 * A *run* of a mask is a longest sequence of adjacent characters that are all in the mask.
 */
export type Ops<Mask> = {
  and(...masks: Mask[]): Mask;
  or(...masks: Mask[]): Mask;
  not(mask: Mask): Mask;
  /** The empty mask. */
  readonly none: Mask;

  /**
   * Returns the characters whose previous character is in `mask`. The first character of a text has no previous one, so
   * it is never among them.
   */
  prev(mask: Mask): Mask;

  /** Returns the last character of each run of the mask, except for a run that ends the text. */
  last(run: Mask): Mask;

  /** For each character that is in `start` and in `hold`: returns it and all later characters of its run of `hold`. */
  span(start: Mask, hold: Mask): Mask;

  /**
   * Each character of `where` is in a run of the mask `run`. Returns those whose run is directly followed by a
   * character of `target`; `run` and `target` are disjoint. `atEnd` is the result for a run that ends the text.
   */
  before(where: Mask, run: Mask, target: Mask, atEnd: Mask): Mask;

  /** Returns the characters of `where` whose next character is in `target`. */
  follows(where: Mask, target: Mask): Mask;

  /**
   * Returns the first character of each run of the mask `run`, and every `count`-th character of the run after it; if
   * `count` is 0, only the first.
   */
  every(count: Count, run: Mask): Mask;

  /**
   * Returns the contractions 's 't 're 've 'm 'll 'd that begin at `apostrophes`. Where `fold` is set, letters match
   * without regard to case. Where `apart` is set, no contraction begins directly after another one.
   */
  contractions(apostrophes: Mask, fold: Mask, apart: Mask): Contractions<Mask>;
};

export type Contractions<Mask> = {
  /** The apostrophe. */
  readonly first: Mask;
  /** The letters. */
  readonly inside: Mask;
  /** The character after the contraction, if there is one. */
  readonly after: Mask;
};

/** A number. The proof uses its value, and the kernel's loop its name. */
export type Count = { readonly name: string; readonly value: number };

/**
 * The classes of characters of a family's formula. In ASCII they are fixed, because the kernel compares bytes. A
 * non-ASCII character has the classes of an *example*: a character that the automaton treats in the same way in all
 * states.
 */
export type ClassSystem = {
  /** The ASCII characters of each class. */
  readonly ascii: Readonly<Record<string, string>>;
  /**
   * Examples, each with the classes of the non-ASCII characters that the automaton treats like it. If the automaton
   * treats two examples alike, the first one counts.
   */
  readonly examples: readonly Example[];
};

type Example = {
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

/** The letters that contractions consist of. */
export const contractionLetters = "sdmtlvre";

const like = (text: string, ...classes: string[]): Example[] =>
  Array.from(text, (character) => ({ codePoint: character.codePointAt(0)!, classes }));

/** Examples for digits, whitespace that does not end a line, and signs. */
const commonExamples = [...like("0", "digit"), ...like("\t", "white"), ...like("!")];

/**
 * Classes in which "a" is the example for ordinary letters, because it is in no contraction. The letters of
 * contractions are examples, too: for letters that equal one of them without regard to case, such as the long s.
 */
const plainClasses: ClassSystem = {
  ascii: plainAscii,
  examples: [...like(`a${contractionLetters}`, "letter"), ...commonExamples],
};

const superwordClasses: ClassSystem = {
  ascii: plainAscii,
  examples: [...like("a", "letter"), ...commonExamples],
};

const casedClasses: ClassSystem = {
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

const deepseekClasses: ClassSystem = {
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
    // These characters are neither letter nor sign: a control character, and an unassigned one among the kana.
    ...like("\u0001"),
    ...like("\u3040", "kana"),
  ],
};

/** A kind of non-ASCII characters. The kernel distinguishes kinds by number. */
type Kind = {
  readonly classes: readonly string[];
  /** Whether these characters match a letter of a contraction, as the long s does. */
  readonly isContractionLetter: boolean;
};

/** Returns the kinds of a system of classes, and the kind of each example. */
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

/*
 * Each family of patterns has a formula over masks of classes of characters. Options are also masks, of all characters
 * or none, so that one loop of the kernel serves a whole family.
 *
 * The result of a formula is two masks. `begin` has the first characters of pretokens. At a character of `hard`, the
 * formula gives up: `begin` is not valid from that character on, and the automaton continues from the last boundary
 * before it.
 */
export type Boundaries<Mask> = { readonly begin: Mask; readonly hard: Mask };

type Gpt2Classes<Mask> = {
  readonly letter: Mask;
  readonly digit: Mask;
  readonly white: Mask;
  readonly space: Mask;
  readonly apostrophe: Mask;
};

type Gpt2Options<Mask> = {
  /** Whether `'s|'t|…` is the first alternative. */
  readonly contractions: Mask;
  /** Whether an earlier split \p{N}{1,n} cuts off digits, so that a piece of text ends before digits. */
  readonly digitsFirst: Mask;
};

/**
 *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *
 * Apart from contractions, a run of letters, digits or signs begins a pretoken, unless the space before it already did.
 * If other characters follow a run of whitespace, `\s+(?!\S)` leaves out the last character of the run. So that
 * character begins a pretoken: by itself, or as the space before a word.
 */
function gpt2<Mask>(
  ops: Ops<Mask>,
  classes: Gpt2Classes<Mask>,
  options: Gpt2Options<Mask>,
  digitCount: Count,
): Boundaries<Mask> {
  const { and, or, not, prev, none } = ops;
  const { letter, digit, white, space, apostrophe } = classes;
  const { digitsFirst } = options;
  const first = (run: Mask) => and(run, not(prev(run)));
  const sign = not(or(letter, digit, white));
  const apart = not(prev(space));
  const lastWhite = ops.last(white);
  // The text ends before a digit that is cut off, so `\s+(?!\S)` consumes all whitespace before it.
  const beforeDigit = ops.before(and(lastWhite, digitsFirst), white, digit, none);
  const begin = or(
    and(or(first(letter), first(sign)), apart),
    and(ops.every(digitCount, digit), or(apart, digitsFirst)),
    first(white),
    and(lastWhite, not(beforeDigit)),
  );
  const cut = ops.contractions(and(apostrophe, begin, options.contractions), none, none);
  return { begin: or(and(begin, not(cut.inside)), cut.after), hard: none };
}

type ModernClasses<Mask> = {
  readonly letter: Mask;
  readonly digit: Mask;
  readonly white: Mask;
  readonly space: Mask;
  readonly newline: Mask;
  readonly apostrophe: Mask;
  readonly slash: Mask;
};

type ModernOptions<Mask> = {
  /** Whether `'s|'t|…` is the first alternative. */
  readonly contractions: Mask;
  /** Whether contractions match without regard to case: (?i:…). */
  readonly fold: Mask;
  /** Whether slashes after signs and a line end also belong to the signs: [\r\n/]*. */
  readonly slashes: Mask;
  /** Whether whitespace at the end of the text is one pretoken, even with line ends in it: \s++$. */
  readonly endJoins: Mask;
};

/**
 *     (?i:'s|'t|…)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 */
function modern<Mask>(
  ops: Ops<Mask>,
  classes: ModernClasses<Mask>,
  options: ModernOptions<Mask>,
  digitCount: Count,
): Boundaries<Mask> {
  const { and, or, none } = ops;
  const { begin } = beginsOfModern(ops, classes, options, digitCount);
  // The apostrophe is joined with the letters after it, with or without a contraction. A contraction only ends that
  // pretoken earlier.
  const cut = ops.contractions(and(classes.apostrophe, begin, options.contractions), options.fold, none);
  return { begin: or(begin, cut.after), hard: none };
}

/** Returns the part that `modern` and `modernCased` have in common, without contractions. */
function beginsOfModern<Mask>(
  ops: Ops<Mask>,
  classes: ModernClasses<Mask>,
  options: ModernOptions<Mask>,
  digitCount: Count,
): { begin: Mask; sign: Mask; opener: Mask } {
  const { and, or, not, prev } = ops;
  const { letter, digit, space, newline, slash } = classes;
  const anySign = not(or(letter, digit, classes.white));
  // Line ends after signs belong to the signs. With the option `slashes`, so do slashes from the first line end on.
  const eaten = ops.span(and(newline, prev(anySign)), or(newline, and(slash, options.slashes)));
  const sign = and(anySign, not(eaten));
  const white = and(classes.white, not(eaten));
  const blank = and(classes.white, not(newline));
  // A sign that begins a pretoken is joined with the letters after it, as a blank is.
  const opener = and(sign, not(prev(or(sign, space))));
  // `\s*[\r\n]+` ends after the last line end of the whitespace. So the first blank after that line end begins a
  // pretoken.
  const indent = and(blank, prev(newline));
  const begin = or(
    and(letter, not(prev(or(letter, blank, opener)))),
    opener,
    ops.every(digitCount, digit),
    and(white, not(prev(white))),
    and(indent, not(ops.before(indent, blank, newline, options.endJoins))),
    and(blank, ops.last(classes.white)),
  );
  return { begin, sign, opener };
}

type CasedClasses<Mask> = Omit<ModernClasses<Mask>, "letter"> & {
  readonly lower: Mask;
  /** Capital letters and letters in title case. */
  readonly upper: Mask;
  /** Letters without case, such as ª. */
  readonly caseless: Mask;
  /** Marks, which count as letters without case, but as signs after a sign that does not begin its pretoken. */
  readonly mark: Mask;
};

type CasedOptions<Mask> = ModernOptions<Mask> & {
  /** Whether a contraction after letters is a suffix of their pretoken. */
  readonly suffixes: Mask;
};

/**
 *     [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|…)?
 *     |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|…)?
 *     |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * Capitals after a small letter begin a pretoken. Letters without case after a small letter count as small. Elsewhere,
 * capitals after a letter without case ("ªAB") continue the pretoken only if a small letter, or one without case,
 * follows these capitals. If not, the first alternative ends before them, and they begin a pretoken.
 */
function modernCased<Mask>(
  ops: Ops<Mask>,
  classes: CasedClasses<Mask>,
  options: CasedOptions<Mask>,
  digitCount: Count,
): Boundaries<Mask> {
  const { and, or, not, prev } = ops;
  const { lower, upper, caseless, mark } = classes;
  const { suffixes } = options;
  const letter = or(lower, upper, caseless, mark);
  const uncased = beginsOfModern(ops, { ...classes, letter }, options, digitCount);
  const tail = or(lower, caseless, mark);
  const small = ops.span(lower, tail);
  const again = and(upper, prev(or(caseless, mark)));
  const begin = or(
    uncased.begin,
    and(upper, prev(small)),
    and(again, not(ops.before(again, upper, tail, ops.none))),
  );
  const apostrophes = and(
    classes.apostrophe,
    or(and(begin, options.contractions), and(prev(letter), suffixes)),
  );
  const cut = ops.contractions(apostrophes, options.fold, suffixes);
  const cutAway = or(cut.inside, and(cut.first, suffixes));
  return {
    begin: or(and(begin, not(cutAway)), cut.after),
    hard: or(
      // A mark after two signs, or after a space and a sign, counts as a sign, which may change everything after it.
      and(mark, prev(and(uncased.sign, not(uncased.opener)))),
      // Letters after a contraction begin a pretoken, but `small` would continue from the letters of the contraction.
      // So the formula gives up where a letter without case, or a mark, follows a contraction.
      and(cut.after, or(caseless, mark)),
    ),
  };
}

type DeepseekClasses<Mask> = {
  readonly asciiLetter: Mask;
  /** Letters beyond ASCII, and marks. */
  readonly otherLetter: Mask;
  readonly digit: Mask;
  readonly asciiSign: Mask;
  readonly otherSign: Mask;
  /** Han and kana, which the second split cuts off: letters, marks, signs and unassigned characters. */
  readonly kana: Mask;
  readonly white: Mask;
  readonly space: Mask;
  readonly newline: Mask;
};

/**
 * Three splits. For the later ones, the text ends where a match of an earlier one begins:
 *     \p{N}{1,3}
 *     [一-龥぀-ゟ゠-ヿ]+
 *     [!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * `rest` has the characters that are no letters, marks, signs, digits or whitespace, such as control characters. A run
 * of them is one pretoken, except that the last one before a letter begins the letter's pretoken.
 */
function deepseek<Mask>(
  ops: Ops<Mask>,
  classes: DeepseekClasses<Mask>,
  _options: unknown,
  digitCount: Count,
): Boundaries<Mask> {
  const { and, or, not, prev, none } = ops;
  const { asciiLetter, otherLetter, digit, asciiSign, kana, space, newline } = classes;
  const first = (run: Mask) => and(run, not(prev(run)));
  const letter = or(asciiLetter, otherLetter);
  const sign = or(asciiSign, classes.otherSign);
  const rest = not(or(letter, sign, digit, classes.white));
  const cut = or(first(kana), and(not(kana), prev(kana)));
  const eaten = ops.span(prev(and(sign, not(kana))), newline);
  const white = and(classes.white, not(eaten));
  const blank = and(classes.white, not(newline));
  const opener = and(sign, or(cut, not(prev(or(sign, space)))));
  // The alternative [!-/…][A-Za-z]+ consumes only ASCII letters.
  const taken = ops.span(prev(and(opener, asciiSign)), asciiLetter);
  const indent = and(blank, prev(newline));
  const lastBlank = and(blank, ops.last(classes.white));
  const begin = or(
    ops.every(digitCount, digit),
    cut,
    opener,
    and(letter, not(or(taken, prev(or(letter, blank, rest))))),
    and(otherLetter, prev(taken)),
    first(white),
    and(indent, not(ops.before(indent, blank, newline, none))),
    and(lastBlank, not(ops.before(lastBlank, classes.white, or(digit, kana), none))),
    first(rest),
    ops.before(ops.last(rest), rest, and(letter, not(kana)), none),
  );
  return { begin, hard: and(kana, rest) };
}

type SuperwordClasses<Mask> = Omit<ModernClasses<Mask>, "apostrophe">;

/**
 *     \p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)
 *
 * The text between matches is a pretoken, too. The second alternative matches two or more signs (`several`); a single
 * sign belongs to the text around it. The third one matches a run of spaces: all of them before other whitespace or the
 * end of the text, otherwise all but the last.
 */
function superwords<Mask>(
  ops: Ops<Mask>,
  classes: SuperwordClasses<Mask>,
  _options: unknown,
  digitCount: Count,
): Boundaries<Mask> {
  const { and, or, not, prev, follows } = ops;
  const { letter, digit, white, space, newline, slash } = classes;
  const sign = not(or(letter, digit, white));
  const isBeforeSign = follows(sign, sign);
  const several = and(sign, or(prev(sign), isBeforeSign));
  // Line ends after two or more signs belong to the signs, and so do slashes from the first line end on.
  const eaten = ops.span(and(newline, prev(several)), or(newline, slash));
  const matched = or(several, eaten);
  const afterSpace = prev(space);
  // The first space of a run, except for a single space before a character that is not whitespace.
  const firstOfSpaces = and(space, not(afterSpace), not(follows(space, not(white))));
  const begin = or(
    ops.every(digitCount, digit),
    and(not(digit), prev(digit)),
    and(isBeforeSign, not(or(eaten, prev(or(sign, space))))),
    follows(space, isBeforeSign),
    and(not(matched), prev(matched)),
    firstOfSpaces,
    and(afterSpace, or(follows(space, not(white)), and(white, not(space)))),
  );
  // After a slash that belongs to earlier signs, a single sign is not matched, but `several` counts the slash as the
  // sign before it. So the formula gives up at any sign after such a slash.
  return { begin, hard: and(sign, not(eaten), prev(and(eaten, slash))) };
}

/** A family of patterns with the same formula. */
export type Family = {
  readonly classes: ClassSystem;
  /**
   * For each option, texts, each with a number of pretokens. The option is on if the pattern cuts at least one of the
   * texts into that many pretokens.
   */
  readonly options: Readonly<Record<string, readonly (readonly [string, number])[]>>;
  /** Classes that the formula uses only if the given option is on. */
  readonly classesOfOptions?: Readonly<Record<string, string>>;
  boundaries<Mask>(
    ops: Ops<Mask>,
    classes: Masks<Mask>,
    options: Masks<Mask>,
    digitCount: Count,
  ): Boundaries<Mask>;
};

type Masks<Mask> = Readonly<Record<string, Mask>>;

const modernOptions = {
  contractions: [["'sa", 2]],
  fold: [
    ["'Sa", 2],
    ["a'S", 1],
  ],
  slashes: [["!\r/", 1]],
  endJoins: [["\r ", 1]],
} as const;

/**
 * The families, in the order of their numbers in the kernel, which has two loops for each family: for whole texts and
 * for lines.
 */
export const families: Readonly<Record<string, Family>> = {
  gpt2: {
    classes: plainClasses,
    options: { contractions: [["'s", 1]], digitsFirst: [[" 1", 2]] },
    boundaries: gpt2,
  },
  modern: {
    classes: plainClasses,
    options: modernOptions,
    classesOfOptions: { slash: "slashes" },
    boundaries: modern,
  },
  modernCased: {
    classes: casedClasses,
    options: { ...modernOptions, suffixes: [["a's", 1]] },
    classesOfOptions: { slash: "slashes" },
    boundaries: modernCased,
  },
  deepseek: { classes: deepseekClasses, options: {}, boundaries: deepseek },
  superwords: { classes: superwordClasses, options: {}, boundaries: superwords },
};

/** Evaluates a family's formula with the given operators. If `lines` is set, each line is a text of its own. */
export function boundariesOf<Mask>(
  family: Family,
  lines: boolean,
  ops: Ops<Mask>,
  classes: Masks<Mask>,
  options: Masks<Mask>,
  digitCount: Count,
): Boundaries<Mask> {
  if (!lines) return family.boundaries(ops, classes, options, digitCount);
  const lineFeed = classes.lineFeed!;
  const { begin, hard } = family.boundaries(lineWise(ops, lineFeed), classes, options, digitCount);
  return { begin: ops.or(begin, ops.prev(lineFeed)), hard };
}

/**
 * Changes the operators so that each line, with its line feed, is a text of its own. Then a formula needs no code for
 * lines. `every` and `contractions` stay as they are, because a group of digits or a contraction never crosses a line
 * feed.
 */
function lineWise<Mask>(ops: Ops<Mask>, lineFeed: Mask): Ops<Mask> {
  const { and, or, not } = ops;
  const inLine = not(lineFeed);
  return {
    and,
    or,
    not,
    none: ops.none,
    every: ops.every,
    contractions: ops.contractions,
    prev: (mask) => ops.prev(and(mask, inLine)),
    last: (run) => and(ops.last(run), inLine),
    follows: (where, target) => ops.follows(and(where, inLine), target),
    span(start, hold) {
      const before = ops.span(start, and(hold, inLine));
      return or(before, and(hold, lineFeed, or(start, ops.prev(before))));
    },
    before(where, run, target, atEnd) {
      const ends = and(run, lineFeed, atEnd);
      const found = ops.before(and(where, inLine), and(run, inLine), or(target, ends), atEnd);
      return or(found, and(where, ends));
    },
  };
}
