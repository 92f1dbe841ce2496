import { expect, test } from "bun:test";
import * as vocabularyStatistics from "../../../src/evaluation/vocabulary-statistics.ts";
import { runSliced } from "../../../src/runtime/slices.ts";
import { plainSpecial } from "../../../src/text/cutting.ts";
import * as tokenShapes from "../../../src/tokenizer/token-shape.ts";
import type { TokenTable } from "../../../src/tokenizer/token-table.ts";
import * as tokenTables from "../../../src/tokenizer/token-table.ts";
import { randomNumbers } from "../../random.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("the longest tokens with letters come first, of equally long ones the lower id, and no special tokens", async () => {
  const texts = ["aa", "b", "cccc", "dd", "eeee", "<|special|>", "f", "ggg"];
  const tokens = tokenTables.build(texts.map((text, id) => [id, bytes(text)] as const));
  const special = [{ id: 5, content: "<|special|>", ...plainSpecial }];
  const longest = async (count: number) =>
    (await runSliced(vocabularyStatistics.of(tokens, special, count))).longestIds;
  expect(await longest(3)).toEqual([2, 4, 7]);
  expect(await longest(5)).toEqual([2, 4, 7, 0, 3]);
  expect(await longest(100)).toEqual([2, 4, 7, 0, 3, 1, 6]);
});

test("white-space tokens and separator tokens are counted, and are not among the longest", async () => {
  const texts = ["     ", "-------", "the", "\n\n", "....", "    <|x|>", " "];
  const tokens = tokenTables.build(texts.map((text, id) => [id, bytes(text)] as const));
  const special = [{ id: 5, content: "    <|x|>", ...plainSpecial }];
  const found = await runSliced(vocabularyStatistics.of(tokens, special, 3));
  expect(found).toMatchObject({ longestIds: [2], whitespaceCount: 2, separatorCount: 2 });
});

test("a large vocabulary is processed in slices", () => {
  const tokens = tokenTables.build(Array.from({ length: 100_000 }, (_, id) => [id, bytes("x")] as const));
  const work = vocabularyStatistics.of(tokens, [], 2);
  let sliceCount = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) sliceCount++;
  expect(sliceCount).toBeGreaterThan(5);
  expect(step.value).toMatchObject({ size: 100_000, idLimit: 100_000, longestIds: [0, 1], invalidCount: 0 });
});

async function sharesOf(
  table: TokenTable,
  ...merges: Parameters<typeof vocabularyStatistics.scriptClasses>[1][]
) {
  return runSliced(
    vocabularyStatistics.scriptShares(
      await runSliced(vocabularyStatistics.scriptClasses(table, ...merges)),
      table,
      [],
    ),
  );
}

test("the scripts of common characters agree with Unicode's regular expressions", async () => {
  const scriptsOf = async (texts: readonly Uint8Array[]) => {
    const found: string[] = [];
    for (const text of texts) {
      const [share] = await sharesOf(tokenTables.build([[0, text]]));
      found.push(share!.name);
    }
    return found;
  };
  const texts: string[] = [];
  for (let code = 0; code < 0x2200; code++) {
    const character = String.fromCodePoint(code);
    texts.push(character, ` ${character}1`, `.${character}`, `“${character}b`);
  }
  // A soft hyphen has no script, but its presence avoids the shortcut for common characters.
  expect(await scriptsOf(texts.map(bytes))).toEqual(
    await scriptsOf(texts.map((text) => bytes(`${text}\u00ad`))),
  );
  const broken = [[0x80], [0x61, 0xc3], [0xe2, 0x80], [0x61, 0xff, 0x62]].map((list) =>
    Uint8Array.from(list),
  );
  expect(new Set(await scriptsOf(broken))).toEqual(new Set(["no valid UTF-8"]));
});

test("the script of a token derived from its halves is that of its bytes", async () => {
  const characters = [..."the 12 αβ при 中字 ひ カ 한 של ไ ªº—.-- \u00a0\u2003\n\tÿé!🙂\x01"].map((text) =>
    bytes(text),
  );
  const below = randomNumbers(7);
  // Whole characters, their first bytes, and the remaining bytes.
  const tokens = characters.flatMap((whole) => [whole, whole.subarray(0, 1), whole.subarray(1)]);
  const merges: [left: number, right: number, merged: number][] = [];
  const merge = (left: number, right: number) => {
    tokens.push(Buffer.concat([tokens[left]!, tokens[right]!]));
    merges.push([left, right, tokens.length - 1]);
  };
  for (const [i, { length }] of characters.entries()) if (length > 1) merge(3 * i + 1, 3 * i + 2);
  while (merges.length < 3000) {
    const [left, right] = [below(tokens.length), below(tokens.length)];
    if (tokens[left]!.length > 0 && tokens[right]!.length > 0) merge(left, right);
  }
  const table = tokenTables.build(tokens.map((token, id) => [id, token] as const));
  const [left, right, merged] = [0, 1, 2].map((i) => Int32Array.from(merges, (ids) => ids[i]!));
  const halves = { left: left!, right: right!, merged: merged! };
  const shares = await sharesOf(table);
  expect(shares.length).toBeGreaterThan(12);
  expect(await sharesOf(table, halves)).toEqual(shares);
  const classes = await runSliced(vocabularyStatistics.scriptClasses(table, halves));
  const shapes = tokens.map((token) => tokenShapes.of(token, 0, token.length));
  const lettered = shapes.filter((_, id) => classes[id]! <= vocabularyStatistics.lastLetters);
  expect(lettered.length).toBeGreaterThan(100);
  expect(new Set(lettered)).toEqual(new Set(["letters"]));
});
