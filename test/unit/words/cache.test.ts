import { beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { makePlan } from "../../../src/words/cache.ts";
import * as cacheDirectory from "../../../src/words/cache-directory.ts";
import {
  makeEntry,
  readSum,
  readSumHeader,
  type SumTerm,
  sumFileParts,
  verifyEntry,
} from "../../../src/words/cache-entries.ts";
import * as countsFormat from "../../../src/words/counts-format.ts";
import { put, scratch } from "../../binary.ts";
import { canPlayOthers, giveAway, makePipe } from "../../other-user.ts";
import { randomNumbers } from "../../random.ts";
import { rounds, turns } from "../../rounds.ts";
import { wordTableOf } from "./generators.ts";
import { countCached, countPlain, filesOf, type Ran, type RunOptions, randomText } from "./world.ts";

const found = { documentCount: 1, invalidByteCount: 0, firstInvalidByte: -1, textBytes: 1 };
const sumOf = (text: string): SumTerm[] => [...timesOf(text)].map(([id, times]) => [id, times, found]);
/** "aab" means a content a, which occurs twice, and a content b. */
const timesOf = (text: string) => {
  const times = new Map<string, number>();
  for (const id of text) times.set(id, (times.get(id) ?? 0) + 1);
  return times;
};

/**
 * Returns a plan for the words of `wanted` as one line: the sum that it uses, the contents that it adds and subtracts,
 * and those that it counts.
 */
function planFor(wanted: string, entries: string, ...sums: string[]): string {
  const plan = makePlan(timesOf(wanted), (id) => entries.includes(id), sums.map(sumOf));
  const sum = plan.sumIndex === undefined ? "" : sums[plan.sumIndex]!;
  return `${sum} + ${plan.added.join("")} - ${plan.removed.map(([id, times]) => id.repeat(times)).join("")}, count ${[...plan.missing].join("")}`;
}

test("a plan counts missing contents, adds up the others, and uses a sum if that is less to read", () => {
  for (const [plan, wanted, entries, ...sums] of [
    [" +  - , count abc", "abc", ""],
    [" + b - , count ac", "abc", "bx"],
    ["abcdef +  - , count ", "abcdef", "abcdef", "abcdef"],
    ["abcdex + f - x, count ", "abcdef", "abcdefx", "abcdex"],
    [" + abc - , count ", "abc", "abcxyz", "axyz"],
    ["abcde + f - , count ", "abcdef", "abcdef", "abcd", "abcde"],
    // The entry that would have to be subtracted from the sum was removed.
    [" + abcdef - , count ", "abcdef", "abcdef", "abcdex"],
    // The sum includes contents whose entries were removed.
    ["abc +  - , count ", "abc", "", "abc"],
    ["abc +  - , count d", "abcd", "", "abc"],
    // Contents that occur several times.
    ["ab + aa - , count ", "aaab", "ab", "ab"],
    ["bbcdef +  - b, count ", "bcdef", "bcdef", "bbcdef"],
    // The corpus has the text "a" twice. The sum has it once, and "a" has no entry. So "a" must be counted anyway,
    // which gives both occurrences, and the sum is not used.
    [" + b - , count a", "aab", "b", "ab"],
  ] as const) {
    expect(planFor(wanted, entries, ...sums)).toBe(plan);
  }
});

const home = scratch();

let cache = "";
let cacheCount = 0;
beforeEach(() => {
  cache = join(home, `cache-${cacheCount++}`);
});

let fileCount = 0;
const text = (seed: number, wordCount = 300) => put(home, `text-${fileCount++}`, randomText(seed, wordCount));
const sizeOf = (...paths: string[]) => paths.reduce((sum, path) => sum + statSync(path).size, 0);

/** Counts with the cache, and checks that the result is the same as without. */
async function count(paths: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const ran = await countCached(cache, paths, options);
  const plain = await countPlain(paths, options.specialTokens);
  expect(ran.words).toEqual(plain.words);
  expect(ran.statistics).toEqual(plain.statistics);
  return ran;
}

describe("only new contents are counted", () => {
  test("with any number of workers, and if memory is short", async () => {
    const paths = [text(1), text(2), text(3, 3000), text(4, 1)];
    const changed = [paths[0]!, text(5), paths[2]!, paths[3]!, text(6)];
    for (const workers of [1, ...turns([3, 2, 7], 0)]) {
      for (const wordBytesMax of [1e12, 0]) {
        cache = join(home, `cache-${cacheCount++}`);
        const first = await count(paths, { workers, wordBytesMax });
        expect([first.countedBytes, first.hashedBytes]).toEqual([sizeOf(...paths), 0]);
        const again = await count(paths, { workers, wordBytesMax });
        expect([again.countedBytes, again.hashedBytes]).toEqual([0, 0]);
        const third = await count(changed, { workers, wordBytesMax });
        expect(third.countedBytes).toBe(sizeOf(changed[1]!, changed[4]!));
        expect([...first.warnings, ...again.warnings, ...third.warnings]).toEqual([]);
      }
    }
  }, 600_000);

  test("by as many threads as the remaining work is worth", async () => {
    const paths = [text(11), text(12), text(13, 3000)];
    const asked: number[] = [];
    const workerCountFor = (textBytes: number) => {
      asked.push(textBytes);
      return 1;
    };
    await count(paths.slice(0, 2), { workers: 7, workerCountFor });
    await count(paths, { workers: 7, workerCountFor });
    await count(paths, { workers: 7, workerCountFor });
    expect(asked).toEqual([sizeOf(...paths.slice(0, 2)), sizeOf(paths[2]!), 0]);
  });

  test("whatever is added, removed, restored, named twice or renamed", async () => {
    const pool = Array.from({ length: 12 }, (_, i) => text(20 + i, 40 * i));
    const random = randomNumbers(7);
    for (let round = 0; round < rounds(30); round++) {
      const chosen = pool.filter(() => random(3) > 0);
      if (random(3) === 0) chosen.push(pool[random(12)]!, pool[random(12)]!);
      if (random(4) === 0) {
        const copy = join(home, `copy-${round}`);
        copyFileSync(pool[random(12)]!, copy);
        chosen.push(copy);
      }
      if (random(4) === 0) writeFileSync(pool[random(12)]!, randomText(100 + round, 1 + random(500)));
      if (sizeOf(...chosen) === 0) continue;
      const ran = await count(chosen, { laterMs: random(2) * 10_000 });
      expect({ round, warnings: ran.warnings }).toEqual({ round, warnings: [] });
    }
  });

  test("with a sum, whose terms are the files", async () => {
    const paths = Array.from({ length: 10 }, (_, i) => text(40 + i));
    await count(paths);
    expect(filesOf(cache, ".sum").length).toBe(1);
    // Without entries, only the sum can be used.
    for (const entry of filesOf(cache, ".words")) rmSync(entry);
    const ran = await count([...paths, text(60)]);
    expect(ran.countedBytes).toBe(sizeOf(text(60)));
    expect(filesOf(cache, ".sum").length).toBe(2);
    await count([...paths, text(60), text(61)]);
    expect(filesOf(cache, ".sum").length).toBe(2);
  });

  test("by content: a touched file is hashed, not counted", async () => {
    const path = text(70);
    await count([path]);
    utimesSync(path, 1000, 1000);
    const touched = await count([path]);
    expect([touched.countedBytes, touched.hashedBytes]).toEqual([0, sizeOf(path)]);
    const again = await count([path]);
    expect([again.countedBytes, again.hashedBytes]).toEqual([0, 0]);
  });

  test("a file that was changed within the last two seconds is always hashed", async () => {
    const path = text(71);
    await count([path], { laterMs: 1500 });
    const again = await count([path], { laterMs: 1500 });
    expect([again.countedBytes, again.hashedBytes]).toEqual([0, sizeOf(path)]);
  });

  test("a file that is truncated, removed or replaced while it is counted is not cached, and not an error", async () => {
    const changes = [
      (path: string) => truncateSync(path, 10),
      (path: string) => rmSync(path),
      (path: string) => copyFileSync(text(61), path),
    ];
    for (const change of changes) {
      for (const laterMs of [0, 10_000]) {
        const paths = [text(60), text(62)];
        const plain = await countPlain(paths);
        const ran = await countCached(cache, paths, { laterMs, meanwhile: () => change(paths[0]!) });
        expect([ran.words, ran.warnings]).toEqual([plain.words, []]);
        if (!existsSync(paths[0]!)) copyFileSync(paths[1]!, paths[0]!);
        await count(paths);
      }
    }
  });

  test("another text of the same size, with the old modification time, in the same file or another", async () => {
    const path = put(home, "swapped", "one two three");
    const { atime, mtime } = statSync(path);
    await count([path]);
    await Bun.sleep(20);
    writeFileSync(path, "six two three");
    utimesSync(path, atime, mtime);
    expect((await count([path])).countedBytes).toBe(13);
    put(home, "other", "ten two three");
    utimesSync(join(home, "other"), atime, mtime);
    renameSync(join(home, "other"), path);
    expect((await count([path])).countedBytes).toBe(13);
  });

  test("options are distinguished, and the order of special tokens does not matter", async () => {
    const path = put(home, "tokens", "a<x>b<y>c <x><y>");
    const [x, y] = ["<x>", "<y>"];
    for (const specialTokens of [[], [x!], [y!], [x!, y!]]) {
      expect((await count([path], { specialTokens })).countedBytes).toBe(16);
    }
    expect((await count([path], { specialTokens: [y!, x!] })).countedBytes).toBe(0);
    expect((await count([path], { specialTokens: [y!, x!], version: "2" })).countedBytes).toBe(16);
  });

  test("empty files and files without words are cached", async () => {
    const paths = [put(home, "empty", ""), put(home, "only", "<x><x>"), text(72)];
    expect((await count(paths, { specialTokens: ["<x>"] })).countedBytes).toBe(sizeOf(...paths));
    expect((await count(paths, { specialTokens: ["<x>"] })).countedBytes).toBe(0);
  });

  test("records and compressed text", async () => {
    const lines = '{"text":"one two","body":"three"}\n'.repeat(20);
    const paths = [
      put(home, "records.jsonl", lines),
      put(home, "records.txt", lines),
      put(home, "text.gz", Bun.gzipSync(new Uint8Array(randomText(73, 4000)))),
    ];
    expect((await count(paths)).countedBytes).toBe(sizeOf(...paths));
    const ran = await count(paths);
    expect([ran.countedBytes, ran.hashedBytes]).toEqual([0, 0]);
  });
});

describe("a cache that is damaged", () => {
  const paths = Array.from({ length: 6 }, (_, i) => text(80 + i, 60));
  const more = [...paths.slice(1), text(90, 60)];

  /** Returns a cache that has the words of `paths`, and is not damaged yet. */
  async function filled(): Promise<string> {
    const path = join(home, `cache-${cacheCount++}`);
    await countCached(path, paths);
    return path;
  }

  const damages: Record<string, (path: string, random: (bound: number) => number) => void> = {
    "has a bit that flipped": (path, random) => {
      const bytes = readFileSync(path);
      bytes[random(bytes.length)]! ^= 1 << random(8);
      writeFileSync(path, bytes);
    },
    "is cut short": (path, random) => truncateSync(path, random(statSync(path).size)),
    "is empty": (path) => truncateSync(path, 0),
    "is longer": (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from("x")])),
    "is something else": (path, random) => writeFileSync(path, randomText(random(1000), 50)),
  };

  test("gives the same words, with a warning, and is repaired", async () => {
    const random = randomNumbers(11);
    const template = await filled();
    const plain = new Map([
      [paths, await countPlain(paths)],
      [more, await countPlain(more)],
    ]);
    const kinds = Object.keys(damages);
    let warningCount = 0;
    for (let round = 0; round < rounds(150); round++) {
      rmSync(cache, { recursive: true, force: true });
      mkdirSync(cache);
      for (const name of readdirSync(template)) {
        if (!name.startsWith(".")) copyFileSync(join(template, name), join(cache, name));
      }
      // With the sum of the cache, few entries are read; without it, all of them.
      if (random(2) === 0) rmSync(filesOf(cache, ".sum")[0]!);
      const files = [".words", ".sum", "index"].flatMap((kind) => filesOf(cache, kind));
      for (const path of files.filter(() => random(3) === 0)) {
        damages[kinds[random(3) === 0 ? random(kinds.length) : 0]!]!(path, random);
      }
      for (const chosen of [random(2) === 0 ? paths : more, more]) {
        const { words, statistics, warnings } = await countCached(cache, chosen);
        expect({ round, words, statistics }).toEqual({ round, ...plain.get(chosen)! });
        for (const warning of warnings) {
          expect(warning).toMatch(/^"[^"]+(\.words|\.sum|bpe-index)" is damaged: /);
          warningCount++;
        }
      }
      const last = await countCached(cache, more);
      expect({ round, bytes: last.countedBytes, warnings: last.warnings }).toEqual({
        round,
        bytes: 0,
        warnings: [],
      });
    }
    expect(warningCount).toBeGreaterThan(rounds(150));
  }, 600_000);

  test("is not trusted if a sum is valid, but for other words than its entries", async () => {
    await count(paths);
    const [path] = filesOf(cache, ".sum");
    const header = readSumHeader(path!);
    const wrong = wordTableOf([["a", 1]]);
    writeFileSync(path!, Buffer.concat(sumFileParts(wrong, header, header.terms)));
    const { warnings, countedBytes } = await count(more);
    expect(warnings).toEqual([`"${path}" is damaged: its entries will be added up again`]);
    expect(countedBytes).toBe(sizeOf(more.at(-1)!));
  });

  test("is not trusted if a sum lists a content twice, or its words are not a table", async () => {
    await count(paths);
    const [path] = filesOf(cache, ".sum");
    const [header, table] = [readSumHeader(path!), readSum(path!)];
    const half = { ...table, counts: table.counts.map((occurrences) => occurrences + 0.5) };
    for (const parts of [
      sumFileParts(table, header, [...header.terms, header.terms[0]!]),
      sumFileParts(half, header, header.terms),
    ]) {
      writeFileSync(path!, Buffer.concat(parts));
      const { warnings } = await count(paths);
      expect(warnings).toEqual([`"${path}" is damaged: its entries will be added up again`]);
    }
  });

  test("is not trusted if an entry has words that were made with other options", async () => {
    const [only] = paths;
    await count([only!]);
    rmSync(filesOf(cache, ".sum")[0]!);
    const [path] = filesOf(cache, ".words");
    const countsPath = join(cache, "counts");
    const otherOptions = { patterns: ["a+"], specialTokens: [], isLinewise: false };
    writeFileSync(
      countsPath,
      Buffer.concat([...countsFormat.fileChunks(wordTableOf([["aa", 3]]), otherOptions)]),
    );
    const id = cacheDirectory.entryIdOf(basename(path!))!;
    makeEntry(countsPath, path!, id, verifyEntry(path!, id));
    const { warnings } = await count([only!]);
    expect(warnings).toEqual([`"${path}" is damaged: its text will be counted again`]);
  });
});

