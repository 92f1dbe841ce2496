/* Replaces host.ts in the library for browsers, with the parts that loading, encoding and training use. */
import { noSystem } from "./no-system.browser.ts";

export type Sha256 = {
  update(data: Uint8Array | string): Sha256;
  digest(encoding: "hex" | "base64"): string;
};

export type Crc32 = (data: Uint8Array, before: number) => number;
/** Undefined, because only records of trainings need checksums of texts. */
export const crc32: Crc32 | undefined = undefined as Crc32 | undefined;
export const hasSha256: boolean = false;

/**
 * The library for browsers never calls the functions below, because it needs no hashes: they are for caches, records,
 * images, fingerprints and files with known checksums.
 */
export const createSha256: () => Sha256 = noSystem;
export const createSha1: () => Sha256 = noSystem;

/**
 * The library for browsers never uses what is exported here, because it neither blocks nor reads files, and writes no
 * caches, records or locks.
 */
export {
  noSystem as addressOf,
  noSystem as errnoOf,
  noSystem as globMatcher,
  noSystem as openWindows,
  noSystem as pathsMatching,
  noSystem as runtimeVersion,
  noSystem as sleepSync,
  noSystem as xxHash32,
  noSystem as xxHash64,
} from "./no-system.browser.ts";

/** Does nothing: a page cannot collect garbage. */
export const collectGarbage = (): void => {};

/** Always null: browsers have no C library. */
export const openLibc = (..._names: readonly string[]): typeof noSystem => null;

/**
 * Calls `callback` after the event loop has handled other tasks. Uses a message channel, because browsers delay timers
 * that set each other by at least 4 ms.
 */
export function scheduleMacrotask(callback: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(null);
}

/** Does nothing: the memory of large texts is left to the garbage collector. */
export const releaseMemory = (_buffer: ArrayBuffer): void => {};

export const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
export const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Does nothing: only Bun's engine has this control. */
export function disableFtl(..._functions: ((...args: never[]) => unknown)[]): void {}

/* Replaces node:buffer and the global Buffer, with the parts that the library for browsers uses. */

type Encoding = "utf8" | "latin1" | "base64" | "hex";

/** Uint8Array as a type without its static functions, whose signatures differ from Buffer's. */
const Bytes = Uint8Array as unknown as new (
  source: number | ArrayBufferLike,
  offset?: number,
  length?: number,
) => Uint8Array;

export class Buffer extends Bytes {
  static alloc(size: number): Buffer {
    return new Buffer(size);
  }

  static from(
    source: string | ArrayBufferLike | ArrayLike<number>,
    encodingOrOffset?: Encoding | number,
    length?: number,
  ): Buffer {
    if (typeof source === "string") {
      if (encodingOrOffset === "base64") return Buffer.from(fromBase64(source));
      if (encodingOrOffset === "hex") return noSystem();
      if (encodingOrOffset !== "latin1") return Buffer.from(new TextEncoder().encode(source));
      const bytes = new Buffer(source.length);
      for (let i = 0; i < source.length; i++) bytes[i] = source.charCodeAt(i);
      return bytes;
    }
    // Not `instanceof SharedArrayBuffer`: pages that are not cross-origin isolated have no such class.
    if ("byteLength" in source && !ArrayBuffer.isView(source)) {
      return new Buffer(source, encodingOrOffset as number | undefined, length);
    }
    const bytes = new Buffer((source as ArrayLike<number>).length);
    bytes.set(source as ArrayLike<number>);
    return bytes;
  }

  static byteLength(text: string): number {
    return new TextEncoder().encode(text).length;
  }

  static concat(parts: readonly Uint8Array[], totalLength?: number): Buffer {
    const length = totalLength ?? parts.reduce((sum, part) => sum + part.length, 0);
    const joined = new Buffer(length);
    let pos = 0;
    for (const part of parts) {
      const fitting = part.subarray(0, length - pos);
      joined.set(fitting, pos);
      pos += fitting.length;
    }
    return joined;
  }

  static compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
    const length = Math.min(a.length, b.length);
    for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1;
    return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
  }

  override subarray(start?: number, end?: number): Buffer {
    return super.subarray(start, end) as Buffer;
  }

  override toString(encoding: Encoding = "utf8", start = 0, end = this.length): string {
    // Copies the bytes, because the decoders of some browsers reject shared memory.
    const bytes = new Uint8Array(this.subarray(start, end));
    if (encoding === "utf8") return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    if (encoding === "base64") return toBase64(bytes);
    if (encoding === "hex") return noSystem();
    const parts: string[] = [];
    for (let pos = 0; pos < bytes.length; pos += 4096) {
      parts.push(String.fromCharCode(...bytes.subarray(pos, pos + 4096)));
    }
    return parts.join("");
  }

  override indexOf(wanted: number | Uint8Array, from = 0): number {
    if (typeof wanted === "number") return super.indexOf(wanted, from);
    if (wanted.length === 0) return Math.min(from, this.length);
    const last = this.length - wanted.length;
    for (let pos = super.indexOf(wanted[0]!, from); pos >= 0 && pos <= last; ) {
      let matched = 1;
      while (matched < wanted.length && this[pos + matched] === wanted[matched]) matched++;
      if (matched === wanted.length) return pos;
      pos = super.indexOf(wanted[0]!, pos + 1);
    }
    return -1;
  }

  override lastIndexOf(wanted: number | Uint8Array): number {
    return typeof wanted === "number" ? super.lastIndexOf(wanted) : noSystem();
  }
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bytes));
    return true;
  } catch {
    return false;
  }
}
