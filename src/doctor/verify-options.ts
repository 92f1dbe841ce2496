import { kinds, optionTables, sharedOptions } from "#options";

const { workers, memoryLimit } = sharedOptions.ofTraining;

/** The options of `bpe verify`. Help lists the options of a topic in the order in which they are here. */
export const verifyOptions = optionTables.of({
  moved: {
    name: "input",
    kind: kinds.oldAndNew("corpus=/data/corpus"),
    topic: "input",
    description: "where an input, or a folder of inputs, is now",
    details:
      "OLD is a path as training.json has it, or a folder above. A relative path is looked up in the directory of the training, then in this one. The same goes for word counts, and for the tokenizers of --extend and --like.",
  },
  filesOnly: {
    name: "files-only",
    kind: kinds.flag,
    topic: "input",
    sample: "",
    description: "do not train: check files against the record",
  },
  json: sharedOptions.several.json,
  ...{ workers, memoryLimit },
  ...sharedOptions.common,
});
