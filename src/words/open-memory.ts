import type { RequestedTraining } from "#options";
import type { Message, machine } from "#runtime";
import { ScratchDirectory } from "#store";
import type { CountMemory } from "./count-memory.ts";
import { type CutSettings, countsOptionsOf } from "./cut-settings.ts";
import type { OpenCache } from "./open-cache.ts";

/**
 * Opens the memory for counting, with a directory for words that do not fit (`memory.scratch`), and the cache if one is
 * requested. The caller must remove the directory.
 */
export async function openMemory(
  asked: Pick<RequestedTraining, "cache" | "cacheLimit">,
  cutting: CutSettings,
  budget: machine.MemoryBudget,
  warn: (message: Message) => void,
): Promise<{ memory: CountMemory; cached?: OpenCache }> {
  const countsOptions = countsOptionsOf(cutting);
  if (asked.cache === undefined)
    return { memory: { budget, scratch: new ScratchDirectory(undefined), countsOptions } };
  const { openCache } = await import("./open-cache.ts");
  const { scratch, cached } = openCache(asked.cache, asked, cutting, warn);
  return { memory: { budget, scratch, countsOptions }, cached };
}
