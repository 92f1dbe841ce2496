import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type ArchivedFile, tarGz, zip } from "../../scripts/release/archive.ts";
import { run } from "../../scripts/release/run.ts";
import { put, scratch } from "../binary.ts";

/** Files with sizes around tar's block size, 512 bytes, and a large one. */
const files: ArchivedFile[] = [0, 1, 511, 512, 513, 100_000].map((size, i) => ({
  path: `bpe-1.0/file-${size}`,
  bytes: Uint8Array.from({ length: size }, (_, n) => (n * n) >> 3),
  isExecutable: i === 1,
}));
/** ZIP stores times in steps of two seconds, so the seconds of this time are even. */
const seconds = Date.UTC(2026, 10, 22, 3, 4, 6) / 1000;

function expectFiles(directory: string): void {
  for (const { path, bytes } of files) {
    expect(readFileSync(join(directory, path)).equals(bytes)).toBe(true);
  }
}

test("tar unpacks the packed files, with their modes and times, and no owner's name", () => {
  const home = scratch();
  const archive = put(home, "a.tar.gz", tarGz(files, seconds));
  run("tar", ["-xzf", archive, "-C", home]);
  expectFiles(home);
  expect(files.map(({ path }) => (statSync(join(home, path)).mode & 0o777).toString(8))).toEqual(
    files.map(({ isExecutable }) => (isExecutable ? "755" : "644")),
  );
  expect(statSync(join(home, files[0]!.path)).mtimeMs).toBe(seconds * 1000);
  const list = run("tar", ["-tvzf", archive, "--numeric-owner"]);
  expect(list.split("\n")[1]).toMatch(/^-rwxr-xr-x 0\/0 +1 /);
});

test.skipIf(Bun.which("python3") === null)(
  "Python finds no fault in a ZIP, and unpacks what was packed",
  () => {
    const home = scratch();
    const archive = put(home, "a.zip", zip(files, seconds));
    const into = join(home, "into");
    mkdirSync(into);
    run("python3", ["-m", "zipfile", "-e", archive, into]);
    expectFiles(into);
    const script = `import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
print([(file.filename, file.date_time, oct(file.external_attr >> 16)) for file in archive.infolist()])`;
    const expected = files.map(
      ({ path, isExecutable }) => `('${path}', (2026, 11, 22, 3, 4, 6), '0o100${isExecutable ? 755 : 644}')`,
    );
    expect(run("python3", ["-c", script, archive]).trim()).toBe(`[${expected.join(", ")}]`);
  },
);

test("a tar ends with two zero headers, and a ZIP states the number of its files twice", () => {
  const tar = gunzipSync(tarGz(files, seconds));
  const blocks = files.map(({ bytes }) => 1 + Math.ceil(bytes.length / 512));
  expect(tar.length).toBe(512 * (blocks.reduce((sum, count) => sum + count, 0) + 2));
  const end = zip(files, seconds).subarray(-22);
  expect([8, 10].map((pos) => end.readUInt16LE(pos))).toEqual([files.length, files.length]);
});

test("the same files give the same bytes", () => {
  for (const pack of [tarGz, zip]) {
    expect(pack(files, seconds).equals(pack(files, seconds))).toBe(true);
    expect(pack(files, seconds).equals(pack(files, seconds + 2))).toBe(false);
    expect(() => pack([{ path: "Größe", bytes: new Uint8Array() }], seconds)).toThrow('"Größe" is no path');
    expect(() => pack([{ path: "a".repeat(101), bytes: new Uint8Array() }], seconds)).toThrow("is no path");
  }
});
