import { commonOptions, readingOptions, sharedOptions, tableOf, tokenizerSupplements } from "#options";

/** The options of `bpe doctor`, in the order of help. */
export const doctorOptions = tableOf({
  texts: {
    ...sharedOptions.texts,
    description: "a text that shows which tokens occur",
    details: "Anything that encode reads, or - for standard input. Several files are one text.",
  },
  ...{ json: sharedOptions.json, ...tokenizerSupplements, ...readingOptions, ...commonOptions },
});
