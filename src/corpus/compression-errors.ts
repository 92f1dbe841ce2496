import { UserError } from "../errors.ts";
import { shellQuoted } from "../runtime/hints.ts";
import type { Compression } from "./input.ts";

export type Packing = Exclude<Compression, "none">;

/** The error of compressed data, made of what `node:zlib` threw. */
export function decompressionError(path: string, compression: Packing, error: unknown): UserError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "Z_BUF_ERROR") return cutShort(path, compression);
  if (code === "ZSTD_error_frameParameter_windowTooLarge") {
    return new UserError(`"${path}" is zstd data with a window of more than 128 MB (zstd --long)`, {
      hint: `unpack it, which takes that much memory: zstd -dc --long=31 ${shellQuoted(path)} | bpe … -`,
    });
  }
  if (code === "ZSTD_error_dictionary_wrong") {
    return new UserError(`"${path}" is zstd data that was compressed with a dictionary`, {
      hint: `unpack it with the same one: zstd -dc -D DICTIONARY ${shellQuoted(path)} | bpe … -`,
    });
  }
  return damaged(path, compression, message);
}

export const cutShort = (path: string, compression: Packing) =>
  new UserError(`"${path}" ends in the middle of its ${compression} data`, {
    hint: "it was cut short: copy or compress it again",
  });

/** Bun reads all frames, Node only the first one. */
export const severalFrames = (path: string) =>
  new UserError(`"${path}" has several frames of zstd, and Node reads only the first`, {
    hint: `use Bun or the command bpe, or unpack it first: zstd -d ${shellQuoted(path)}`,
  });

export const damaged = (path: string, compression: Packing, what: string) =>
  new UserError(`"${path}" is damaged ${compression} data: ${what}`, {
    hint: `${compression} -t tells more; copy or compress it again`,
  });
