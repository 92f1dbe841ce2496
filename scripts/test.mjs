// Runs all tests, or those named: `node scripts/test.mjs test/words`. They get a temporary directory of their own and have
// to leave it empty: files that stay there are listed, and are a failure.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Only a test that hangs takes so long, even on a busy machine. */
const hangMs = 600_000;

const temporary = mkdtempSync(join(tmpdir(), "bpe-tests-"));
chmodSync(temporary, 0o755); // For tests that act as other users.
const bun = fileURLToPath(new URL("bun.mjs", import.meta.url));
const args = ["test", "--parallel=2", "--timeout", String(hangMs), ...process.argv.slice(2)];
const tests = spawn(process.execPath, [bun, ...args], {
  stdio: "inherit",
  env: { ...process.env, TMPDIR: temporary },
});
// A terminal sends these to the tests, too: wait for their end.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => tests.kill(signal));

tests.on("close", (code) => {
  const left = readdirSync(temporary);
  rmSync(temporary, { recursive: true, force: true });
  if (left.length > 0) console.error(`the tests left in the temporary directory: ${left.join(", ")}`);
  process.exit(left.length > 0 ? 1 : (code ?? 1));
});
