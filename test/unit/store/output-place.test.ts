import { expect, test } from "bun:test";
import { isWithin } from "../../../src/store/output-place.ts";

test("a path is within a directory if it is the directory or below it, also if the directory is the root", () => {
  const cases: [path: string, directory: string, isInside: boolean][] = [
    ["/data", "/data", true],
    ["/data/a", "/data/", true],
    ["/data2", "/data", false],
    ["/", "/data", false],
    ["/data/a", "/", true],
    ["/", "/", true],
  ];
  for (const [path, directory, isInside] of cases)
    expect([path, directory, isWithin(path, directory)]).toEqual([path, directory, isInside]);
});
