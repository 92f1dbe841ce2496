import { expect, test } from "bun:test";
import { makePlan } from "../../src/store/cache-plan.ts";
import type { SumTerm } from "../../src/store/cache-sums.ts";

const found = { documentCount: 1, invalidByteCount: 0, firstInvalidByte: -1, textBytes: 1 };
const sumOf = (text: string): SumTerm[] => [...timesOf(text)].map(([id, times]) => [id, times, found]);
/** "aab" is a content a, which occurs twice, and a content b. */
const timesOf = (text: string) => {
  const times = new Map<string, number>();
  for (const id of text) times.set(id, (times.get(id) ?? 0) + 1);
  return times;
};

/** How the plan gets at the words of `wanted`, as one line. */
function planFor(wanted: string, entries: string, ...sums: string[]): string {
  const plan = makePlan(timesOf(wanted), (id) => entries.includes(id), sums.map(sumOf));
  const sum = plan.sumIndex === undefined ? "" : sums[plan.sumIndex]!;
  return `${sum} + ${plan.added.join("")} - ${plan.removed.map(([id, times]) => id.repeat(times)).join("")}, count ${[...plan.missing].join("")}`;
}

test("what is not there is counted, the rest is added up", () => {
  expect(planFor("abc", "")).toBe(" +  - , count abc");
  expect(planFor("abc", "bx")).toBe(" + b - , count ac");
});

test("a sum is taken if it is less to read", () => {
  expect(planFor("abcdef", "abcdef", "abcdef")).toBe("abcdef +  - , count ");
  expect(planFor("abcdef", "abcdefx", "abcdex")).toBe("abcdex + f - x, count ");
  expect(planFor("abc", "abcxyz", "axyz")).toBe(" + abc - , count ");
  expect(planFor("abcdef", "abcdef", "abcd", "abcde")).toBe("abcde + f - , count ");
});

test("a sum is no use if what must be taken off it is gone", () => {
  expect(planFor("abcdef", "abcdef", "abcdex")).toBe(" + abcdef - , count ");
});

test("a sum stands for entries that are gone", () => {
  expect(planFor("abc", "", "abc")).toBe("abc +  - , count ");
  expect(planFor("abcd", "", "abc")).toBe("abc +  - , count d");
});

test("contents may occur several times", () => {
  expect(planFor("aaab", "ab", "ab")).toBe("ab + aa - , count ");
  expect(planFor("bcdef", "bcdef", "bbcdef")).toBe("bbcdef +  - b, count ");
  // The second a would have to be counted, and is in the sum already.
  expect(planFor("aab", "b", "ab")).toBe(" + b - , count a");
});
