import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { automatonDigest, type PatternTables } from "../../src/pattern/compiled-pattern.ts";
import { namedMasks } from "../../src/pattern/named-masks.ts";
import { type NamedPattern, patterns } from "../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../src/pattern/pattern.ts";
import { Pretokens } from "../../src/text/pretokens.ts";
import * as textParts from "../../src/text/text-part.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import { keepRecord, median } from "../record.ts";

/*
 * Compares two ways to find boundaries in the kernel, by masks and by four-byte tables: bun bench/split/masks.ts
 * FILE...
 */
const roundCount = 7;
const textBytesMax = 1 << 25;
const specialToken = Buffer.from("<|endoftext|>");

/** Counts a text repeatedly. */
class Counting {
  private readonly counter: WordCounter;
  private readonly pretokens: Pretokens;

  constructor(
    tables: PatternTables,
    masksBytes: number,
    private readonly text: Uint8Array,
  ) {
    this.counter = new WordCounter(text.length + 64);
    const after = { fourByteTablesBytes: 0, masksBytes };
    this.pretokens = new Pretokens([tables], [{ bytes: specialToken, id: 0 }], this.counter, after);
    this.counter.text(text.length).bytes.set(text);
  }

  /** Counts the text. Returns the processor time in user mode, in microseconds. */
  round(): number {
    const end = this.text.length;
    const before = process.cpuUsage();
    this.pretokens.searchText(end);
    this.pretokens.start(0, false);
    while (!this.pretokens.take(textParts.to(end)));
    return process.cpuUsage(before).user;
  }

  words(): string {
    const { bytes, starts, counts } = this.counter.toWordTable();
    const hash = new Bun.CryptoHasher("sha256");
    const order = Array.from(counts, (_, word) => word);
    const wordOf = (word: number) =>
      Buffer.from(bytes.subarray(starts[word]!, starts[word + 1]!)).toString("latin1");
    for (const line of order.map((word) => `${wordOf(word)} ${counts[word]}\n`).sort()) hash.update(line);
    return hash.digest("hex");
  }
}

const results: object[] = [];
for (const path of process.argv.slice(2)) {
  const text = readFileSync(path).subarray(0, textBytesMax);
  const isSeen = new Set<string>();
  for (const [name, { sources }] of Object.entries<NamedPattern>(patterns)) {
    const compiled = compiledPatterns.compile(sources);
    if (compiled.automata.length > 1 || isSeen.has(sources.join())) continue;
    isSeen.add(sources.join());
    const [tables] = compiled.automata as [PatternTables];
    if (namedMasks?.[automatonDigest(tables)] === undefined) continue;
    const ways = [Number.POSITIVE_INFINITY, 0].map((masksBytes) => new Counting(tables, masksBytes, text));
    for (const way of ways) way.round();
    if (ways[0]!.words() !== ways[1]!.words()) throw new Error(`${name} cuts ${path} in two ways`);
    const times: number[][] = [[], []];
    for (let round = 0; round < roundCount; round++) {
      for (const [i, way] of ways.entries()) times[i]!.push(way.round());
    }
    const [byTables, byMasks] = times.map((all) => Math.round(text.length / median(all)));
    console.log(`${basename(path)} ${name}: tables ${byTables} MB/s, masks ${byMasks} MB/s`);
    results.push({ text: basename(path), pattern: name, byTables, byMasks });
  }
}
keepRecord("masks", {
  unit: "MB of text a second of processor time, scanning and counting",
  roundCount,
  results,
});
