import { optionTables, sharedOptions } from "#options";

/** The options of `bpe doctor`. Help lists the options of a topic in the order in which they are here. */
export const doctorOptions = optionTables.of({
  texts: {
    ...sharedOptions.several.texts,
    description: "a text that shows which tokens occur",
    details: "Anything that encode reads, or - for standard input. Several files are one text.",
  },
  ...{
    json: sharedOptions.several.json,
    ...sharedOptions.tokenizerSupplements,
    ...sharedOptions.reading,
    ...sharedOptions.common,
  },
});
