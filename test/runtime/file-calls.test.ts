import { expect, test } from "bun:test";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beginFlush, flush, writeAll } from "../../src/runtime/file-calls.ts";
import { scratch } from "../binary.ts";

test("a flush may be begun of whatever is open: a file keeps its bytes, anything else is left alone", () => {
  const path = join(scratch(), "file");
  const fd = openSync(path, "wx");
  writeAll(fd, Buffer.from("one "));
  beginFlush(fd);
  writeAll(fd, Buffer.from("two"));
  beginFlush(fd);
  flush(fd);
  closeSync(fd);
  expect(readFileSync(path, "utf8")).toBe("one two");
  const device = openSync("/dev/null", "w");
  beginFlush(device);
  closeSync(device);
  // Closed: no such file is no loss.
  beginFlush(device);
});
