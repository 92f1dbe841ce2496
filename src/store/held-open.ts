import { host, isWindows, systemError } from "#runtime";

/** Whether a program may hold the file open. The codes also mean a lack of permission. */
export const isHeldOpen = (error: unknown): boolean =>
  isWindows && ["EPERM", "EACCES", "EBUSY"].includes(systemError.codeOf(error));

/** Retries for a second while another program holds the file open. */
export function retryWhileHeldOpen<T>(attempt: () => T): T {
  for (let left = retryCount; ; left--) {
    try {
      return attempt();
    } catch (error) {
      if (left === 0 || !isHeldOpen(error)) throw error;
      host.sleepSync(retryDelayMs);
    }
  }
}

const retryCount = 20;
const retryDelayMs = 50;
