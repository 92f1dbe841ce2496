import { bytes, counted, grouped } from "../bytes/quantities.ts";
import { readWrittenLedger, type WrittenLedger } from "../formats/tokens-tsv.ts";
import type { Compression } from "../report/report-data.ts";
import { inTurns } from "../runtime/turns.ts";
import { build } from "../runtime/version.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import type { CountedText } from "./counted-text.ts";
import { cutSamples, reportTokenizer, sampleTextsOf, shortName, writeReport } from "./report-writer.ts";

/** The report of `bpe inspect`: one tokenizer, what is known of its training, and one text if there is one. */
export async function writeInspectReport(
  path: string,
  command: string,
  parts: TokenizerParts,
  text: CountedText | undefined,
): Promise<void> {
  const { description, tokens, model, normalization } = parts;
  const ledger = (await inTurns(readWrittenLedger(parts))) ?? undefined;
  const ofText = text && { of: shortName(text.path), endCounts: text.counts };
  const counts = ofText ?? (ledger && { of: "the corpus of its training", endCounts: ledger.endCounts });
  const name = shortName(description.path);
  await writeReport(path, {
    title: `Tokenizer ${name}`,
    highlights: [
      {
        name: "vocabulary",
        value: grouped(tokens.tokenCount),
        note: counted(model.merges.merged.length, "merge"),
      },
      { name: "pattern", value: description.patternName ?? "a regular expression" },
      ...(text === undefined
        ? []
        : [
            { name: "text", value: bytes(text.textBytes), note: counted(text.idCount, "token") },
            { name: "bytes per token", value: (text.textBytes / Math.max(1, text.idCount)).toFixed(3) },
          ]),
    ],
    tokenizers: [reportTokenizer(name, parts, { counts, ledger })],
    compression: ledger && curveOf(ledger),
    samples: text === undefined ? [] : cutSamples(sampleTextsOf(text.inputs), [{ parts, tokens }]),
    provenance: [
      ["command", command],
      ["tokenizer", `${description.path} (${description.kind})`],
      ...description.patternSources.map((source) => ["pattern", source] as const),
      ["normal form", normalization ?? "none"],
      ...(text === undefined ? [] : ([["text", text.path]] as const)),
      ["bpe", `${build.version}, Bun ${build.bunVersion}, commit ${build.commit}`],
      ["written", new Date().toISOString()],
    ],
  });
}

/** The curve of its training; undefined if the corpus was empty. */
function curveOf({ facts, tokensAfter }: WrittenLedger): Compression | undefined {
  const whole = facts.curve.at(-1);
  return whole && { baseSize: whole.vocabSize - (tokensAfter.length - 1), tokensAfter };
}
