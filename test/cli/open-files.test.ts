import { expect, test } from "bun:test";
import { binary, environment, put, scratch } from "../binary.ts";

const home = scratch();
put(home, "one.txt", "some words");
put(home, "two.txt", "other words");

/** The runtime itself opens 5 files. */
const leastLimit = 5;
const enough = 32;

test.skipIf(process.platform !== "linux")(
  "with any number of open files that may be, a run does its work or says how to have more",
  () => {
    const commands = [
      ["train", "one.txt", "-n", "258", "-w", "1", "-o", "tokenizer", "-q"],
      ["train", "one.txt", "two.txt", "-n", "258", "-w", "2", "-o", "tokenizer", "--cache", "cache", "-q"],
      ["count", "one.txt", "two.txt", "-w", "2", "-o", "counts.tsv", "-q"],
    ];
    for (const args of commands) {
      let failureCount = 0;
      for (let limit = leastLimit; limit <= enough; limit += limit < 10 ? 1 : 3) {
        const command = `ulimit -n ${limit}; exec "$0" "$@"`;
        const run = Bun.spawnSync(["bash", "-c", command, binary, ...args], { cwd: home, env: environment });
        const stderr = run.stderr.toString();
        if (run.exitCode === 0) continue;
        failureCount++;
        expect([args, limit, run.exitCode, stderr]).toEqual([
          args,
          limit,
          1,
          expect.stringMatching(/^bpe: error: .*open files|^bpe: error: .*too many files are open/),
        ]);
        expect(stderr).toMatch(/\nhint: raise the limit: ulimit -n 1024(;.*)?\n$/);
      }
      expect(failureCount).toBeGreaterThan(0);
      const { exitCode } = Bun.spawnSync([binary, ...args], { cwd: home, env: environment });
      expect(exitCode).toBe(0);
    }
  },
);
