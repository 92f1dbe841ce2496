import { sharedOptions, tableOf, unattendedOptions } from "#options";

// The options of playground, each table in the order of help.

const { output: outputFile } = sharedOptions;

/** The options of `bpe playground`. */
export const teaching = tableOf({
  output: { ...outputFile, description: "where the page goes" },
  ...unattendedOptions,
});
