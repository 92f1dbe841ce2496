/*
 * Where pretokens begin, as formulas over masks: what they are written in, the classes of characters that they ask for, and a
 * formula for each family of patterns. The build makes loops of the kernel of them (scripts/generate-mask-loops.ts) and proves
 * that they are right for each named pattern (scripts/masks). docs/internals/masks.md explains it.
 */

/**
 * What a formula is made of. A mask says of each character of a text yes or no. A formula is given masks (which characters are
 * letters, which are digits), and computes where pretokens begin. It is written once, over this interface, and has two meanings:
 *
 *   prove-formula.ts         `Mask` is a boolean, the text comes character by character: the formula is compared with the automaton
 *   generate-mask-loops.ts   `Mask` is a variable of 64 bits, one for each byte: the formula becomes a loop of the kernel
 *
 * What an operator has to remember of the text before, it remembers itself: each call of an operator in a formula has its own
 * memory. So a formula calls the same operators in the same order, whatever the text.
 *
 * An operator may also look ahead. Behind the end of the text there is no character, and it is in no mask.
 */
export type Ops<Mask> = {
  and(...masks: Mask[]): Mask;
  or(...masks: Mask[]): Mask;
  not(mask: Mask): Mask;
  /** The mask of no character. */
  readonly none: Mask;

  /** Characters behind a character of `mask`. The first character of a text is behind none. */
  prev(mask: Mask): Mask;

  /** The last character of each run of `run`, unless the text ends with it. A run is as many neighbours as there are. */
  last(run: Mask): Mask;

  /** From each character of `start` that is in `hold`, up to the end of that run of `hold`. */
  span(start: Mask, hold: Mask): Mask;

  /**
   * Characters of `where` in a run of `run` behind which a character of `target` stands. `where` is a part of `run`, and no
   * character is in both `run` and `target`. Where the text ends with the run: `atEnd`.
   */
  before(where: Mask, run: Mask, target: Mask, atEnd: Mask): Mask;

  /** The first character of each run, and each `count`-th one behind it; with 0 only the first. */
  every(count: Count, run: Mask): Mask;

  /**
   * The contractions 's 't 're 've 'm 'll 'd, at such apostrophes. `fold`: capital letters count, too, and whatever else
   * equals one of the letters without regard to case. `apart`: none begins directly behind another one.
   */
  contractions(apostrophes: Mask, fold: Mask, apart: Mask): Contractions<Mask>;
};

export type Contractions<Mask> = {
  /** The apostrophe. */
  readonly first: Mask;
  /** The letters. */
  readonly inside: Mask;
  /** The character behind, if there is one. */
  readonly behind: Mask;
};

/** A number that the proof knows, and the kernel when a text is scanned: by its name. */
export type Count = { readonly name: string; readonly value: number };

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

/** Letters that contractions are made of. */
export const contractionLetters = "sdmtlvre";

const like = (text: string, ...classes: string[]): Example[] =>
  Array.from(text, (character) => ({ codePoint: character.codePointAt(0)!, classes }));

/** White space that ends no line, digits, and signs. */
const commonExamples = [...like("0", "digit"), ...like("\t", "white"), ...like("!")];

/** Examples are tried in order: "a" is in no contraction, so that what is like "s" but not like "a" is known as such. */
const plainClasses: ClassSystem = {
  ascii: plainAscii,
  examples: [...like(`a${contractionLetters}`, "letter"), ...commonExamples],
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
    // Neither letter nor sign: a control character, and one that is not assigned between the kana.
    ...like("\u0001"),
    ...like("\u3040", "kana"),
  ],
};

/** Classes of characters beyond ASCII, as the kernel knows them: what examples are. */
type Kind = {
  readonly classes: readonly string[];
  /** It counts as a letter of a contraction, such as the long s. */
  readonly isContractionLetter: boolean;
};

/** The kinds of a system, at most 8, and for each example its kind. */
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
 * Where pretokens begin: a formula for each family of patterns, over masks of classes of characters. An option is a mask too,
 * of all characters or of none, so that one loop of the kernel serves a whole family.
 *
 * Where `hard` is set, the formula makes no statement about this character and those behind it: the automaton reads on from
 * the last end before it.
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
  /** `'s|'t|…` comes first. */
  readonly contractions: Mask;
  /** Digits are split off before the pattern is asked: a split \p{N}{1,n}, which ends the text for what stands before it. */
  readonly digitsFirst: Mask;
};

