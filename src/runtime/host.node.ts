import { createHash } from "node:crypto";
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Worker as NodeWorker } from "node:worker_threads";
import * as zlib from "node:zlib";
import picomatch from "picomatch";
// The build puts the imported file next to the module that imports it.
import wasmPath from "../../node_modules/xxhash-wasm/workerd/xxhash.wasm" with { type: "file" };
import type { WorkerThread } from "./worker-jobs.ts";

/* Replaces host.ts in the library for Node, with the same names. */

export const runtimeVersion: string = `Node ${process.versions.node}`;

export type Crc32 = (data: Uint8Array, before: number) => number;
/** Undefined in versions of Node that have no `zlib.crc32`. */
export const crc32: Crc32 | undefined = zlib.crc32;

export type Sha256 = {
  update(data: Uint8Array | string): Sha256;
  digest(encoding: "hex" | "base64"): string;
};

export const hasSha256: boolean = true;
export const createSha256 = (): Sha256 => createHash("sha256");
export const createSha1 = (): Sha256 => createHash("sha1");

const sleepCell = new Int32Array(new SharedArrayBuffer(4));
export const sleepSync = (ms: number): void => void Atomics.wait(sleepCell, 0, 0, ms);

export const scheduleMacrotask = (callback: () => void): void => void setImmediate(callback);

/** Does nothing: Node exposes its garbage collector only on request. */
export const collectGarbage = (): void => {};

/**
 * Frees the memory of a buffer by transferring it to a copy that is dropped. `ArrayBuffer.prototype.transfer` would be
 * simpler, but exists only from Node 21 on.
 */
export const releaseMemory = (buffer: ArrayBuffer): void =>
  void structuredClone(buffer, { transfer: [buffer] });

export const toBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
export const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

/** Does nothing: only Bun's engine has this control. */
export function disableFtl(..._functions: ((...args: never[]) => unknown)[]): void {}

/* Globs for Node, which has its own only from version 22 on. */

/** Returns a function that tells whether a path matches a glob. A wildcard also matches the dot of a hidden name. */
export function globMatcher(glob: string): (path: string) => boolean {
  const matches = matcherOf(glob, true);
  return (path) => matches(path);
}

/**
 * Yields the paths below `cwd` that match a glob, including directories and links, even broken ones. Wildcards match
 * no hidden names. Links are followed, except in a cycle. An absolute glob needs the `cwd` "/", and its paths are
 * absolute.
 */
export function* pathsMatching(glob: string, cwd: string): Generator<string> {
  const parts = glob.split("/").filter((part) => part !== "");
  const isLiteral = (part: string) => !/[*?[\]{}()!\\+@]/.test(part);
  // The part of the glob before the first wildcard is a directory. It may be hidden, because the user typed its name.
  let literalCount = parts.findIndex((part) => !isLiteral(part));
  if (literalCount < 0) literalCount = parts.length - 1;
  const base = parts.slice(0, literalCount).join("/");
  const isAny = parts.includes("**");
  const depthMax = isAny || /\{[^}]*\//.test(glob) ? Number.POSITIVE_INFINITY : parts.length - literalCount;
  const matches = matcherOf(parts.slice(literalCount).join("/"), false);
  const prefix = glob.startsWith("/") ? "/" : "";
  const entersHidden = parts.slice(literalCount).some((part) => part.startsWith("."));
  for (const below of walk(resolve(cwd, base), { depthMax, entersHidden }, [])) {
    if (glob.endsWith("/") && !isDirectory(resolve(cwd, base, below))) continue;
    if (matches(below)) yield prefix + (base === "" ? below : `${base}/${below}`);
  }
}

