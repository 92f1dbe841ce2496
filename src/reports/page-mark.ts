/** A mark near the start of every page, by which `--report` recognizes a page that it may replace. */
export const mark = '<meta name="generator" content="bpe">';

/** How many bytes at the start of a page contain the mark. */
export const bytesMax = 256;
