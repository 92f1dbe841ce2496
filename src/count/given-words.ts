import { described } from "../bytes/schema.ts";
import { textOf } from "../bytes/text.ts";
import { UserError } from "../errors.ts";
import { CountsFiles } from "./counts-files.ts";
import type { SpillingCounter } from "./spilling-counter.ts";

/** Words and their counts in memory. A word with several counts is added up. */
export type GivenWords = Iterable<readonly [word: string | Uint8Array, count: number]>;

/** @internal Counts files, and words that a caller of the library gives beside them. */
export class CountsFilesAndWords extends CountsFiles {
  constructor(
    paths: readonly string[],
    private readonly given: GivenWords,
  ) {
    super(paths);
  }

  /** Words that are given have no order. */
  override get hasUnsorted(): boolean {
    return true;
  }

  override *addUnsortedTo(counter: SpillingCounter): Generator<undefined, void> {
    yield* super.addUnsortedTo(counter);
    yield* counter.startTask(null);
    const encoder = new TextEncoder();
    let index = 0;
    for (const entry of this.given) {
      const [word, count] = checkedEntry(entry, index++);
      const bytes = typeof word === "string" ? encoder.encode(word) : word;
      counter.words.add(textOf(bytes), 0, bytes.length, count);
      if (index % wordsPerSlice !== 0) continue;
      yield;
      yield* counter.makeRoom();
    }
  }
}

/** So few that they have no more text than is counted between two checks of the memory. */
const wordsPerSlice = 1 << 15;

function checkedEntry(entry: unknown, index: number): readonly [string | Uint8Array, number] {
  const what = `wordCounts: entry ${index}`;
  if (!Array.isArray(entry) || entry.length !== 2) {
    throw new UserError(`${what} is ${described(entry)}: it must be a pair of a word and its count`, {
      hint: "a Map of words to counts has such entries; for a plain object, give Object.entries(object)",
    });
  }
  const [word, count] = entry;
  const isWord = typeof word === "string" ? word !== "" : word instanceof Uint8Array && word.length > 0;
  if (!isWord)
    throw new UserError(`${what} has the word ${described(word)}: it must be a string or bytes, not empty`);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new UserError(
      `${what} has the count ${described(count)}: it must be a whole number from 1 to 2^53 - 1`,
    );
  }
  return [word, count];
}
