import { expect, test } from "bun:test";
import {
  countNoun,
  formatBytes,
  formatClock,
  formatDay,
  formatSeconds,
  groupDigits,
} from "../../../src/bytes/quantities.ts";

test("numbers are grouped by thousands", () => {
  expect([0, 999, 1000, 1234567].map(groupDigits)).toEqual(["0", "999", "1,000", "1,234,567"]);
});

test("bytes have decimal units", () => {
  expect([0, 999, 1000, 100646966, 999_960_000].map(formatBytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "100.6 MB",
    "1.0 GB",
  ]);
});

test("times are milliseconds, seconds or a clock", () => {
  expect([0.0123, 0.9999, 1.234, 83, 3683].map(formatSeconds)).toEqual([
    "12 ms",
    "1.00 s",
    "1.23 s",
    "1:23",
    "1:01:23",
  ]);
  expect(formatClock(4)).toBe("0:04");
});

test("a count agrees with its noun", () => {
  expect([countNoun(1, "document"), countNoun(2, "document")]).toEqual(["1 document", "2 documents"]);
});

test("a day has the name of its month, in UTC", () => {
  expect(formatDay(new Date("2026-11-27T23:59:59Z"))).toBe("27 November 2026");
  expect(formatDay(new Date("2027-01-01T00:00:00Z"))).toBe("1 January 2027");
});
