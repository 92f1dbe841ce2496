import { optionTables, sharedOptions } from "#options";

const { output: outputFile } = sharedOptions.several;

/** The options of `bpe playground`. */
export const teaching = optionTables.of({
  output: { ...outputFile, description: "where the page goes" },
  ...sharedOptions.unattended,
});
