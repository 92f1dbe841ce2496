import type { Contractions, Count, Ops } from "./operators.ts";

/**
 * The operators, one character at a time. An operator that looks ahead makes a *claim* about the next characters, and
 * remembers it: they confirm it or refute it. `nextChoices` goes through all claims that can be made at a character. A text
 * confirms exactly one way to claim, because each claim is either true of the text or not.
 *
 * Each call of an operator remembers one or two small numbers. The operator says what they mean.
 */
export class BitOps implements Ops<boolean> {
  readonly none = false;
  /** The character at hand contradicts what was claimed. */
  isRefuted = false;
  /** The text may end behind the character at hand: that contradicts no claim. */
  mayEnd = true;

  private letter = "";
  private remembered: readonly number[] = [];
  private readonly kept: number[] = [];
  private readonly choices: number[] = [];
  private readonly choiceCounts: number[] = [];
  private choiceIndex = 0;

  /** All choices are the first ones. */
  startChoices(): void {
    this.choices.length = 0;
  }

  /** The next way to choose at the same character; false if there is none. */
  nextChoices(): boolean {
    const { choices, choiceCounts } = this;
    while (choices.length > 0) {
      const last = choices.length - 1;
      if (++choices[last]! < choiceCounts[last]!) return true;
      choices.pop();
    }
    return false;
  }

  /** A character is at hand; `memory` is what was kept at the one before it, undefined at the first. */
  read(letter: string, memory: readonly number[] = []): void {
    this.letter = letter;
    this.remembered = memory;
    this.kept.length = 0;
    this.choiceIndex = 0;
    this.isRefuted = false;
    this.mayEnd = true;
  }

  /** What is remembered for the next character. */
  memory(): readonly number[] {
    return this.kept.slice();
  }

  private choose(count: number): number {
    const index = this.choiceIndex++;
    if (index === this.choices.length) this.choices.push(0);
    this.choiceCounts[index] = count;
    return this.choices[index]!;
  }

  private recall(): number {
    return this.remembered[this.kept.length] ?? 0;
  }

  private keep(value: number): void {
    this.kept.push(value);
  }

  readonly and = (...masks: boolean[]): boolean => {
    return masks.every(Boolean);
  };

  readonly or = (...masks: boolean[]): boolean => {
    return masks.some(Boolean);
  };

  readonly not = (mask: boolean): boolean => {
    return !mask;
  };

  /** Remembers the mask. */
  readonly prev = (mask: boolean): boolean => {
    const before = this.recall();
    this.keep(Number(mask));
    return before === 1;
  };

  /** Remembers itself. */
  readonly span = (start: boolean, hold: boolean): boolean => {
    const holds = (start || this.recall() === 1) && hold;
    this.keep(Number(holds));
    return holds;
  };

  /** Remembers the claim: 1, the run goes on or the text ends; 2, another character follows. */
  readonly last = (run: boolean): boolean => {
    const claim = this.recall();
    if (claim !== 0 && (claim === 1) !== run) this.isRefuted = true;
    const isLast = run && this.choose(2) === 1;
    if (isLast) this.mayEnd = false;
    this.keep(run ? (isLast ? 2 : 1) : 0);
    return isLast;
  };

  /** Remembers the claim for the run at hand: 1, no target behind it; 2, there is one. */
  readonly before = (where: boolean, run: boolean, target: boolean, atEnd: boolean): boolean => {
    let claim = this.recall();
    if (!run) {
      if (claim !== 0 && (claim === 2) !== target) this.isRefuted = true;
      this.keep(0);
      return false;
    }
    if (claim === 0 && where) claim = 1 + this.choose(2);
    if (claim !== 0 && (claim === 2) !== atEnd) this.mayEnd = false;
    this.keep(claim);
    return where && claim === 2;
  };

  /** Remembers the number of characters in the group at hand; with count 0, that there was one. */
  readonly every = ({ value: count }: Count, run: boolean): boolean => {
    const size = this.recall();
    const isFirst = run && (size === 0 || size === count);
    this.keep(!run ? 0 : isFirst || count === 0 ? 1 : size + 1);
    return isFirst;
  };

  /** Remembers how many characters of a contraction are ahead, the one behind it included; and a claim (see below). */
  readonly contractions = (apostrophes: boolean, fold: boolean, apart: boolean): Contractions<boolean> => {
    const ahead = this.recall();
    const isBehind = ahead === 1;
    const isCandidate = apostrophes && !(apart && isBehind);
    const letterCount = isCandidate ? this.choose(3) : 0;
    this.keep(letterCount > 0 ? letterCount + 1 : Math.max(ahead - 1, 0));
    const left = claimBehind(this.recall(), fold ? this.letter.toLowerCase() : this.letter);
    const claim = isCandidate ? claimsAtApostrophe[letterCount]! : left;
    if (left === refuted) this.isRefuted = true;
    if (claim >= oneLetter) this.mayEnd = false;
    this.keep(claim);
    return { first: letterCount > 0, inside: ahead > 1, behind: isBehind };
  };
}

// Claims of `contractions`. None follows:
const noClaim = 0;
const noContraction = 1;
const noL = 2;
const noE = 3;
// One follows: of one letter; of two; what the second one is.
const oneLetter = 4;
const twoLetters = 5;
const secondL = 6;
const secondE = 7;
const refuted = -1;

const claimsAtApostrophe = [noContraction, oneLetter, twoLetters];

/** What is left of a claim at a letter ("" for every other character). */
function claimBehind(claim: number, letter: string): number {
  switch (claim) {
    case noContraction:
      return letter === "s" ? refuted : letter === "l" ? noL : letter === "r" ? noE : noClaim;
    case noL:
      return letter === "l" ? refuted : noClaim;
    case noE:
      return letter === "e" ? refuted : noClaim;
    case oneLetter:
      return letter === "s" ? noClaim : refuted;
    case twoLetters:
      return letter === "l" ? secondL : letter === "r" ? secondE : refuted;
    case secondL:
      return letter === "l" ? noClaim : refuted;
    case secondE:
      return letter === "e" ? noClaim : refuted;
    default:
      return noClaim;
  }
}
