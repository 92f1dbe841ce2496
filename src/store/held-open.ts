import { host, isWindows, systemError } from "#runtime";

/**
 * Whether the error may be Windows' refusal to rename, replace or open something that a program holds open. The same
 * error codes also mean a lack of permission.
 */
export const isHeldOpen = (error: unknown): boolean =>
  isWindows && ["EPERM", "EACCES", "EBUSY"].includes(systemError.codeOf(error));

/**
 * Calls `attempt` again, for up to a second, while it fails because another program may hold the file open. Virus
 * scanners and indexers release a file sooner.
 */
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
