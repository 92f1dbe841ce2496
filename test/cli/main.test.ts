import { expect, test } from "bun:test";
import { binary, bpe } from "../binary.ts";

test("the version that a start says by itself is the one that the command line says", () => {
  const said = (...typed: string[]) => Bun.spawnSync([binary, ...typed]).stdout.toString();
  for (const name of ["--version", "-v", "-V", "version"]) expect(said(name)).toBe(bpe(["version"]).stdout);
  expect(said("--version", "train")).toBe(bpe(["version"]).stdout);
});

test("where stdout takes nothing, the version is an error or not missed", () => {
  const into = (target: string) => Bun.spawnSync(["sh", "-c", `"$0" --version ${target}`, binary]);
  const full = into("> /dev/full");
  expect([full.exitCode, full.stderr.toString()]).toEqual([
    1,
    "bpe: error: standard output cannot be written: no space left on the device\n",
  ]);
  expect(into("| true").stderr.toString()).toBe("");
});
