import { expect, test } from "bun:test";
import { join } from "node:path";
import { countsPathsOf } from "../../../src/words/counts-files.ts";
import { put, scratch } from "../../binary.ts";
import { errorOf } from "../../thrown.ts";

test("a name is a file's name before it is a glob, and a glob matches in the order of paths", () => {
  const home = scratch();
  const at = (name: string) => join(home, name);
  for (const name of ["b.tsv", "a.tsv", "a[b].tsv"]) put(home, name, "");
  expect(countsPathsOf(at("a[b].tsv"))).toEqual([at("a[b].tsv")]);
  expect(countsPathsOf(at("none.tsv"))).toEqual([at("none.tsv")]);
  expect(countsPathsOf(at("[ab].tsv"))).toEqual([at("a.tsv"), at("b.tsv")]);
  expect(errorOf(() => countsPathsOf(at("x*"))).message).toContain("no file matches it as a glob");
});
