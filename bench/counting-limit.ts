// The limit of counting: how fast one thread reads a file, and how fast it does so if it also classifies each byte.
// Counting has to do both, before it looks up a single word.
//
//   node scripts/bun.mjs bench/counting-limit.ts <text> [--rounds 5] [--record name]
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import wabt from "wabt";
import { keepRecord, median, runProcess } from "./record.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { rounds: { type: "string", default: "5" }, record: { type: "string" } },
});
const [path] = positionals;
if (path === undefined) {
  console.error("usage: counting-limit.ts <text> [--rounds N] [--record NAME]");
  process.exit(2);
}

const windowBytes = 1 << 20;
/** WebAssembly that counts where letters, digits and spaces begin and end, 16 bytes at a time. */
const source = `(module
  (memory (export "memory") 17)
  (func $class (param $bytes v128) (param $first i32) (param $count i32) (result i32)
    (i8x16.bitmask (i8x16.lt_u
      (i8x16.sub (local.get $bytes) (i8x16.splat (local.get $first)))
      (i8x16.splat (local.get $count)))))
  (func $changes (param $mask i32) (param $before i32) (result i32)
    (i32.popcnt (i32.and (i32.const 0xffff)
      (i32.xor (local.get $mask) (i32.or (i32.shl (local.get $mask) (i32.const 1)) (local.get $before))))))
  (func (export "classify") (param $end i32) (result i32)
    (local $pos i32) (local $bytes v128) (local $sum i32)
    (local $letters i32) (local $digits i32) (local $spaces i32)
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $pos) (local.get $end)))
      (local.set $bytes (v128.load (local.get $pos)))
      (local.set $sum (i32.add (local.get $sum) (call $changes
        (local.tee $letters (i32.or
          (call $class (v128.or (local.get $bytes) (i8x16.splat (i32.const 32))) (i32.const 97) (i32.const 26))
          (i8x16.bitmask (local.get $bytes))))
        (i32.const 0))))
      (local.set $sum (i32.add (local.get $sum) (call $changes
        (local.tee $digits (call $class (local.get $bytes) (i32.const 48) (i32.const 10)))
        (i32.const 0))))
      (local.set $sum (i32.add (local.get $sum) (call $changes
        (local.tee $spaces (i32.or
          (call $class (local.get $bytes) (i32.const 9) (i32.const 5))
          (call $class (local.get $bytes) (i32.const 32) (i32.const 1))))
        (i32.const 0))))
      (local.set $pos (i32.add (local.get $pos) (i32.const 16)))
      (br $next)))
    (local.get $sum)))`;

const features = { simd: true } as const;
const module = (await wabt()).parseWat("limit.wat", source, features);
const { instance } = await WebAssembly.instantiate(module.toBinary({}).buffer);
const { memory, classify } = instance.exports as {
  memory: WebAssembly.Memory;
  classify: (end: number) => number;
};
const window = new Uint8Array(memory.buffer, 0, windowBytes);

function readWhole(take: (sizeBytes: number) => void): void {
  const file = openSync(path!, "r");
  for (let size = readSync(file, window); size > 0; size = readSync(file, window)) take(size);
  closeSync(file);
}

let sum = 0;
const home = mkdtempSync(join(tmpdir(), "bpe-bench-"));
const bpe = join(import.meta.dir, "../dist/bpe");
const ways: Record<string, () => { seconds: number; processorSeconds: number }> = {
  bpe: () => runProcess([bpe, "count", path, "-w", "1", "-o", join(home, "words.counts"), "-q"]),
  reading: () => timed(() => readWhole(() => {})),
  "reading and classifying": () =>
    timed(() => {
      sum = 0;
      readWhole((size) => (sum += classify(size)));
    }),
};

/** Measures a call in this process. The processor time is that of the process. */
function timed(call: () => void) {
  const [startMs, before] = [performance.now(), process.cpuUsage()];
  call();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - startMs) / 1000, processorSeconds: (user + system) / 1e6 };
}

const runs = Object.keys(ways).map(() => [] as { seconds: number; processorSeconds: number }[]);
for (const way of Object.values(ways).slice(1)) way();
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [i, way] of Object.values(ways).entries()) runs[i]!.push(way());
}
rmSync(home, { recursive: true });
const sizeBytes = statSync(path).size;
const results = Object.keys(ways).map((name, i) => {
  const seconds = median(runs[i]!.map((run) => run.seconds));
  const processorSeconds = median(runs[i]!.map((run) => run.processorSeconds));
  return { name, seconds, processorSeconds, "MB/s": Math.round(sizeBytes / 1e6 / processorSeconds) };
});
console.table(results);
console.log(`${sum.toLocaleString("en")} changes of class`);
if (values.record !== undefined) keepRecord(values.record, { corpus: basename(path), sizeBytes, results });