describe("a cache", () => {
  test("used by several runs at the same time serves each of them", async () => {
    const sets = Array.from({ length: 6 }, (_, i) => [text(200 + i), text(201 + i), text(300), text(301)]);
    for (let round = 0; round < 3; round++) {
      await Promise.all(sets.map((paths) => count(paths)));
    }
    for (const paths of sets) expect((await count(paths)).countedBytes).toBe(0);
  });

  test("emptied during use costs only time", async () => {
    const paths = [text(210), text(211), text(212)];
    await count(paths);
    const runs = Array.from({ length: 10 }, () => count([...paths, text(213)]));
    for (const kind of [".words", ".sum"]) for (const path of filesOf(cache, kind)) rmSync(path);
    await Promise.all(runs);
  });

  test("stays within its limit: the least recently used files are removed, except for files that this run needs", async () => {
    const [old, used, fresh] = [text(220, 2000), text(221, 2000), text(222, 2000)];
    await count([old]);
    await count([used]);
    const age = (path: string, s: number) => utimesSync(path, Date.now() / 1000 - s, Date.now() / 1000 - s);
    for (const path of [...filesOf(cache, ".words"), ...filesOf(cache, ".sum")]) age(path, 1000);
    await count([used]);
    const before = new Set(filesOf(cache, ".words"));
    const { warnings } = await count([used, fresh], { limitBytes: 1 });
    expect(warnings.length).toBe(1);
    expect(warnings[0]).toContain("--cache-limit");
    const kept = filesOf(cache, ".words");
    expect(kept.length).toBe(2);
    expect(kept.filter((path) => before.has(path)).length).toBe(1);
    expect((await count([used, fresh])).countedBytes).toBe(0);
    expect((await count([old])).countedBytes).toBe(sizeOf(old));
  });

  test("leaves other files alone", async () => {
    mkdirSync(cache);
    const foreign = ["notes.txt", "bpe-notes", "bpe-0123456789abcdef-1-2.words", "x.sum", ".hidden"];
    for (const name of foreign) put(cache, name, name);
    mkdirSync(join(cache, `bpe-0123456789abcdef-1-${"0".repeat(64)}.words`));
    await count([text(230), text(231)], { limitBytes: 0 });
    for (const name of foreign) expect(readFileSync(join(cache, name), "utf8")).toBe(name);
    expect(existsSync(join(cache, `bpe-0123456789abcdef-1-${"0".repeat(64)}.words`))).toBe(true);
  });

  test("that cannot be written is reported once, and the run continues", async () => {
    const path = text(232);
    await count([path]);
    const entry = filesOf(cache, ".words")[0]!;
    rmSync(entry);
    for (const sum of filesOf(cache, ".sum")) rmSync(sum);
    // A directory has the name of the entry, so the new entry cannot be renamed to it.
    mkdirSync(join(entry, "in the way"), { recursive: true });
    const { warnings } = await count([path, text(233)]);
    expect(warnings.length).toBe(2);
    expect(warnings[0]).toContain(`${basename(entry)}" is not used (it is a directory)`);
    expect(warnings[1]).toContain("this run stores nothing more");
  });
});

