import { expect, test } from "bun:test";
import { formatSpeed } from "../../../src/encode/text-speed.ts";

test("a speed needs at least 1 MB, and is never zero", () => {
  expect([formatSpeed(999_999, 10), formatSpeed(1.8e6, 3560), formatSpeed(2e9, 4000)]).toEqual([
    "",
    ", 0.5 MB/s",
    ", 500 MB/s",
  ]);
});
