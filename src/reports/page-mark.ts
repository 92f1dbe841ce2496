/** A mark near the start of every page. `--report` overwrites only files that have it. */
export const mark = '<meta name="generator" content="bpe">';

/** How many bytes at the start of a page contain the mark. */
export const bytesMax = 256;
