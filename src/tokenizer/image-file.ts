/** The file name of an image in a tokenizer's directory. */
export const name = "tokenizer.image";

export const magic = "bpeimage";

/**
 * Whether `image` is a tokenizer image, but was made by another build than the image `own`. Compares the versions and
 * digests in their heads (image.ts).
 */
export const isOfOtherBuild = (image: Uint8Array, own: Uint8Array): boolean =>
  Buffer.from(image.subarray(0, 8)).toString("latin1") === magic &&
  [
    [8, 12],
    [16, 32],
  ].some(([from, to]) => Buffer.compare(image.subarray(from, to), own.subarray(from, to)) !== 0);
