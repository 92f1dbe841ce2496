import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, environment, put, scratch } from "../binary.ts";

const home = scratch();
// One match that takes seconds: the reference keeps it from remembering what has failed.
const pattern = "(a+)+(b?)\\2!|(?s:.)";
const content = `some text ${"a".repeat(60)}`;
const text = put(home, "text.txt", content);
const records = put(home, "records.jsonl", `${JSON.stringify({ text: content })}\n`);
const tokenizer = join(home, "tokenizer");

function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

test.skipIf(!existsSync("/proc/self/stat"))(
  "a signal ends a run within a match that takes long, in counting and encoding, with one thread and more",
  async () => {
    const small = put(home, "small.txt", "some text");
    expect(bpe(["train", small, "-n", "258", "-p", pattern, "-o", tokenizer, "-q"]).code).toBe(0);
    for (const command of [
      ["count", text, "-p", pattern, "-w", "1"],
      ["count", text, "-p", pattern, "-w", "2"],
      ["count", records, "-p", pattern, "-w", "1"],
      ["encode", text, "--tokenizer", tokenizer, "-w", "1"],
      ["encode", text, "--tokenizer", tokenizer, "-w", "2"],
      ["encode", records, "--tokenizer", tokenizer],
    ]) {
      const run = Bun.spawn([binary, ...command], { stdout: "ignore", stderr: "ignore", env: environment });
      while (processorMs(run.pid) < 500) await Bun.sleep(10);
      const beforeMs = processorMs(run.pid);
      run.kill("SIGTERM");
      await run.exited;
      expect([command.join(" "), run.exitCode]).toEqual([command.join(" "), 143]);
      expect(Number(run.resourceUsage()!.cpuTime.total) / 1000 - beforeMs).toBeLessThan(700);
    }
  },
  600_000,
);
