import { readFileSync } from "node:fs";

/** The most memory this process ever held (VmHWM where the kernel tells it), in bytes. */
export function peakMemoryBytes(): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1];
    if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  } catch {}
  const { maxRSS } = process.resourceUsage();
  return process.platform === "darwin" ? maxRSS : maxRSS * 1024;
}
