/*
 * What the program has from Bun and not from JavaScript or Node's modules. The library for Node has host.node.ts in this
 * file's place (scripts/npm/compile.ts): it has the same names.
 * Only this file, its neighbours libc.ts and embedded.ts, and pattern/ready-made.ts may name Bun; src/cli is in no library.
 */

/** Who runs the program, for the records of a training. */
export const runtimeVersion: string = Bun.version;

/** A hash that finds damage, not malice. */
export const xxHash64 = (data: Uint8Array | string, seed = 0n): bigint => Bun.hash.xxHash64(data, seed);
export const xxHash32 = (text: string): number => Bun.hash.xxHash32(text);

/** SHA-256 of what `update` is given, in hexadecimal digits. */
export type Sha256 = {
  update(data: Uint8Array | string): Sha256;
  digest(encoding: "hex"): string;
};

export const createSha256 = (): Sha256 => new Bun.CryptoHasher("sha256");

/** Waits, and lets nothing else be served meanwhile. */
export const sleepSync = (ms: number): void => Bun.sleepSync(ms);

/** Frees what nobody uses, at once, where the runtime can be told so. */
export const collectGarbage = (): void => void Bun.gc(true);

/** Frees the memory of a buffer that nobody uses any more. */
export const releaseMemory = (buffer: ArrayBuffer): void => void buffer.transfer(0);

export const toBase64 = (bytes: Uint8Array): string => bytes.toBase64();
export const fromBase64 = (text: string): Uint8Array => Uint8Array.fromBase64(text);

/** Whether plain data are equal: objects with the same fields, arrays and typed arrays with the same elements. */
export const deepEquals = (a: unknown, b: unknown): boolean => Bun.deepEquals(a, b);

/** Paths below `cwd` that a glob names, directories and links among them; hidden ones are left out. Links are followed. */
export const pathsMatching = (glob: string, cwd: string): Iterable<string> =>
  new Bun.Glob(glob).scanSync({
    cwd,
    absolute: glob.startsWith("/"),
    onlyFiles: false,
    followSymlinks: true,
    dot: false,
  });

/** Whether a path is one that a glob names; a wildcard stands for the dot of a hidden name, too. */
export function globMatcher(glob: string): (path: string) => boolean {
  const matcher = new Bun.Glob(glob);
  return (path) => matcher.match(path);
}

/**
 * For functions that run only while a tokenizer is loaded: the runtime does not compile them a third time. On two cores its
 * compiler takes that time from the threads that encode, and the third tier saves less.
 */
export function spareThirdTier(...functions: ((...args: never[]) => unknown)[]): void {
  const { noFTL } = require("bun:jsc") as typeof import("bun:jsc");
  for (const each of functions) noFTL(each as () => unknown);
}