/**
 *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *
 * A run of letters, digits or signs begins a pretoken, unless the space before it has begun it. `\s+(?!\S)` leaves the last
 * white character to what follows, so that one begins a pretoken: by itself, or as the space before a word.
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
  // At a digit that is split off the text ends, so `\s+(?!\S)` takes all white characters before it.
  const beforeDigit = ops.before(and(lastWhite, digitsFirst), white, digit, none);
  const begin = or(
    and(or(first(letter), first(sign)), apart),
    and(ops.every(digitCount, digit), or(apart, digitsFirst)),
    first(white),
    and(lastWhite, not(beforeDigit)),
  );
  const cut = ops.contractions(and(apostrophe, begin, options.contractions), none, none);
  return { begin: or(and(begin, not(cut.inside)), cut.behind), hard: none };
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
  /** `'s|'t|…` comes first. */
  readonly contractions: Mask;
  /** Contractions count in any case: (?i:…). */
  readonly fold: Mask;
  /** A `/` behind signs and line ends belongs to them, too: [\r\n/]*. */
  readonly slashes: Mask;
  /** White space that ends the text is one pretoken, whatever line ends are in it: \s++$. */
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
  // The apostrophe takes the letters behind it, with and without a contraction: what is new is where that ends.
  const cut = ops.contractions(and(classes.apostrophe, begin, options.contractions), options.fold, none);
  return { begin: or(begin, cut.behind), hard: none };
}

/** What is the same with letters of one kind and with case, contractions aside. */
function beginsOfModern<Mask>(
  ops: Ops<Mask>,
  classes: ModernClasses<Mask>,
  options: ModernOptions<Mask>,
  digitCount: Count,
): { begin: Mask; sign: Mask; opener: Mask } {
  const { and, or, not, prev } = ops;
  const { letter, digit, space, newline, slash } = classes;
  const anySign = not(or(letter, digit, classes.white));
  // Line ends behind signs belong to them, and so do slashes from the first line end on.
  const eaten = ops.span(and(newline, prev(anySign)), or(newline, and(slash, options.slashes)));
  const sign = and(anySign, not(eaten));
  const white = and(classes.white, not(eaten));
  const blank = and(classes.white, not(newline));
  // A sign that begins a pretoken takes the letters behind it, as a blank does.
  const opener = and(sign, not(prev(or(sign, space))));
  // `\s*[\r\n]+` ends behind the last line end of white space. The blanks behind it are a pretoken of their own.
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
  /** Capital letters, and title case. */
  readonly upper: Mask;
  /** Letters without case. */
  readonly caseless: Mask;
  /** Marks go with letters of any case; they are signs behind signs. */
  readonly mark: Mask;
};

type CasedOptions<Mask> = ModernOptions<Mask> & {
  /** Contractions are no pretokens, they end those of letters. Either they come first or they are suffixes. */
  readonly suffixes: Mask;
};

/**
 *     [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|…)?
 *     |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|…)?
 *     |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * Letters are cut where a capital follows a small one. What has no case counts as both: it stays with the capitals before it
 * and with the small letters before it. Capitals behind it go on with it, if a small letter or one without case ends their run;
 * if not, the first alternative has taken what stands before them.
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
    begin: or(and(begin, not(cutAway)), cut.behind),
    hard: or(
      // A mark behind two signs is one of them, and all that follows depends on it.
      and(mark, prev(and(uncased.sign, not(uncased.opener)))),
      // Behind a contraction letters begin anew, so they can be small by what was cut away.
      and(cut.behind, or(caseless, mark)),
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
  /** Han and kana, split off by the second split: letters, marks, signs and unassigned characters. */
  readonly kana: Mask;
  readonly white: Mask;
  readonly space: Mask;
  readonly newline: Mask;
};

/**
 * Three splits. A match of one ends the text for the pieces before it:
 *     \p{N}{1,3}
 *     [一-龥぀-ゟ゠-ヿ]+
 *     [!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * `rest` are characters that no alternative of the last split begins with, such as control characters. A run of them is one
 * pretoken, without the last one before a letter: that begins the letter's pretoken.
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
  // [!-/…][A-Za-z]+ takes letters of ASCII only.
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

/** Patterns that have one formula. */
export type Family = {
  readonly classes: ClassSystem;
  /** Each option with texts and the number of pretokens that one of them, at least, has where the option is on. */
  readonly options: Readonly<Record<string, readonly (readonly [string, number])[]>>;
  /** Classes that the formula asks for with an option only. */
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

/** In the order of their numbers in the kernel; each has two loops there, for texts as they are and for texts of lines. */
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
};

/** A family's formula, with the operators given; `lines`: a text ends behind every line feed. */
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
 * The operators for texts that end behind every line feed: what a formula says of a text with them, it says of each of its lines.
 * So a formula need not know of lines. A contraction or a group of digits never reaches over a line feed.
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
