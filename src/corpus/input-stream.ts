import { close, fstatSync, open, read } from "node:fs";
import type { ByteStream } from "./byte-stream.ts";
import { checkSame, type Input, shrank, unreadable } from "./input.ts";

const standardInput = 0;
/** How long to wait before a pipe is asked again that others have made non-blocking. */
const retryMs = 5;

/**
 * The bytes of an input as they lie there. They are waited for on a thread of the runtime: opening a pipe that nobody
 * writes to, or reading a silent one, keeps no signal from being served.
 */
export async function openByteStream(input: Input): Promise<ByteStream> {
  if (input.path === "-") return new FdStream(standardInput, input);
  try {
    const fd = await new Promise<number>((resolve, reject) => {
      open(input.path, "r", (error, opened) => (error === null ? resolve(opened) : reject(error)));
    });
    if (!input.isStream) checkSame(input, fstatSync(fd));
    return new FdStream(fd, input);
  } catch (error) {
    throw unreadable(input.path, error);
  }
}

class FdStream implements ByteStream {
  inputBytes = 0;

  constructor(
    private readonly fd: number,
    private readonly input: Input,
  ) {}

  async read(into: Uint8Array, from: number): Promise<number> {
    const { input } = this;
    const leftBytes = input.isStream ? into.length : input.sizeBytes - this.inputBytes;
    const wantedBytes = Math.min(into.length - from, leftBytes);
    if (wantedBytes === 0) return 0;
    for (;;) {
      try {
        const readBytes = await readAsync(this.fd, into, from, wantedBytes);
        if (readBytes === 0 && !input.isStream) throw shrank(input, this.inputBytes);
        this.inputBytes += readBytes;
        return readBytes;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw unreadable(input.path, error);
        await Bun.sleep(retryMs);
      }
    }
  }

  close(): void {
    if (this.fd !== standardInput) close(this.fd, () => {});
  }
}

const readAsync = (fd: number, into: Uint8Array, from: number, wantedBytes: number) =>
  new Promise<number>((resolve, reject) =>
    read(fd, into, from, wantedBytes, null, (error, readBytes) =>
      error === null ? resolve(readBytes) : reject(error),
    ),
  );
