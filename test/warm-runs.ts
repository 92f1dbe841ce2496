import { dlopen, ptr } from "bun:ffi";
import { closeSync, readSync, writeSync } from "node:fs";

export type Finished = { code: number | null; stdout: string; stderr: string };

/** Opens a pipe that child processes do not inherit. */
function openPipe(): [reader: number, writer: number] {
  const closeOnExec = 0o2000000;
  const { symbols } = dlopen("libc.so.6", { pipe2: { args: ["ptr", "i32"], returns: "i32" } });
  const ends = new Int32Array(2);
  if (symbols.pipe2(ptr(ends), closeOnExec) !== 0) throw new Error("no pipe can be made");
  return [ends[0]!, ends[1]!];
}

/** A process that runs the program on request (warm-server.ts), until this process ends. */
export class WarmProgram {
  private readonly requests: number;
  private readonly replies: number;

  constructor(command: readonly string[], env: Record<string, string>) {
    const [theirRequests, requests] = openPipe();
    const [replies, theirReplies] = openPipe();
    const stdio = ["ignore", "ignore", "inherit", theirRequests, theirReplies] as const;
    Bun.spawn([...command], { stdio: [...stdio], env }).unref();
    closeSync(theirRequests);
    closeSync(theirReplies);
    this.requests = requests;
    this.replies = replies;
  }

  /** Runs the program in a directory, by default that of this process. Its stdin is empty. */
  run(args: readonly string[], cwd?: string): Finished {
    const request = Buffer.from(JSON.stringify({ args, cwd }));
    writeSync(this.requests, Buffer.concat([Buffer.from(Uint32Array.of(request.length).buffer), request]));
    const head = this.read(12);
    const [code, stdoutLength, stderrLength] = [0, 4, 8].map((offset) => head.readInt32LE(offset));
    return {
      code: code!,
      stdout: this.read(stdoutLength!).toString(),
      stderr: this.read(stderrLength!).toString(),
    };
  }

  private read(byteCount: number): Buffer {
    const bytes = Buffer.alloc(byteCount);
    for (let pos = 0; pos < byteCount; ) {
      const readCount = readSync(this.replies, bytes, pos, byteCount - pos, null);
      if (readCount === 0) throw new Error("the program has ended in the middle of a run");
      pos += readCount;
    }
    return bytes;
  }
}
