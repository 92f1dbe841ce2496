/** The file name of an image in the tokenizer's directory, where other programs look for it. */
export const name = "tokenizer.image";

/** The first bytes of every image. */
export const magic = "bpeimage";
