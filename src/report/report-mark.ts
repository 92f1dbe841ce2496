/** Stands near the head of every report, so that a later one knows that it may take its place. */
export const reportMark = '<meta name="generator" content="bpe">';

/** A report has its mark among its first bytes. */
export const reportHeadBytes = 256;
