import { allocateText, type Text } from "../bytes/text.ts";
import type { WordCounter } from "../words/word-counter.ts";
import { noWord, WordIndex } from "../words/word-index.ts";

/**
 * The tokens that runs are made of: whole pretokens.
 *
 *   ARRAY    TYPE          LENGTH       MEANING
 *   bytes    Uint8Array    byteCount    the pretokens end to end
 *   starts   Uint32Array   count + 1    run token t is bytes[starts[t] .. starts[t + 1])
 */
export type RunTokens = { readonly count: number; readonly bytes: Uint8Array; readonly starts: Uint32Array };

/** Bytes of a run token where runs are counted: a run of three is a word of six bytes, or of twelve. */
export const runTokenBytes = ({ count }: RunTokens): 2 | 4 => (count <= 0x10000 ? 2 : 4);

/** Runs that are gathered before they are counted. */
const gatheredBytesMax = 1 << 14;

/**
 * Takes the pretokens of documents, and counts their runs: two or more run tokens that follow each other, as many as there
 * are. A run is a word for the counter: the numbers of its tokens, low bytes first.
 *
 * "of the , of" with run tokens "of" and " the" has one run, which is 00 00 01 00 if "of" is 0 and " the" is 1.
 */
export class RunCounter {
  private content = allocateText(0);
  private readonly index = new WordIndex();
  private readonly tokenBytes: 2 | 4;
  /** Whole runs, and behind them the one that is at work, which begins at `runStart`. */
  private gathered = new Uint8Array(2 * gatheredBytesMax);
  private length = 0;
  private runStart = 0;
  private runEnds: number[] = [0];

  constructor(
    tokens: RunTokens,
    private readonly counter: Pick<WordCounter, "text" | "count">,
  ) {
    this.tokenBytes = runTokenBytes(tokens);
    const { count, bytes, starts } = tokens;
    for (let token = 0; token < count; token++) {
      this.index.add(bytes, starts[token]!, starts[token + 1]!, token);
    }
  }

  /** The text whose pretokens are taken; its content stays when it grows. */
  text(capacityBytes: number): Text {
    const { content } = this;
    const larger = allocateText(capacityBytes);
    if (larger.bytes.length > content.bytes.length) {
      larger.bytes.set(content.bytes);
      this.content = larger;
    }
    return this.content;
  }

  /** Takes pretokens [ends[i], ends[i + 1]) of the text, for i from 0 to endCount - 2. */
  count(ends: Int32Array, endCount: number): void {
    const { index } = this;
    const { bytes } = this.content;
    for (let i = 0; i + 1 < endCount; i++) {
      const token = index.find(bytes, ends[i]!, ends[i + 1]!);
      if (token === noWord) this.endRun();
      else this.append(token);
    }
  }

  /** The document ends, or is cut where no run can cross. */
  endDocument(): void {
    this.endRun();
  }

  /** Counts the runs that were gathered; none is at work. */
  flush(): void {
    const { counter, gathered, runEnds, length } = this;
    if (runEnds.length === 1) return;
    counter.text(length).bytes.set(gathered.subarray(0, length));
    counter.count(Int32Array.from(runEnds), runEnds.length);
    this.length = 0;
    this.runStart = 0;
    this.runEnds = [0];
  }

  private append(token: number): void {
    const { tokenBytes } = this;
    if (this.length + tokenBytes > this.gathered.length) {
      const longer = new Uint8Array(2 * this.gathered.length);
      longer.set(this.gathered);
      this.gathered = longer;
    }
    const { gathered } = this;
    for (let shift = 0; shift < 8 * tokenBytes; shift += 8) gathered[this.length++] = token >>> shift;
  }

  private endRun(): void {
    if (this.length - this.runStart <= this.tokenBytes) {
      this.length = this.runStart;
      return;
    }
    this.runEnds.push(this.length);
    this.runStart = this.length;
    if (this.length >= gatheredBytesMax) this.flush();
  }
}
