import { Tokenizer } from "tokenizers";
import type { Normalization } from "../../../src/text/normalization.ts";
import * as normalForms from "../../../src/text/normalization.ts";

/** Returns a function that normalizes a text with HF's normalizers for these steps. */
export function hfNormalizer(normalization: Normalization): (text: string) => string {
  const normalizers = normalForms.stepsOf(normalization).map((step) => ({
    type: step === "lowercase" ? "Lowercase" : step,
  }));
  const json = {
    version: "1.0",
    normalizer: { type: "Sequence", normalizers },
    model: { type: "BPE", vocab: {}, merges: [] },
  };
  const normalizer = Tokenizer.fromString(JSON.stringify(json)).getNormalizer()!;
  return (text) => normalizer.normalizeString(text);
}
