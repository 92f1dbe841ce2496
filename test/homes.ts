import { afterAll, beforeEach } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Hands a new empty directory to `prepare` before each test of the file that calls this; all of them go at its end. */
export function eachInNewHome(prepare: (home: string) => void): void {
  const root = mkdtempSync(join(tmpdir(), "bpe-test-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  let testCount = 0;
  beforeEach(() => {
    const home = join(root, `home-${testCount++}`);
    mkdirSync(home);
    prepare(home);
  });
}
