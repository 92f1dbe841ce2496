import { expect, test } from "bun:test";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as files from "../../../src/runtime/files.ts";
import { beginFlush, exchange, flush } from "../../../src/store/file-system.ts";
import { scratch } from "../../binary.ts";

test("a flush may be started on anything open: a file keeps its bytes, and anything else is unaffected", () => {
  const path = join(scratch(), "file");
  const fd = openSync(path, "wx");
  files.writeAll(fd, Buffer.from("one "));
  beginFlush(fd);
  files.writeAll(fd, Buffer.from("two"));
  beginFlush(fd);
  flush(fd);
  closeSync(fd);
  expect(readFileSync(path, "utf8")).toBe("one two");
  const device = openSync("/dev/null", "w");
  beginFlush(device);
  closeSync(device);
  // A closed descriptor is ignored.
  beginFlush(device);
});

const home = scratch();

test("two directories are exchanged", () => {
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

test("a missing path cannot be exchanged, and nothing moves", () => {
  const c = join(home, "c");
  mkdirSync(c);
  expect(exchange(c, join(home, "nothing"))).toBe(false);
  expect(readdirSync(c)).toEqual([]);
});
