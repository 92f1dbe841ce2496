import { describe, expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { bpe, put } from "../binary.ts";
import { eachInNewHome } from "../homes.ts";

/** `outer` has the file mine.txt and `home`, in which the program runs. */
let outer: string;
let home: string;
eachInNewHome((made) => {
  outer = made;
  home = join(outer, "home");
  mkdirSync(join(home, "sub"), { recursive: true });
  put(outer, "mine.txt", "mine");
  put(home, "corpus.txt", corpus);
  symlinkSync("sub", join(home, "link"));
  symlinkSync("nowhere", join(home, "dangling"));
  symlinkSync("../mine.txt", join(home, "file-link"));
});

const corpus = "the cat sat on the mat. ".repeat(20);
const train = (output: string) =>
  bpe(["train", "corpus.txt", "-n", "262", `--output=${output}`, "-q"], { cwd: home });
/** Trains on standard input, which no output can be or contain. */
const trainPiped = (output: string) =>
  bpe(["train", "-", "-n", "262", `--output=${output}`, "-q"], { cwd: home, stdin: Buffer.from(corpus) });
const count = (output: string) => bpe(["count", "corpus.txt", `--output=${output}`, "-q"], { cwd: home });
const before = ["corpus.txt", "dangling", "file-link", "link", "sub"];

describe("the directory of train", () => {
  const refused: [string, number, string][] = [
    ["..", 1, '".." is not replaced: it contains files that no earlier run of bpe wrote: "home" and 1 more'],
    ["sub/../..", 1, "is not replaced"],
    [".", 1, '"." is not replaced: it contains files'],
    ["/", 1, '"/" is not replaced: it is a mount point'],
    ["/..", 1, "it is a mount point"],
    ["link", 1, '"link" is not replaced: it is a symbolic link'],
    ["link/", 1, "it is a symbolic link"],
    ["dangling/x", 1, "is a broken symbolic link"],
    ["file-link/x", 1, "a part of the path is a file"],
    ["corpus.txt", 1, "it is not a directory"],
    ["x".repeat(230), 1, "a hidden name that is 37 bytes longer"],
    ["/proc/x", 1, '"/proc/x" cannot be written: no file can be created in "/proc"'],
  ];
  for (const [output, code, reason] of refused) {
    test(`${JSON.stringify(output.slice(0, 20))} is refused before any work`, () => {
      const run = trainPiped(output);
      expect(run.stderr).toContain(reason);
      expect(run.stderr).not.toMatch(/\bE[A-Z]{3,}\b/);
      expect(run.code).toBe(code);
      expect(readdirSync(home).sort()).toEqual(before);
      expect(readdirSync(join(home, "sub"))).toEqual([]);
      expect(readdirSync(outer).sort()).toEqual(["home", "mine.txt"]);
    });
  }

  const taken: [string, string][] = [
    ["sub", "sub"],
    ["sub/", "sub"],
    ["./sub//", "sub"],
    ["new/", "new"],
    ["sub/../new", "new"],
    ["deep/er/new", "deep/er/new"],
    ["link/new", "sub/new"],
    ["../new", "../new"],
  ];
  for (const [output, place] of taken) {
    test(`${JSON.stringify(output)} names ${JSON.stringify(place)}, also the second time`, () => {
      for (let run = 0; run < 2; run++) {
        expect(train(output)).toEqual({ code: 0, stdout: "", stderr: "" });
        expect(lstatSync(join(home, place)).isDirectory()).toBe(true);
        expect(readdirSync(join(home, place))).toContain("training.json");
      }
      const made = place.split("/")[0]!;
      expect(readdirSync(home).sort()).toEqual(
        [...new Set([...before, ...(made === ".." ? [] : [made])])].sort(),
      );
      expect(readFileSync(join(outer, "mine.txt"), "utf8")).toBe("mine");
    });
  }
});

describe("the file of -o", () => {
  const refused: [string, string][] = [
    ["..", "it is a directory"],
    ["new/", "it ends with a slash, so it names a directory"],
    ["link", "it is a directory"],
    ["dangling/x.tsv", "is a broken symbolic link"],
  ];
  for (const [output, reason] of refused) {
    test(`${JSON.stringify(output.slice(0, 20))} is refused before any work`, () => {
      const run = count(output);
      expect(run.stderr).toContain(reason);
      expect(run.stderr).not.toMatch(/\bE[A-Z]{3,}\b/);
      expect(run.code).toBe(1);
      expect(readdirSync(home).sort()).toEqual(before);
    });
  }

  test("a link is followed, like in a shell: its target is replaced or made, and the link stays", () => {
    for (const [link, target] of [
      ["file-link", "../mine.txt"],
      ["dangling", "nowhere"],
    ] as const) {
      expect(count(link)).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(lstatSync(join(home, link)).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(home, target), "utf8")).toStartWith("bpecount");
    }
    expect(readdirSync(home).sort()).toEqual([...before, "nowhere"].sort());
    expect(existsSync(join(outer, ".mine.txt.bpe-lock"))).toBe(false);
  });
});
