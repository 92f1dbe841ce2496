import { openLibc } from "./libc.ts";

const events = { reading: 0x001, writing: 0x004 };
/** struct pollfd: the descriptor, what is asked of it, and what it answers, 16 bits each. */
const asked = new Int32Array(2);

/**
 * Waits, and lets nothing else be served meanwhile, until a descriptor is ready: then the next read, or a write of a page,
 * does not wait. False after `waitMs`, after a signal, and where the system cannot be asked.
 */
export function isReady(fd: number, way: keyof typeof events, waitMs = 0): boolean {
  const libc = openLibc("poll");
  if (libc === null) return false;
  asked[0] = fd;
  asked[1] = events[way];
  return libc.poll(asked, 1n, waitMs) === 1;
}
