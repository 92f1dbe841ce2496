import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { checkUnchanged, openInput } from "../../../src/corpus/input.ts";
import { FileSource, RangeReader } from "../../../src/corpus/range-reader.ts";
import { openTextStream } from "../../../src/corpus/text-stream.ts";
import { binary, environment, put, scratch } from "../../binary.ts";
import { readAll } from "./byte-streams.ts";

const directory = scratch();

describe("a corpus that changes while it is read", () => {
  test("bytes appended after the start are not read, and are no error", () => {
    const path = put(directory, "appended", "text");
    const [input] = findInputs([path]);
    appendFileSync(path, " and more");
    const fd = openInput(input!);
    const reader = new RangeReader(64);
    reader.open(new FileSource(fd, input!), 0, input!.sizeBytes);
    reader.advance(0);
    closeSync(fd);
    expect(Buffer.from(reader.text.bytes.subarray(0, reader.limit)).toString()).toBe("text");
    checkUnchanged(input!);
  });

  test("a file that shrinks before it is opened is an error", () => {
    const path = put(directory, "shrunk", "some text");
    const [input] = findInputs([path]);
    truncateSync(path, 4);
    expect(() => openInput(input!)).toThrow(/shrank \(it ended at byte 4 of 9\) while it was read/);
    expect(() => checkUnchanged(input!)).toThrow(/shrank/);
  });

  test("a file that shrinks after it is opened is an error", () => {
    const path = put(directory, "shrinking", "x".repeat(10_000));
    const [input] = findInputs([path]);
    const fd = openInput(input!);
    const reader = new RangeReader(1024);
    reader.open(new FileSource(fd, input!), 0, input!.sizeBytes);
    reader.advance(0);
    truncateSync(path, 1500);
    expect(() => {
      while (!reader.atEnd) reader.advance(reader.limit);
    }).toThrow(/shrank \(it ended at byte 1500 of 10000\)/);
    closeSync(fd);
  });

  test("a file that is replaced, removed or rewritten is an error", () => {
    const path = put(directory, "replaced", "text");
    const [input] = findInputs([path]);
    writeFileSync(join(directory, "other"), "text");
    renameSync(join(directory, "other"), path);
    expect(() => openInput(input!)).toThrow(/was replaced while it was read/);
    expect(() => checkUnchanged(input!)).toThrow(/was replaced/);
    rmSync(path);
    expect(() => checkUnchanged(input!)).toThrow(/was removed/);

    const [rewritten] = findInputs([put(directory, "rewritten", "text")]);
    utimesSync(rewritten!.path, new Date(0), new Date(0));
    expect(() => checkUnchanged(rewritten!)).toThrow(/was changed/);
  });

  test("a file that was written to is an error, even with its old modification time; other permissions or one more link are not", () => {
    const path = put(directory, "put-back", "text");
    const putBack = () => {
      const { atimeMs, mtimeMs } = statSync(path);
      writeFileSync(path, "TEXT");
      utimesSync(path, atimeMs / 1000, mtimeMs / 1000);
    };
    // Sets a time without fractions of a millisecond, which can be restored exactly.
    utimesSync(path, 1e9, 1e9);
    const found = () => findInputs([path])[0]!;
    const [written, linked] = [found(), found()];
    linkSync(path, join(directory, "link"));
    checkUnchanged(linked);
    const readable = found();
    chmodSync(path, 0o640);
    checkUnchanged(readable);
    expect(statSync(path).ctimeMs).toBeGreaterThan(readable.state!.changedMs - 1);
    const again = found();
    // Clocks of file systems tick every few milliseconds, so this waits for the next tick.
    for (const before = statSync(path).ctimeMs; statSync(path).ctimeMs === before; ) putBack();
    expect(() => checkUnchanged(again)).toThrow(/was changed while it was read/);
    expect(written.modifiedMs).toBe(found().modifiedMs);
  });

  test("a file on standard input that shrinks or is changed is an error; appended data are no error", async () => {
    const path = put(directory, "redirected", "some text ");
    const fifo = join(directory, "fifo");
    spawnSync("mkfifo", [fifo]);
    for (const [change, code, stderr] of [
      [() => {}, 0, ""],
      [() => appendFileSync(path, "more"), 0, ""],
      [() => writeFileSync(path, "SOME"), 1, "standard input shrank (it ended at byte 4 of"],
      [() => utimesSync(path, 1, 1), 1, "standard input was changed while it was read"],
    ] as const) {
      // The run reads standard input to its end, and then waits for the pipe.
      const run = Bun.spawn([binary, "count", "-", fifo, "-q", "-w", "1"], {
        stdin: Bun.file(path),
        stdout: "ignore",
        stderr: "pipe",
        env: environment,
      });
      const pipe = await open(fifo, "w");
      change();
      await pipe.write("other words");
      await pipe.close();
      expect(await new Response(run.stderr).text()).toContain(stderr);
      expect(await run.exited).toBe(code);
    }
  });
});

