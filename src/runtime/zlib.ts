import { UserError } from "../errors.ts";

type Zlib = typeof import("node:zlib");

/** The runtime's decompressors. Loading them takes 1.6 ms: only where something is compressed. */
export const zlib = (): Zlib => require("node:zlib") as Zlib;

/** The same with zstd, which Node has from version 22.15 on. */
export function zlibWithZstd(): Zlib {
  const loaded = zlib();
  if (typeof loaded.zstdDecompressSync === "function") return loaded;
  throw new UserError(`zstd cannot be unpacked by Node ${process.versions.node}`, {
    hint: "use Node 22.15 or later, or Bun; or unpack it first: zstd -d",
  });
}
