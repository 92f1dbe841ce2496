import { tableOf } from "../options/option.ts";
import { shared, unattended } from "../options/shared-options.ts";

// The options of playground, each table in the order of help.

const { output: outputFile } = shared;

/** The options of `bpe playground`. */
export const teaching = tableOf({
  output: { ...outputFile, description: "where the page goes" },
  ...unattended,
});
