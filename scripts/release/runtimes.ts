import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.ts";

type Lock = { readonly packages: Record<string, { version: string; integrity?: string } | undefined> };

/** The Bun of a platform, as package-lock.json pins it. */
export type Runtime = {
  readonly packageName: string;
  readonly version: string;
  /** The SHA-512 of the package, in hexadecimal digits. */
  readonly sha512: string;
};

export function pinnedRuntime(root: string, packageName: string): Runtime {
  const lock: Lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const locked = lock.packages[`node_modules/${packageName}`];
  if (locked === undefined) throw new Error(`package-lock.json does not pin "${packageName}"`);
  return { packageName, version: locked.version, sha512: sha512Of(packageName, locked.integrity) };
}

/** The checksum in a package's `integrity`, in hexadecimal digits. */
export function sha512Of(packageName: string, integrity: string | undefined): string {
  const digest = /^sha512-(.+)$/.exec(integrity ?? "")?.[1];
  if (digest === undefined) throw new Error(`package-lock.json has no SHA-512 of "${packageName}"`);
  return Buffer.from(digest, "base64").toString("hex");
}

/**
 * Returns the path of a platform's Bun, downloaded by npm unless it is in `directory`. The package is compared with
 * package-lock.json each time, so that nothing else gets into a release.
 */
export function fetchRuntime({ packageName, version, sha512 }: Runtime, directory: string): string {
  const name = `${packageName.replace(/^@/, "").replace("/", "-")}-${version}`;
  const packed = join(directory, `${name}.tgz`);
  if (!existsSync(packed)) {
    const download = join(directory, `${name}.part`);
    rmSync(download, { recursive: true, force: true });
    mkdirSync(download, { recursive: true });
    run("npm", ["pack", "--silent", `${packageName}@${version}`, "--pack-destination", download]);
    renameSync(join(download, readdirSync(download)[0]!), packed);
    rmSync(download, { recursive: true });
  }
  const found = createHash("sha512").update(readFileSync(packed)).digest("hex");
  if (found !== sha512) {
    throw new Error(`"${packed}" is not what package-lock.json pins; remove it to download it again`);
  }
  const unpacked = join(directory, name);
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  run("tar", ["-xzf", packed, "-C", unpacked, "--strip-components=1"]);
  const executable = ["bun", "bun.exe"].map((file) => join(unpacked, "bin", file)).find(existsSync);
  if (executable === undefined) throw new Error(`"${packed}" holds no Bun`);
  return executable;
}
