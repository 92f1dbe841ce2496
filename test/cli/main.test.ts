import { expect, test } from "bun:test";
import { binary, bpe } from "../binary.ts";

test("the version that the program knows is the one that --version prints", () => {
  const said = (...typed: string[]) => Bun.spawnSync([binary, ...typed]).stdout.toString();
  for (const name of ["--version", "-v", "-V", "version"]) expect(said(name)).toBe(bpe(["version"]).stdout);
  expect(said("--version", "train")).toBe(bpe(["version"]).stdout);
});

test("with an unwritable stdout, printing the version is an error or a silent end", () => {
  const into = (target: string) => Bun.spawnSync(["sh", "-c", `"$0" --version ${target}`, binary]);
  const full = into("> /dev/full");
  expect([full.exitCode, full.stderr.toString()]).toEqual([
    1,
    "bpe: error: standard output cannot be written: no space left on the device\n",
  ]);
  expect(into("| true").stderr.toString()).toBe("");
});
