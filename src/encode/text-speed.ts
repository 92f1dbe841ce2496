/** Formats a speed to append to a time, such as ", 12 MB/s"; empty below 1 MB, where startup takes most of the time. */
export const formatSpeed = (sizeBytes: number, elapsedMs: number) =>
  sizeBytes < 1e6
    ? ""
    : `, ${(sizeBytes / 1e3 / elapsedMs).toFixed(sizeBytes < 1e4 * elapsedMs ? 1 : 0)} MB/s`;