describe("in a directory that others may write to", () => {
  const files = () => readdirSync(cache).map((name) => join(cache, name));

  test("a pipe or a link in place of a file is not used, and reported", async () => {
    const paths = [text(240), text(241)];
    await count(paths);
    const plant = [makePipe, (path: string) => symlinkSync(join(home, "elsewhere"), path)];
    put(home, "elsewhere", "mine");
    for (const kind of [".words", ".sum", "index"]) {
      for (const make of plant) {
        const path = filesOf(cache, kind)[0]!;
        if (kind === ".words") for (const sum of filesOf(cache, ".sum")) rmSync(sum);
        rmSync(path);
        make(path);
        const { warnings } = await count(paths);
        expect(warnings.length).toBe(1);
        expect(warnings[0]).toContain(`"${path}" is not used`);
        expect(readFileSync(join(home, "elsewhere"), "utf8")).toBe("mine");
        expect((await count(paths)).warnings).toEqual([]);
      }
    }
  });

  test("unused files are left to their owner", async () => {
    const paths = [text(247)];
    await count(paths);
    const pipe = filesOf(cache, ".sum")[0]!.replace(/\w{16}\.sum$/, "0123456789abcdef.sum");
    makePipe(pipe);
    for (let n = 0; n < 2; n++) expect((await count(paths)).warnings.length).toBe(1);
    expect(statSync(pipe).isFIFO()).toBe(true);
  });

  test("all files have the permissions that the umask leaves", async () => {
    for (const umask of [0o022, 0o002, 0o077]) {
      const before = process.umask(umask);
      try {
        cache = join(home, `cache-${cacheCount++}`);
        await count([text(242), text(243)]);
        await count([text(244)], { wordBytesMax: 0 });
      } finally {
        process.umask(before);
      }
      const modes = new Set(files().map((path) => statSync(path).mode & 0o7777));
      expect([...modes]).toEqual([0o666 & ~umask]);
    }
  });

  test("users admitted by its owner share it, and where everybody may write, other users' files are not used", async () => {
    if (!canPlayOthers()) return;
    const paths = [text(245), text(246)];
    await count(paths);
    giveAway(...files());
    chmodSync(cache, 0o2770);
    expect(await count(paths)).toMatchObject({ countedBytes: 0, warnings: [] });
    giveAway(...files());
    for (const mode of [0o777, 0o1777]) {
      chmodSync(cache, mode);
      giveAway(...files());
      const ran = await count(paths);
      expect(ran.countedBytes).toBe(sizeOf(...paths));
      expect(ran.warnings.map((warning) => warning.replace(/".*"/, ""))).toEqual([
        " is not used: it belongs to another user (uid 65534), and everybody may write to its directory",
        "the cache  is world-writable: 3 files of other users are not used",
      ]);
      expect((await count(paths)).countedBytes).toBe(0);
    }
  });
});
