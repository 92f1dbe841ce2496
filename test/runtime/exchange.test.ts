import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exchange } from "../../src/runtime/exchange.ts";
import { scratch } from "../binary.ts";

const home = scratch();

test("two directories change places", () => {
  if (process.platform !== "linux") {
    console.log("skipped: only Linux has renameat2");
    return;
  }
  const [a, b] = [join(home, "a"), join(home, "with ü and a space")];
  mkdirSync(a);
  mkdirSync(b);
  writeFileSync(join(a, "was a"), "");
  writeFileSync(join(b, "was b"), "");
  expect(exchange(a, b)).toBe(true);
  expect(readdirSync(a)).toEqual(["was b"]);
  expect(readdirSync(b)).toEqual(["was a"]);
});

test("what does not exist cannot be exchanged, and nothing moves", () => {
  const c = join(home, "c");
  mkdirSync(c);
  expect(exchange(c, join(home, "nothing"))).toBe(false);
  expect(readdirSync(c)).toEqual([]);
});
