import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { closedVariables, closeVariables } from "../../scripts/close-variables.ts";
import { put, scratch } from "../binary.ts";

test("each name that occurs once is closed; missing and duplicate names are reported and left unchanged", () => {
  const [missing, doubled, ...others] = closedVariables;
  const text = `text ${closedVariables.join(" ")}\0${[doubled, doubled, ...others].join("\0")}\0`;
  const path = put(scratch(), "program", text);
  expect(closeVariables(path)).toEqual([missing, doubled]);
  const closed = others.map((name) => `=${name.slice(1)}`);
  expect(readFileSync(path, "latin1")).toBe(
    `text ${closedVariables.join(" ")}\0${[doubled, doubled, ...closed].join("\0")}\0`,
  );
});
