import { existsSync, readFileSync } from "node:fs";
import * as host from "../../../src/runtime/host.ts";

/** Whether huge pages were requested for an array's start; null if the system has none. */
export function isHuge(array: Uint8Array): boolean | null {
  if (!existsSync("/sys/kernel/mm/transparent_hugepage")) return null;
  const address = host.addressOf(array);
  const areas = readFileSync("/proc/self/smaps", "utf8").split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/);
  const area = areas.find((lines) => {
    const [from, to] = lines.slice(0, lines.indexOf(" ")).split("-");
    return Number(`0x${from}`) <= address && address < Number(`0x${to}`);
  });
  return / hg\b/.test(area!.match(/^VmFlags:.*$/m)![0]);
}
