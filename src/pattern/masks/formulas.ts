import type { Count, Ops } from "./operators.ts";

/*
 * Where pretokens begin: a formula for each family of patterns, over masks of classes of characters (class-systems.ts says
 * what is in them). An option is a mask too, of all characters or of none, so that one loop of the kernel serves all of a family.
 *
 * A formula need not know everything. Where `hard` is set, it says nothing of this character and of those behind it: the
 * automaton reads on from the last end before it.
 */
export type Boundaries<Mask> = { readonly begin: Mask; readonly hard: Mask };

export type Gpt2Classes<Mask> = {
  readonly letter: Mask;
  readonly digit: Mask;
  readonly white: Mask;
  readonly space: Mask;
  readonly apostrophe: Mask;
};

export type Gpt2Options<Mask> = {
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
export function gpt2<Mask>(
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

export type ModernClasses<Mask> = {
  readonly letter: Mask;
  readonly digit: Mask;
  readonly white: Mask;
  readonly space: Mask;
  readonly newline: Mask;
  readonly apostrophe: Mask;
  readonly slash: Mask;
};

export type ModernOptions<Mask> = {
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
export function modern<Mask>(
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

export type CasedClasses<Mask> = Omit<ModernClasses<Mask>, "letter"> & {
  readonly lower: Mask;
  /** Capital letters, and title case. */
  readonly upper: Mask;
  /** Letters without case. */
  readonly caseless: Mask;
  /** Marks go with letters of any case; they are signs behind signs. */
  readonly mark: Mask;
};

export type CasedOptions<Mask> = ModernOptions<Mask> & {
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
export function modernCased<Mask>(
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

export type DeepseekClasses<Mask> = {
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
 * Three splits, each the end of the text for what stands before it:
 *     \p{N}{1,3}
 *     [一-龥぀-ゟ゠-ヿ]+
 *     [!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * `rest` is what the last split has no alternative for, control characters for example: as many as there are stay together,
 * but for the last one before a letter, which the letter takes.
 */
export function deepseek<Mask>(
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
