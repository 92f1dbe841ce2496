import { expect, test } from "bun:test";
import { chmodSync, copyFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeIdentity } from "../../../src/runtime/version.ts";
import { put, scratch } from "../../binary.ts";

const home = scratch();

test("a clean commit identifies the code; otherwise the executable does, and for sources nothing does", () => {
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
  expect(codeIdentity("unknown", `${executable}-gone`)).toBe(undefined);
});

test("an executable that is replaced while it runs is still identified by its own size and time", async () => {
  const copy = join(home, "replaced");
  copyFileSync(process.execPath, copy);
  const script = put(
    home,
    "identity.ts",
    `import { codeIdentity } from ${JSON.stringify(join(import.meta.dir, "../../../src/runtime/version.ts"))};
     const before = codeIdentity("unknown");
     require("node:fs").renameSync(process.argv[2], process.argv[3]);
     console.log(before !== undefined && codeIdentity("unknown") === before);`,
  );
  chmodSync(copy, 0o755);
  const other = put(home, "other", "another executable");
  const { stdout } = Bun.spawnSync([copy, "run", script, other, copy]);
  expect(stdout.toString()).toBe("true\n");
});
