import { expect, test } from "bun:test";
import { mayLeaveGaps, type NamedPattern, patterns } from "../../src/pattern/pattern.ts";

test.each(
  Object.entries<NamedPattern>(patterns),
)("%s, where it is one regular expression, takes every character", (_, { sources }) => {
  if (sources.length === 1) expect(mayLeaveGaps(sources[0]!)).toBe(false);
});

test.each([
  "\\S+|\\s",
  "(?:a?b|[^b])|b",
  "\\w+ ?|[^\\w]",
  "(?>a|[^a])",
  "(\\d{1,3}|\\D)+",
  "a++b?|[^a]",
  "a*(?:[\\s\\S])",
])("%s takes every character", (source) => expect(mayLeaveGaps(source)).toBe(false));

test.each([
  "\\S+",
  "[0-9]+",
  "\\s+(?!\\S)|\\S",
  "[^a]|aa",
  "a*+a|[^a]",
  "(?>a?)a|[^a]",
  "[^a]|a{2}",
  "[^a]|^a",
  "(?<=x).|\\n",
  "[^a]|a(?=b)",
])("%s may leave some", (source) => expect(mayLeaveGaps(source)).toBe(true));
