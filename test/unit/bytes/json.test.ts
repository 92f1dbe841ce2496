import { expect, test } from "bun:test";
import * as json from "../../../src/bytes/json.ts";

const list = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const object = (levels: number) => '{"a":'.repeat(levels) + 1 + "}".repeat(levels);

test("as in HF, JSON may have 127 levels; more are refused", () => {
  for (const nested of [list, object]) {
    expect(json.parse(nested(127), "x.json")).toEqual(JSON.parse(nested(127)));
    for (const levels of [128, 129, 10_000])
      expect(() => json.parse(nested(levels), "x.json")).toThrow(
        '"x.json" has lists and objects nested more than 127 levels deep, the most that can be read',
      );
  }
});