describe("a compressed file that changes while it is read", () => {
  const packed = gzipSync(crypto.getRandomValues(new Uint8Array(60_000)));

  test("is read up to its size at the start of the run", async () => {
    const [input] = findInputs([put(directory, "appended.gz", packed)], { binary: "text" });
    appendFileSync(input!.path, "garbage");
    const stream = await openTextStream(input!);
    expect((await readAll(stream)).length).toBe(60_000);
    stream.close();
    checkUnchanged(input!);
  });

  test("is an error if it shrinks or is replaced", async () => {
    const [input] = findInputs([put(directory, "shrinking.gz", packed)], { binary: "text" });
    const stream = await openTextStream({ ...input!, sizeBytes: packed.length + 1 }).catch((error) => error);
    expect(stream.message).toMatch(/shrank/);
    const begun = await openTextStream(input!);
    truncateSync(input!.path, 1000);
    await expect(readAll(begun)).rejects.toThrow(/shrank \(it ended at byte 1000 of/);
    renameSync(put(directory, "other.gz", packed), input!.path);
    await expect(openTextStream(input!)).rejects.toThrow(/was replaced/);
    expect(() => checkUnchanged(input!)).toThrow(/was replaced/);
  });
});

describe("files and globs", () => {
  test("a path that exists is never a glob", () => {
    const path = put(directory, "a[1].txt", "x");
    put(directory, "a1.txt", "y");
    expect(findInputs([path]).map((input) => input.path)).toEqual([path]);
  });

  test("** descends, hidden files stay out, order is by bytes", () => {
    mkdirSync(join(directory, "tree", "deep", ".hidden"), { recursive: true });
    for (const name of ["Z.md", "a.md", "é.md", "deep/b.md", "deep/.c.md", "deep/.hidden/d.md", "e.txt"]) {
      put(join(directory, "tree"), name, "x");
    }
    const found = findInputs([`${directory}/tree/**/*.md`]).map((input) =>
      input.path.slice(directory.length + 6),
    );
    expect(found).toEqual(["Z.md", "a.md", "deep/b.md", "é.md"]);
  });

  test("a window grows to contain what must be kept, and otherwise moves", () => {
    const path = put(directory, "window", "abcdefghijklmnopqrstuvwxyz");
    const [input] = findInputs([path]);
    const fd = openSync(path, "r");
    const reader = new RangeReader(8);
    reader.open(new FileSource(fd, input!), 2, 24);
    const shown = () => Buffer.from(reader.text.bytes.subarray(0, reader.limit)).toString();
    reader.advance(0);
    expect([shown(), reader.baseByte, reader.atEnd]).toEqual(["cdefghij", 2, false]);
    reader.advance(6);
    expect([shown(), reader.baseByte]).toEqual(["ijklmnop", 8]);
    reader.advance(0);
    expect([shown(), reader.atEnd]).toEqual(["ijklmnopqrstuvwx", true]);
    closeSync(fd);
  });
});
