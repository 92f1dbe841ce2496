import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join, relative } from "node:path";

/**
 * The memory that this process may use, in bytes: the machine's, or the limit of the tightest control group around it.
 * Groups are nested, and each, from the group of the process up to the root, may have a limit of its own.
 *
 * @param root the directory that holds /proc and /sys, for tests
 */
export function allowedMemoryBytes(root = "/"): number {
  const machineKilobytes = /^MemTotal:\s+(\d+) kB/m.exec(read(join(root, "proc/meminfo")))?.[1];
  let allowed = machineKilobytes === undefined ? totalmem() : Number(machineKilobytes) * 1024;
  for (const directory of groupDirectories(root)) {
    for (const name of limitNames) {
      // No limit is "max", in the first version a number beyond every machine.
      const bytes = Number.parseInt(read(join(directory, name)), 10);
      if (bytes > 0 && bytes < allowed) allowed = bytes;
    }
  }
  return allowed;
}

/** Both versions' hard limits. Above `memory.high` a group is not killed, but slowed down until it is useless. */
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

/** Where memory groups of each version are mounted, and which group is the root there. */
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

/** The most memory that this process ever held, in bytes: VmHWM where the kernel tells it. */
export function peakMemoryBytes(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(read("/proc/self/status"))?.[1];
  if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  const { maxRSS } = process.resourceUsage();
  return process.platform === "darwin" ? maxRSS : maxRSS * 1024;
}

/** The text of a file; empty if there is none. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