/** Returns picomatch's matcher of paths. picomatch knows only `[^a]`, not the shell's `[!a]`. */
const matcherOf = (glob: string, dot: boolean) => picomatch(glob.replaceAll(/(?<!\\)\[!/g, "[^"), { dot });

type Limits = {
  readonly depthMax: number;
  /** Whether hidden directories are entered: only if the glob names one, because wildcards match no hidden names. */
  readonly entersHidden: boolean;
};

/**
 * Yields the paths below a directory within the limits, relative to the directory. `above` has the real paths of the
 * directory's ancestors, by which cycles of links are found.
 */
function* walk(
  directory: string,
  { depthMax, entersHidden }: Limits,
  above: readonly string[],
): Generator<string> {
  let entries: Dirent[];
  let real: string;
  try {
    real = realpathSync(directory);
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return;
  }
  if (above.includes(real)) return;
  for (const entry of entries) {
    yield entry.name;
    if (depthMax === 1 || entry.isFile() || !isDirectory(join(directory, entry.name))) continue;
    if (entry.name.startsWith(".") && !entersHidden) continue;
    const limits = { depthMax: depthMax - 1, entersHidden };
    for (const below of walk(join(directory, entry.name), limits, [...above, real]))
      yield `${entry.name}/${below}`;
  }
}

const isDirectory = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/*
 * xxHash, by the WebAssembly module of the package xxhash-wasm. The package's own JavaScript is not used, because it is
 * asynchronous, and hashes are needed in synchronous code.
 */

type Exports = {
  readonly mem: WebAssembly.Memory;
  xxh32(start: number, length: number, seed: number): number;
  xxh64(start: number, length: number, seed: bigint): bigint;
};

let loaded: Exports | undefined;

function load(): Exports {
  const module = new WebAssembly.Module(readFileSync(new URL(wasmPath, import.meta.url)));
  return new WebAssembly.Instance(module).exports as Exports;
}

function place(data: Uint8Array | string): { exports: Exports; length: number } {
  loaded ??= load();
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  const missingBytes = bytes.length - loaded.mem.buffer.byteLength;
  if (missingBytes > 0) loaded.mem.grow(Math.ceil(missingBytes / 65536));
  new Uint8Array(loaded.mem.buffer).set(bytes);
  return { exports: loaded, length: bytes.length };
}

export function xxHash64(data: Uint8Array | string, seed = 0n): bigint {
  const { exports, length } = place(data);
  return BigInt.asUintN(64, exports.xxh64(0, length, BigInt.asIntN(64, seed)));
}

export function xxHash32(text: string): number {
  const { exports, length } = place(text);
  return exports.xxh32(0, length, 0) >>> 0;
}

/* Node cannot call the C library or functions of Windows. */

type Symbols<Names extends string> = Readonly<Record<Names, (...args: readonly unknown[]) => never>>;

export const openLibc = <Names extends string>(..._names: readonly Names[]): Symbols<Names> | null => null;

export const openWindows = (): Symbols<"GetLastError" | "LockFileEx" | "uv_get_osfhandle"> | null => null;

const unreachable = (): never => {
  throw new Error("bug: an address or an error number was requested without the C library");
};

export const addressOf = (_array: ArrayBufferView): number => unreachable();
export const errnoOf = (_libc: Symbols<"__errno_location">): number => unreachable();

/** Adapts Node's worker to `WorkerThread`. */
class WorkerOfNode implements WorkerThread {
  onmessage: WorkerThread["onmessage"] = null;
  onerror: WorkerThread["onerror"] = null;
  private readonly worker: NodeWorker;

  constructor(url: URL) {
    this.worker = new NodeWorker(url);
    this.worker.on("message", (data: unknown) => this.onmessage?.({ data: data as never }));
    // Without a listener, an error would end the process.
    this.worker.on("error", (error: Error) =>
      this.onerror?.({ message: error.message, preventDefault() {} }),
    );
  }

  postMessage(message: unknown, transfer: ArrayBuffer[] = []): void {
    this.worker.postMessage(message, transfer);
  }

  /** Supports only `close`, which means that the thread has ended. */
  addEventListener(_type: "close", listener: () => void): void {
    this.worker.once("exit", listener);
  }

  terminate(): void {
    void this.worker.terminate();
  }

  unref(): void {
    this.worker.unref();
  }

  ref(): void {
    this.worker.ref();
  }
}

export const openWorker = (base: string): WorkerThread => new WorkerOfNode(new URL("./node-worker.js", base));
