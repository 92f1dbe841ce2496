import { countNoun, formatDay, groupDigits } from "#bytes";
import { type differences, type evaluations, excerpts, findings } from "#evaluation";
import { pageData } from "#pages";
import { reports } from "#reports";
import { meaningOf } from "./difference-meaning.ts";
import { cutPassages } from "./eval-page.ts";

// This file is loaded only with `--report`, to keep startup fast.

type Compared = {
  readonly difference: differences.Difference;
  /** Characters of the text; 0 without one. */
  readonly characters: number;
  readonly tokenizers: readonly [a: evaluations.NamedTokenizer, b: evaluations.NamedTokenizer];
  readonly texts: readonly evaluations.NamedText[];
  readonly command: string;
  readonly warn: reports.Warn;
};

/** Writes the page of `bpe diff`. */
export async function writeDiffPage(path: string, compared: Compared): Promise<void> {
  const { difference, characters, tokenizers, texts, command } = compared;
  const { sentence, more } = findings.differenceOfTwo(difference);
  const [a, b] = tokenizers.map(({ name }) => name) as [string, string];
  const { tokens, merges } = difference;
  const row = (name: string, { inBoth, moved, onlyInA, onlyInB }: Lists) => [
    name,
    ...[inBoth, moved.length, onlyInA.length, onlyInB.length].map(groupDigits),
  ];
  const text = {
    title: findings.spell(sentence, { tokenizers }),
    origin: `bpe diff · ${formatDay(new Date())}`,
    finding: reports.phrasesOf(sentence, tokenizers),
    more: reports.phrasesOf(
      [
        ...(difference.text === null ? [] : [...meaningOf(difference.text, characters), " "]),
        ...more,
        ...sizeSentence(difference),
        ` ${patternSentence(difference)}`,
        ...(difference.text === null ? [" With a text, this page says what that means for it."] : []),
      ],
      tokenizers,
    ),
    cautions: [],
    table: {
      head: ["", "in both", "moved", `only in ${a}`, `only in ${b}`],
      rows: [row("tokens", tokens), row("merges", merges)],
    },
    reading:
      "A token has moved if its id differs; a merge, if it would have to move to make both orders equal.",
  };
  await reports.writePage(path, text, {
    view: "diff",
    names: [a, b],
    ...shortenLists(difference),
    excerpts: excerpts.select(cutPassages(compared)),
    made: [
      ["command", command],
      ...tokenizers.map(
        ({ name, path, parts }) => ["tokenizer", `${name}: ${path} (${parts.description.kind})`] as const,
      ),
      ...texts.map(({ name, paths }) => ["text", `${name}: ${countNoun(paths.length, "file")}`] as const),
      ...reports.pageFacts(),
    ],
  });
}

function sizeSentence({ tokens }: differences.Difference): findings.FindingPart[] {
  const [a, b] = [tokens.onlyInA, tokens.onlyInB].map(({ length }) => tokens.inBoth + length);
  if (a === b) return [` Both have ${countNoun(a!, "token")}.`];
  return [" ", 0, ` has ${countNoun(a!, "token")}, `, 1, ` has ${groupDigits(b!)}.`];
}

function patternSentence({ a, b }: differences.Difference): string {
  const isSame = JSON.stringify(a.patternSources) === JSON.stringify(b.patternSources);
  return isSame ? "Both cut text by the same pattern." : "They cut text by different patterns.";
}

/** Returns the first entries of each list, and the lengths of the lists of tokens and merges. */
function shortenLists(difference: differences.Difference): Pick<pageData.DiffData, "difference" | "counts"> {
  const { tokens, merges, text } = difference;
  const mostFrequent = text?.mostFrequent.slice(0, pageData.listMax) ?? [];
  return {
    difference: {
      ...difference,
      tokens: firstOfLists(tokens),
      merges: firstOfLists(merges),
      text: text && { ...text, mostFrequent },
    },
    counts: { tokens: lengthsOf(tokens), merges: lengthsOf(merges) },
  };
}

type Lists = differences.Difference["tokens"] | differences.Difference["merges"];

const firstOfLists = <L extends Lists>(lists: L): L => ({
  ...lists,
  onlyInA: lists.onlyInA.slice(0, pageData.listMax),
  onlyInB: lists.onlyInB.slice(0, pageData.listMax),
  moved: lists.moved.slice(0, pageData.listMax),
});

const lengthsOf = ({ onlyInA, onlyInB, moved }: Lists): pageData.ListLengths => ({
  onlyInA: onlyInA.length,
  onlyInB: onlyInB.length,
  moved: moved.length,
});
