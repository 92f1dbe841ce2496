/** What the image of a tokenizer is called in the tokenizer's directory, where other programs look for it. */
export const imageName = "tokenizer.image";

/** Every image begins so. */
export const imageMagic = "bpeimage";
