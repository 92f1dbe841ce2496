// The entry of dist/bpe-warm, which runs the program on request, again and again.
import { dlopen, ptr } from "bun:ffi";
import { closeSync, readFileSync, readSync, writeSync } from "node:fs";
import { run } from "../src/main/run.ts";

// This process runs for long, so it compiles as usual from the start, and not later as short runs do (`jitPolicy` in
// build.ts).
Bun.unsafe.setJITPolicy(1);

/** Descriptors that the parent has opened: requests are read from the first, and replies written to the second. */
const [requests, replies] = [3, 4];

const { symbols: system } = dlopen("libc.so.6", {
  dup2: { args: ["i32", "i32"], returns: "i32" },
  memfd_create: { args: ["ptr", "u32"], returns: "i32" },
});

const closeOnExec = 1;
const name = Buffer.from("output\0");
const openMemory = () => system.memfd_create(ptr(name), closeOnExec);

function takeMemory(fd: number): Buffer {
  const bytes = readFileSync(`/proc/self/fd/${fd}`);
  closeSync(fd);
  return bytes;
}

function read(byteCount: number): Buffer {
  const bytes = Buffer.alloc(byteCount);
  for (let pos = 0; pos < byteCount; ) {
    const readCount = readSync(requests, bytes, pos, byteCount - pos, null);
    if (readCount === 0) process.exit(); // The client has ended.
    pos += readCount;
  }
  return bytes;
}

function write(bytes: Uint8Array): void {
  for (let pos = 0; pos < bytes.length; ) pos += writeSync(replies, bytes, pos);
}

const directory = process.cwd();

for (;;) {
  const request = read(read(4).readUInt32LE());
  const { args, cwd } = JSON.parse(request.toString());
  const outputs = [openMemory(), openMemory()];
  for (const [i, fd] of outputs.entries()) system.dup2(fd, i + 1);
  process.chdir(cwd ?? directory);
  const code = await run(args);
  process.removeAllListeners();
  const [stdout, stderr] = outputs.map(takeMemory) as [Buffer, Buffer];
  write(Buffer.from(Int32Array.of(code, stdout.length, stderr.length).buffer));
  write(stdout);
  write(stderr);
}
