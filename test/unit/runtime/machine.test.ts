import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import * as machine from "../../../src/runtime/machine.ts";
import { scratch } from "../../binary.ts";

const home = scratch();

/** Returns the root directory of a machine of 8 GiB with these files. */
function fakeMachine(files: Record<string, string>): string {
  const root = mkdtempSync(join(home, "root-"));
  for (const [path, content] of Object.entries({
    "proc/meminfo": "MemTotal:  8388608 kB\nMemAvailable:  4194304 kB\n",
    ...files,
  })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

const mounted = (group: string, point: string, type: string, options = "rw") =>
  `35 31 0:32 ${group} ${point} rw,relatime shared:9 - ${type} ${type} ${options}\n`;
const gibibyte = 2 ** 30;

test("without control groups a process may use the machine's memory", () => {
  expect(machine.allowedMemoryBytes(fakeMachine({}))).toBe(8 * gibibyte);
});

test("the tightest of nested groups decides (version 2)", () => {
  const files = {
    "proc/self/cgroup": "0::/work.slice/nightly.scope\n",
    "proc/self/mountinfo": mounted("/", "/sys/fs/cgroup", "cgroup2"),
    "sys/fs/cgroup/work.slice/memory.max": `${2 * gibibyte}\n`,
    "sys/fs/cgroup/work.slice/nightly.scope/memory.max": "max\n",
  };
  expect(machine.allowedMemoryBytes(fakeMachine(files))).toBe(2 * gibibyte);
  const high = { ...files, "sys/fs/cgroup/work.slice/nightly.scope/memory.high": `${gibibyte}\n` };
  expect(machine.allowedMemoryBytes(fakeMachine(high))).toBe(gibibyte);
});

test("version 1 has a separate hierarchy for memory, and a huge number instead of no limit", () => {
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
  expect(machine.allowedMemoryBytes(fakeMachine(files))).toBe(3 * gibibyte);
});

test("in a container, the container's group is the root of the mount", () => {
  const limited = { "sys/fs/cgroup/memory/memory.limit_in_bytes": `${gibibyte}\n` };
  const mountinfo = mounted("/docker/abc", "/sys/fs/cgroup/memory", "cgroup", "rw,memory");
  for (const group of ["/docker/abc", "/", "/../outside"]) {
    const files = {
      ...limited,
      // These files are outside of the mounted directory.
      "sys/fs/outside/memory.limit_in_bytes": "1\n",
      "sys/fs/cgroup/outside/memory.limit_in_bytes": "1\n",
      "proc/self/cgroup": `4:memory:${group}\n`,
      "proc/self/mountinfo": mountinfo,
    };
    expect(machine.allowedMemoryBytes(fakeMachine(files))).toBe(gibibyte);
  }
});

test("a limit above the machine's memory is ignored", () => {
  const files = {
    "proc/self/cgroup": "0::/a\n",
    "proc/self/mountinfo": mounted("/", "/sys/fs/cgroup", "cgroup2"),
    "sys/fs/cgroup/a/memory.max": `${100 * gibibyte}\n`,
  };
  expect(machine.allowedMemoryBytes(fakeMachine(files))).toBe(8 * gibibyte);
});

test("free memory is what the machine, or the tightest group, has left; inactive cached files count as free", () => {
  expect(machine.freeMemoryBytes(fakeMachine({}))).toBe(4 * gibibyte);
  const second = {
    "proc/self/cgroup": "0::/work.slice/a.scope\n",
    "proc/self/mountinfo": mounted("/", "/sys/fs/cgroup", "cgroup2"),
    "sys/fs/cgroup/work.slice/memory.max": `${2 * gibibyte}\n`,
    "sys/fs/cgroup/work.slice/memory.current": `${1.5 * gibibyte}\n`,
    "sys/fs/cgroup/work.slice/memory.stat": `anon 5\ninactive_file ${0.25 * gibibyte}\n`,
    "sys/fs/cgroup/work.slice/a.scope/memory.current": `${gibibyte}\n`,
  };
  expect(machine.freeMemoryBytes(fakeMachine(second))).toBe(0.75 * gibibyte);
  const first = {
    "proc/self/cgroup": "4:memory:/jobs\n",
    "proc/self/mountinfo": mounted("/", "/sys/fs/cgroup/memory", "cgroup", "rw,memory"),
    "sys/fs/cgroup/memory/jobs/memory.limit_in_bytes": `${gibibyte}\n`,
    "sys/fs/cgroup/memory/jobs/memory.usage_in_bytes": `${3 * gibibyte}\n`,
    "sys/fs/cgroup/memory/jobs/memory.stat": "inactive_file 1\ntotal_inactive_file 4096\n",
  };
  expect(machine.freeMemoryBytes(fakeMachine(first))).toBe(0);
});

test("a quota of processor time, in either version and in any enclosing group, is a number of cores", () => {
  const second = (quota: string) => ({
    "proc/self/cgroup": "0::/work.slice/a.scope\n",
    "proc/self/mountinfo": mounted("/", "/sys/fs/cgroup", "cgroup2"),
    "sys/fs/cgroup/work.slice/cpu.max": quota,
    "sys/fs/cgroup/work.slice/a.scope/cpu.max": "max 100000\n",
  });
  const first = (quota: string) => ({
    "proc/self/cgroup": "5:cpu,cpuacct:/jobs/a\n4:memory:/other\n",
    "proc/self/mountinfo": mounted("/", "/sys/fs/cgroup/cpu", "cgroup", "rw,cpu,cpuacct"),
    "sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us": quota,
    "sys/fs/cgroup/cpu/jobs/cpu.cfs_period_us": "100000\n",
    "sys/fs/cgroup/cpu/jobs/a/cpu.cfs_quota_us": "-1\n",
    "sys/fs/cgroup/cpu/jobs/a/cpu.cfs_period_us": "100000\n",
  });
  const cores = availableParallelism();
  expect(machine.allowedCores(fakeMachine({}))).toBe(cores);
  for (const files of [second("50000 100000\n"), first("50000\n")])
    expect(machine.allowedCores(fakeMachine(files))).toBe(1);
  for (const files of [second("150000 100000\n"), first("150000\n")]) {
    expect(machine.allowedCores(fakeMachine(files))).toBe(Math.min(2, cores));
  }
  for (const files of [second("max 100000\n"), first("-1\n"), second("9900000 100000\n")]) {
    expect(machine.allowedCores(fakeMachine(files))).toBe(Math.min(99, cores));
  }
});

test("a requested number of workers is used for any size", () => {
  expect([0, 1e6, 1e12].map(machine.workersFor(3, 2))).toEqual([3, 3, 3]);
});

test("small corpora get no worker, and large ones as many as memory allows", () => {
  expect([0, 31e6].map(machine.workersFor(undefined, 64))).toEqual([1, 1]);
  expect(machine.workersFor(undefined, 1)(1e12)).toBe(1);
  expect(machine.workersFor(undefined, 64)(1e12)).toBeGreaterThanOrEqual(1);
});
