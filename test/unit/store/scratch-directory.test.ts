import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { ScratchDirectory } from "../../../src/store/scratch-directory.ts";
import { put, scratch } from "../../binary.ts";
import { canPlayOthers, giveAway } from "../../other-user.ts";

const home = scratch();

test("a scratch directory is made on first use, for its owner alone, and removed with its content", () => {
  const directory = new ScratchDirectory(home);
  expect(readdirSync(home)).toEqual([]);
  const { path } = directory;
  expect(directory.path).toBe(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  put(path, "run", "words");
  directory.remove();
  directory.remove();
  expect(readdirSync(home)).toEqual([]);
});

test("directories of dead runs are removed; those that a living run locks, and those of others, stay", async () => {
  const source = join(import.meta.dir, "..", "..", "..", "src", "store", "scratch-directory.ts");
  const script = `
    import { ScratchDirectory } from ${JSON.stringify(source)};
    console.log(new ScratchDirectory(${JSON.stringify(home)}).path);
    setTimeout(() => {}, 20_000);`;
  const run = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  const { value } = await run.stdout.getReader().read();
  const living = basename(Buffer.from(value!).toString().trim());
  const own = new ScratchDirectory(home);
  const ownName = basename(own.path);
  // Directories that were left by runs which were killed before they had the lock, while they had it, and during
  // removal.
  const stale = [".bpe-abcdef", ".bpe-Ab12x0", ".bpe-uvwxyz-gone"];
  const kept = [".bpe-elsewhere-4711-abcdef", "bpe-abcdef", ".bpe-abcdef.txt", ".bpe-file00"];
  for (const name of [...kept.slice(0, 3), ...stale]) mkdirSync(join(home, name));
  put(home, ".bpe-file00", "mine");
  for (const name of stale.slice(1)) {
    put(join(home, name), "lock", "");
    put(join(home, name), "run", "words");
  }
  new ScratchDirectory(home);
  expect(readdirSync(home).sort()).toEqual([...kept, living, ownName].sort());
  run.kill("SIGKILL");
  await run.exited;
  new ScratchDirectory(home);
  expect(readdirSync(home).sort()).toEqual([...kept, ownName].sort());
  own.remove();
  for (const name of kept) rmSync(join(home, name), { recursive: true });
});

test("a link in place of a scratch directory is not followed, and stays", () => {
  const elsewhere = join(home, "elsewhere");
  mkdirSync(elsewhere);
  put(elsewhere, "mine", "mine");
  symlinkSync(elsewhere, join(home, ".bpe-abcdef"));
  mkdirSync(join(home, ".bpe-ghijkl"));
  symlinkSync(elsewhere, join(home, ".bpe-ghijkl", "inner"));
  new ScratchDirectory(home);
  expect(readdirSync(home).sort()).toEqual([".bpe-abcdef", "elsewhere"]);
  expect(readdirSync(elsewhere)).toEqual(["mine"]);
  for (const name of readdirSync(home)) rmSync(join(home, name), { recursive: true });
});

test("another user's directory stays, whatever its content", () => {
  if (!canPlayOthers()) return;
  mkdirSync(join(home, ".bpe-abcdef"));
  put(join(home, ".bpe-abcdef"), "lock", "");
  giveAway(join(home, ".bpe-abcdef"));
  new ScratchDirectory(home);
  expect(readdirSync(join(home, ".bpe-abcdef"))).toEqual(["lock"]);
  rmSync(join(home, ".bpe-abcdef"), { recursive: true });
});

test("if many runs begin and clean up at once, each keeps its own directory", async () => {
  const source = join(import.meta.dir, "..", "..", "..", "src", "store", "scratch-directory.ts");
  const script = `
    import { existsSync } from "node:fs";
    import { ScratchDirectory } from ${JSON.stringify(source)};
    for (let n = 0; n < 200; n++) {
      const own = new ScratchDirectory(${JSON.stringify(home)});
      await Bun.write(own.path + "/run", "words");
      new ScratchDirectory(${JSON.stringify(home)});
      if (!existsSync(own.path + "/run")) throw new Error("swept while it lives");
      own.remove();
    }`;
  const runs = Array.from({ length: 4 }, () =>
    Bun.spawn([process.execPath, "-e", script], { stdout: "inherit", stderr: "inherit" }),
  );
  expect(await Promise.all(runs.map((run) => run.exited))).toEqual([0, 0, 0, 0]);
  expect(readdirSync(home)).toEqual([]);
});

test("if none can be made, the error comes on first use", () => {
  const directory = new ScratchDirectory(join(home, "none"));
  expect(() => directory.path).toThrow(
    `no directory for temporary files can be made in "${join(home, "none")}"`,
  );
  expect(existsSync(join(home, "none"))).toBe(false);
});
