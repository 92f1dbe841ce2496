import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { allowedMemoryBytes } from "../../src/runtime/system-memory.ts";
import { scratch } from "../binary.ts";

const home = scratch();

/** A machine of 8 GiB with these files. */
function machine(files: Record<string, string>): string {
  const root = mkdtempSync(join(home, "root-"));
  for (const [path, content] of Object.entries({ "proc/meminfo": "MemTotal:  8388608 kB\n", ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

const mounted = (group: string, point: string, type: string, options = "rw") =>
  `35 31 0:32 ${group} ${point} rw,relatime shared:9 - ${type} ${type} ${options}\n`;
const gibibyte = 2 ** 30;

test("without control groups a process may use the machine's memory", () => {
  expect(allowedMemoryBytes(machine({}))).toBe(8 * gibibyte);
});

test("the tightest of nested groups decides (version 2)", () => {
  const files = {
    "proc/self/cgroup": "0::/work.slice/nightly.scope\n",
    "proc/self/mountinfo": mounted("/", "/sys/fs/cgroup", "cgroup2"),
    "sys/fs/cgroup/work.slice/memory.max": `${2 * gibibyte}\n`,
    "sys/fs/cgroup/work.slice/nightly.scope/memory.max": "max\n",
  };
  expect(allowedMemoryBytes(machine(files))).toBe(2 * gibibyte);
  const high = { ...files, "sys/fs/cgroup/work.slice/nightly.scope/memory.high": `${gibibyte}\n` };
  expect(allowedMemoryBytes(machine(high))).toBe(gibibyte);
});

test("version 1 has a hierarchy for memory among others, and a huge number for no limit", () => {
  const files = {
    "proc/self/cgroup": "5:cpu,cpuacct:/other\n4:memory:/jobs/a\n0::/\n",
    "proc/self/mountinfo":
      mounted("/", "/sys/fs/cgroup/cpu", "cgroup", "rw,cpu,cpuacct") +
      mounted("/", "/sys/fs/cgroup/memory", "cgroup", "rw,memory") +
      mounted("/", "/sys/fs/cgroup/unified", "cgroup2"),
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "sys/fs/cgroup/memory/jobs/memory.limit_in_bytes": `${3 * gibibyte}\n`,
    "sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes": "9223372036854771712\n",
    "sys/fs/cgroup/cpu/other/memory.limit_in_bytes": "1\n",
  };
  expect(allowedMemoryBytes(machine(files))).toBe(3 * gibibyte);
});

test("in a container the group of the container is the root of the mount", () => {
  const limited = { "sys/fs/cgroup/memory/memory.limit_in_bytes": `${gibibyte}\n` };
  const mountinfo = mounted("/docker/abc", "/sys/fs/cgroup/memory", "cgroup", "rw,memory");
  for (const group of ["/docker/abc", "/", "/../outside"]) {
    const files = {
      ...limited,
      // Outside of what is mounted.
      "sys/fs/outside/memory.limit_in_bytes": "1\n",
      "sys/fs/cgroup/outside/memory.limit_in_bytes": "1\n",
      "proc/self/cgroup": `4:memory:${group}\n`,
      "proc/self/mountinfo": mountinfo,
    };
    expect(allowedMemoryBytes(machine(files))).toBe(gibibyte);
  }
});

test("a limit above the machine's memory is none", () => {
  const files = {
    "proc/self/cgroup": "0::/a\n",
    "proc/self/mountinfo": mounted("/", "/sys/fs/cgroup", "cgroup2"),
    "sys/fs/cgroup/a/memory.max": `${100 * gibibyte}\n`,
  };
  expect(allowedMemoryBytes(machine(files))).toBe(8 * gibibyte);
});
