import { UserError } from "#runtime";
import { partsOfImage } from "#tokenizer";
import { refuseOptions } from "./assemble-model.ts";
import type { TokenizerFormat } from "./output-file.ts";

/** Reads the image of a tokenizer. Its layout is in src/tokenizer/image.ts. */
export const image: TokenizerFormat = {
  read: ([{ path, bytes }], options) => {
    refuseOptions(path, options);
    return partsOfImage(bytes, path);
  },
  prune: ([{ path }]) => {
    throw new UserError(`no tokens can be removed from "${path}": it is an image of a tokenizer`, {
      hint: "remove them from the tokenizer that the image was made from, and make a new image with bpe image",
    });
  },
};
