import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join, relative } from "node:path";

/**
 * The memory that this process may use at most: the machine's, or that of the tightest control group it is in. Groups
 * are nested, and each of them, from that of the process up to the root, may have a limit of its own.
 *
 * @param root where /proc and /sys stand, for tests
 */
export function allowedMemoryBytes(root = "/"): number {
  const machineKilobytes = /^MemTotal:\s+(\d+) kB/m.exec(read(join(root, "proc/meminfo")))?.[1];
  let allowed = machineKilobytes === undefined ? totalmem() : Number(machineKilobytes) * 1024;
  for (const directory of groupDirectories(root)) {
    for (const name of limitNames) {
      // "max", and in the first version a number beyond every machine, are no limit.
      const bytes = Number.parseInt(read(join(directory, name)), 10);
      if (bytes > 0 && bytes < allowed) allowed = bytes;
    }
  }
  return allowed;
}

/** The hard limit of both versions; above `memory.high` a group is not killed, but slowed down until it is useless. */
const limitNames = ["memory.max", "memory.high", "memory.limit_in_bytes"];

/** The directories of the memory groups that the process is in, from its own to the root of each hierarchy. */
function groupDirectories(root: string): string[] {
  const mounts = memoryMounts(root);
  const directories: string[] = [];
  for (const line of read(join(root, "proc/self/cgroup")).split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const mount = mounts.find(({ version }) =>
      version === 2 ? controllers === "" : controllers.split(",").includes("memory"),
    );
    if (mount === undefined) continue;
    // In a container the mount may show the container's own group as its root.
    const below = relative(mount.group, path);
    const parts = below === "" || below.startsWith("..") ? [] : below.split("/");
    for (let depth = parts.length; depth >= 0; depth--) {
      directories.push(join(root, mount.point, ...parts.slice(0, depth)));
    }
  }
  return directories;
}

type Mount = { readonly point: string; readonly group: string; readonly version: 1 | 2 };

/** Where the groups of each version that know memory are mounted, and which group is the root there. */
function memoryMounts(root: string): Mount[] {
  return read(join(root, "proc/self/mountinfo"))
    .split("\n")
    .flatMap((line): Mount[] => {
      const [front, back] = line.split(" - ");
      const [, , , group, point] = front!.split(" ");
      const [type, , options] = back?.split(" ") ?? [];
      if (group === undefined || point === undefined) return [];
      if (type === "cgroup2") return [{ point, group, version: 2 }];
      const knowsMemory = type === "cgroup" && options?.split(",").includes("memory");
      return knowsMemory ? [{ point, group, version: 1 }] : [];
    });
}

/** What is not there is as good as empty. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
