/** A mark near the start of every page of ours, by which `--report` recognizes a page that it may replace. */
export const mark = '<meta name="generator" content="bpe">';

/** The mark ends within this many bytes of the start of a page. */
export const bytesMax = 256;
