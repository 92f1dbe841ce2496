import { sharedOptions, tableOf, unattendedOptions } from "#options";

const { output: outputFile } = sharedOptions;

/** The options of `bpe playground`. */
export const teaching = tableOf({
  output: { ...outputFile, description: "where the page goes" },
  ...unattendedOptions,
});
