/**
 * What a formula is made of. A mask says of each character of a text yes or no. A formula is given masks (which characters are
 * letters, which are digits), and computes where pretokens begin. It is written once, over this interface, and has two meanings:
 *
 *   prove.ts                 `Mask` is a boolean, the text comes character by character: the formula is compared with the automaton
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
