import { close, fstatSync, open, read } from "node:fs";
import { unreadable } from "../runtime/named-files.ts";
import type { Input } from "./input.ts";
import { checkSame, shrank, standardInput } from "./open-input.ts";

/** Bytes that are read once, in order. */
export interface ByteStream {
  /** Puts the next bytes into `into` from `from` on and returns how many; 0 at the end, and only there. */
  read(into: Uint8Array, from: number): Promise<number>;
  /** How many bytes of the input were read so far, before any decompression. */
  readonly inputBytes: number;
  close(): void;
}

/** How long to wait before a pipe is read again that another program has made non-blocking. */
const retryMs = 5;

/**
 * The bytes of an input as they are, compressed or not. A thread of the runtime waits for them: opening a pipe that has
 * no writer, or reading a silent one, does not keep signals from being served.
 */
export async function openByteStream(input: Input): Promise<ByteStream> {
  if (input.path === "-") return new InputStream(standardInput, input);
  try {
    const fd = await new Promise<number>((resolve, reject) => {
      open(input.path, "r", (error, opened) => (error === null ? resolve(opened) : reject(error)));
    });
    if (!input.isStream) checkSame(input, fstatSync(fd));
    return new InputStream(fd, input);
  } catch (error) {
    throw unreadable(input.path, error);
  }
}

class InputStream implements ByteStream {
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
        await new Promise((resolve) => setTimeout(resolve, retryMs));
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
