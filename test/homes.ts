import { beforeEach } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "./binary.ts";

/** Passes a new empty directory to `prepare` before each test of the calling file. */
export function eachInNewHome(prepare: (home: string) => void): void {
  const root = scratch();
  let testCount = 0;
  beforeEach(() => {
    const home = join(root, `home-${testCount++}`);
    mkdirSync(home);
    prepare(home);
  });
}
