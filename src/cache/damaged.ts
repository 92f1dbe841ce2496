/** Thrown where a file of the cache is not as it was written. */
export class Damaged extends Error {
  constructor(readonly path: string) {
    super(`${path} is damaged`);
  }
}
