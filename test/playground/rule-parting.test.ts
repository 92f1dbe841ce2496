import { expect, test } from "bun:test";
import { train as naiveTrain } from "../../examples/learn.ts";
import { PlaygroundJob, rules } from "../../src/playground/playground-job.ts";

const settings = { vocabSize: 300, pattern: "gpt2", specialTokens: [], compat: "cs336" as const };
const compared = (text: string, vocabSize = 300) =>
  new PlaygroundJob(() => {}).rules({ corpus: { text, files: [] }, settings: { ...settings, vocabSize } });
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

test("rules diverge where naive trainers diverge, and each picks what its naive trainer picks", async () => {
  const text = "low low lower newest widest abab baba\nzx xz zx\n wider older\n";
  const { parting, same } = await compared(text);
  const naive = rules.map((rule) =>
    naiveTrain(text, 300, rule).merges.map(({ left, right }) => [left, right]),
  );
  const apart = (a: string[][], b: string[][]) => a.findIndex((pair, m) => String(pair) !== String(b[m]));
  for (const { rules: both, merges } of same) {
    const [a, b] = both.map((rule) => naive[rules.indexOf(rule)]!) as [string[][], string[][]];
    expect(merges).toBe(apart(a, b) < 0 ? Math.min(a.length, b.length) : apart(a, b));
  }
  expect(parting!.same).toBe(Math.min(...same.map(({ merges }) => merges)));
  parting!.choices.forEach(({ rule, taken, tied, tiedCount }, i) => {
    expect(rule).toBe(rules[i]!);
    expect([latin1(taken!.left), latin1(taken!.right)]).toEqual(naive[i]![parting!.same]!);
    expect(tied.every(({ count }) => count === taken!.count)).toBe(true);
    expect(tiedCount).toBeGreaterThan(1);
  });
  expect(parting!.isTie).toBe(true);
});

test("rules that count differently diverge without a tie, and on a text without ties no rules diverge", async () => {
  // HF's trainer reads lines, so a pretoken that crosses line ends becomes several.
  const lines = await compared(`${"\n\n".repeat(9)}${"ab ".repeat(3)}`, 260);
  expect(lines.parting!.isTie).toBe(false);
  const plain = await compared("aaa aaa", 257);
  expect(plain.parting).toBeNull();
});

test("all tied pairs are counted, even thousands", async () => {
  const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const text = letters.flatMap((left) => letters.map((right) => `${left}${right}\n`)).join("");
  const { parting } = await compared(text, 257);
  expect(parting!.choices.map(({ tiedCount }) => tiedCount)).toEqual(rules.map(() => 52 * 52));
  expect(parting!.choices.map(({ tied }) => tied.length)).toEqual(rules.map(() => 12));
});

test("a rule that does not accept the pattern is reported, and the others are compared", async () => {
  const job = new PlaygroundJob(() => {});
  const corpus = { text: "low low lower", files: [] };
  const { refused, mergeCounts } = await job.rules({ corpus, settings: { ...settings, pattern: "[a-z]+" } });
  expect(refused).toEqual([{ rule: "rustbpe", reason: expect.stringContaining("leave text unmatched") }]);
  expect(mergeCounts.map(({ rule }) => rule)).toEqual(["huggingface", "cs336"]);
});
