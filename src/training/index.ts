// A training as a request, and its steps from counting to publication.

export type { SaveOptions } from "./chosen-files.ts";
export * as chosenFiles from "./chosen-files.ts";
export { imageAt } from "./image-at.ts";
export { partsOfTraining } from "./parts-of-training.ts";
export { type Finished, runTraining, type TrainingHost } from "./run-training.ts";
export { imageFactsOf } from "./tokenizer-facts.ts";
export type { TrainingStatistics } from "./trained-facts.ts";
export * as trainedFacts from "./trained-facts.ts";
export * as trainings from "./training.ts";
export * as results from "./write-result.ts";
