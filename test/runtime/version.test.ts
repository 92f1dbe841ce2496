import { expect, test } from "bun:test";
import { utimesSync, writeFileSync } from "node:fs";
import { codeIdentity } from "../../src/runtime/version.ts";
import { put, scratch } from "../binary.ts";

const home = scratch();

test("a clean commit names the code; of other builds the executable does, of sources nothing", () => {
  const executable = put(home, "bpe", "code");
  expect(codeIdentity("0123456789ab", executable)).toBe("0123456789ab");
  const names = new Set<string | undefined>();
  for (const commit of ["0123456789ab-dirty", "unknown"]) names.add(codeIdentity(commit, executable));
  utimesSync(executable, 1, 1);
  names.add(codeIdentity("unknown", executable));
  writeFileSync(executable, "other code");
  utimesSync(executable, 1, 1);
  names.add(codeIdentity("unknown", executable));
  expect(names.size).toBe(4);
  expect(codeIdentity("unknown", executable)).toBe(codeIdentity("unknown", executable));
  expect(codeIdentity()).toBe(undefined);
});
