import { counted, dayOf, grouped } from "../bytes/quantities.ts";
import type { Difference } from "../evaluation/difference.ts";
import type { NamedText, NamedTokenizer } from "../evaluation/evaluation.ts";
import { excerptsOf } from "../evaluation/excerpts.ts";
import { differenceOfTwo, type FindingPart, spelled } from "../evaluation/finding.ts";
import { type DiffData, listMax } from "../pages/page-data.ts";
import { type Phrase, pageFile } from "../pages/page-file.ts";
import { build } from "../runtime/version.ts";
import { writeChunks } from "./data-output.ts";
import { readPageTemplate } from "./embedded-pages.ts";
import { cutBeginnings } from "./eval-page.ts";

// Loaded only with `--report`: no other start gets longer.

type Compared = {
  readonly difference: Difference;
  readonly tokenizers: readonly [a: NamedTokenizer, b: NamedTokenizer];
  readonly texts: readonly NamedText[];
  readonly command: string;
};

/** Writes the page of `bpe diff`: what is new, what moved, and the same text cut by both. */
export async function writeDiffPage(path: string, compared: Compared): Promise<void> {
  const { difference, tokenizers, texts, command } = compared;
  const { sentence, more } = differenceOfTwo(difference);
  const phrases = (parts: readonly FindingPart[]): Phrase[] =>
    parts.map((part) => (typeof part === "string" ? part : { text: tokenizers[part]!.name, colour: part }));
  const [a, b] = tokenizers.map(({ name }) => name) as [string, string];
  const { tokens, merges } = difference;
  const row = (name: string, inBoth: number, moved: readonly unknown[], onlyIn: readonly number[]) => [
    name,
    ...[inBoth, moved.length, ...onlyIn].map(grouped),
  ];
  const text = {
    title: spelled(sentence, { tokenizers }),
    origin: `bpe diff · ${dayOf(new Date())}`,
    finding: phrases(sentence),
    more: [...phrases(more), ` ${patternSentence(difference)}`],
    cautions: [],
    table: {
      head: ["", "in both", "moved", `only in ${a}`, `only in ${b}`],
      rows: [
        row("tokens", tokens.inBoth, tokens.moved, [tokens.onlyInA.length, tokens.onlyInB.length]),
        row("merges", merges.inBoth, merges.moved, [merges.onlyInA.length, merges.onlyInB.length]),
      ],
    },
    reading: "A token moved if its id is another one, a merge if it would have to move for one order.",
  };
  const page = pageFile(readPageTemplate(), text, {
    view: "diff",
    names: [a, b],
    ...shortened(difference),
    excerpts: excerptsOf(cutBeginnings(texts, tokenizers)),
    made: [
      ["command", command],
      ...tokenizers.map(
        ({ name, path, parts }) => ["tokenizer", `${name}: ${path} (${parts.description.kind})`] as const,
      ),
      ...texts.map(({ name, paths }) => ["text", `${name}: ${counted(paths.length, "file")}`] as const),
      ["written", new Date().toISOString()],
      ["bpe", `${build.version}, Bun ${build.bunVersion}, commit ${build.commit}`],
    ],
  });
  await writeChunks(path, [new TextEncoder().encode(page)]);
}

function patternSentence({ a, b }: Difference): string {
  const isSame = JSON.stringify(a.patternSources) === JSON.stringify(b.patternSources);
  return isSame ? "Both cut text by the same pattern." : "They cut text by different patterns.";
}

/** The first entries of each list, and how long the lists are. */
function shortened(difference: Difference): Pick<DiffData, "difference" | "counts"> {
  const { tokens, merges, text } = difference;
  const first = <T>(list: readonly T[]) => list.slice(0, listMax);
  return {
    difference: {
      ...difference,
      tokens: {
        ...tokens,
        onlyInA: first(tokens.onlyInA),
        onlyInB: first(tokens.onlyInB),
        moved: first(tokens.moved),
      },
      merges: {
        ...merges,
        onlyInA: first(merges.onlyInA),
        onlyInB: first(merges.onlyInB),
        moved: first(merges.moved),
      },
      text: text && { ...text, mostFrequent: first(text.mostFrequent) },
    },
    counts: {
      tokensOnlyInA: tokens.onlyInA.length,
      tokensOnlyInB: tokens.onlyInB.length,
      movedTokens: tokens.moved.length,
      mergesOnlyInA: merges.onlyInA.length,
      mergesOnlyInB: merges.onlyInB.length,
      movedMerges: merges.moved.length,
    },
  };
}
