import { expect, test } from "bun:test";
import { join } from "node:path";
import { CountsFiles, countsChunks, countsPathsOf } from "../../src/count/counts-files.ts";
import { atOnce } from "../../src/runtime/turns.ts";
import { wordTableOf } from "../../src/words/word-table.ts";
import { put, scratch } from "../binary.ts";
import { errorOf } from "../thrown.ts";

test("a name is that of a file before it is a glob, and a glob matches in the order of its paths", () => {
  const home = scratch();
  const at = (name: string) => join(home, name);
  for (const name of ["b.tsv", "a.tsv", "a[b].tsv"]) put(home, name, "");
  expect(countsPathsOf(at("a[b].tsv"))).toEqual([at("a[b].tsv")]);
  expect(countsPathsOf(at("none.tsv"))).toEqual([at("none.tsv")]);
  expect(countsPathsOf(at("[ab].tsv"))).toEqual([at("a.tsv"), at("b.tsv")]);
  expect(errorOf(() => countsPathsOf(at("x*"))).message).toContain("no file matches it as a glob");
});

test("the words of one file, or of several text files, are a table without tables of words", () => {
  const home = scratch();
  const options = { patterns: ["a+"], specialTokens: [], isLinewise: false };
  const words = wordTableOf([
    ["ab", 2],
    [" c", 7],
  ]);
  const file = (name: string, text?: string) => {
    const chunks = [...countsChunks(name, words, options)].map((chunk) => Buffer.from(chunk));
    put(home, name, text ?? Buffer.concat(chunks));
    return join(home, name);
  };
  const listed = (paths: readonly string[], memoryBytes = 1e9) => {
    return atOnce(new CountsFiles(paths).listWords(memoryBytes))?.wordCount;
  };
  const [headed, bare, twice] = [file("a.tsv"), file("b.tsv", "a\t1\nb\t2"), file("c.tsv", "a\t1\na\t2\n")];
  const [empty, packed] = [file("d.tsv", ""), file("e.words")];
  expect([headed, bare, empty, packed].map((path) => listed([path]))).toEqual([2, 2, 0, 2]);
  expect([[twice], [headed, bare], [bare, empty, twice]].map((paths) => listed(paths))).toEqual([1, 4, 2]);
  for (const paths of [[headed, packed], [packed, packed], []]) {
    expect(listed(paths)).toBeUndefined();
  }
  for (const path of [headed, packed]) expect(listed([path], 20)).toBeUndefined();
});
