import { basename, dirname } from "node:path";
import { countNoun, formatSeconds, groupDigits, spacesWithSigns } from "#bytes";
import { type differences, type evaluations, findings } from "#evaluation";
import { recordFiles, renumberingTables, tokenizerFiles } from "#formats";
import { kinds, optionTables } from "#options";
import { reportFiles } from "#reports";
import { asOption, machine, phrase, shell, type UserError, usageError } from "#runtime";
import { ScratchDirectory } from "#store";
import { dataOutput, type Invocation, type Output, stopping, styling, summaryRows } from "#terminal";
import { piecesText } from "./eval-text.ts";
import { compareTokenizers, evaluatingThreadsMax } from "./evaluate.ts";
import { diffOptions } from "./evaluate-options.ts";
import { nameOfText, openTexts, readTexts } from "./open-texts.ts";
import { openTokenizers } from "./open-tokenizers.ts";

/** `bpe diff`: compares two tokenizers, and how they cut a text. */
export async function runDiff(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const { options } = invocation;
  const asked = optionTables.readTyped(diffOptions, options);
  const { texts: typed = [], json, pieces, workers, memoryLimit } = asked;
  const files = typed.map((typed) => kinds.readNamed(asOption("text"), typed).path);
  const [first] = files;
  const typedTexts =
    first === undefined ? [] : readTexts(files.map((path) => ({ name: nameOfText(first), path })));
  const piecesPath = piecesPathOf(pieces);
  await dataOutput.lockFiles(output, piecesPath);
  await reportFiles.takePlace(asked.report, output);
  const budget = new machine.MemoryBudget(memoryLimit);
  const scratch = new ScratchDirectory();
  stopping.onStop(() => scratch.remove());
  const [a, b, ...more] = await openTokenizers(invocation.files, asked, budget, output);
  if (a === undefined || b === undefined || more.length > 0) throw notTwo(invocation.files, [a, b]);
  const reading = { ...asked, trained: recordFiles.readReading([a.path, b.path]) };
  const { texts } = await openTexts(typedTexts, reading, scratch, output);
  const { difference, characters } = await compareTokenizers(
    {
      tokenizers: [a, b],
      text: texts[0] ?? null,
      workerCountFor: machine.workersFor(workers, evaluatingThreadsMax(budget)),
      budget,
      scratch,
    },
    (progress) => output.progress(progress),
  );
  output.endStage();
  await (json ? dataOutput.writeJson(difference) : dataOutput.writeLines(differenceText(difference, [a, b])));
  if (piecesPath !== undefined)
    await dataOutput.writeChunks(piecesPath, renumberingTables.ofPieces(a.parts, b.parts));
  if (asked.report !== undefined) {
    const { writeDiffPage } = await import("./diff-page.ts");
    const command = shell.line(["bpe", "diff", ...invocation.typed]);
    await writeDiffPage(asked.report, {
      difference,
      characters,
      tokenizers: [a, b],
      texts,
      command,
      warn: (message) => output.warn(message),
    });
  }
  const { tokens, merges } = difference;
  const elapsedMs = performance.now() - startMs;
  const told = [
    `compared ${a.name} with ${b.name} in ${formatSeconds(elapsedMs / 1000)}`,
    ...reportFiles.writtenLine(asked.report),
  ];
  output.succeed(told, {
    tokensOnlyInA: tokens.onlyInA.length,
    tokensOnlyInB: tokens.onlyInB.length,
    movedTokens: tokens.moved.length,
    movedMerges: merges.moved.length,
    differentWords: difference.text?.differentWords ?? null,
    elapsedMs: Math.round(elapsedMs),
  });
}

/** Returns the error for a directory with tokenizers of several sizes. `opened` are the first two tokenizers. */
function notTwo(
  files: readonly string[],
  opened: readonly (evaluations.NamedTokenizer | undefined)[],
): UserError {
  const named = files.map((typed) => kinds.readNamed("", typed).path);
  const sized = opened.find(
    (one) =>
      one !== undefined &&
      !named.includes(one.path) &&
      tokenizerFiles.sizesIn(dirname(one.path)).includes(basename(one.path)),
  );
  return usageError(
    `diff compares two tokenizers, but ${sized === undefined ? "one of these directories" : `"${dirname(sized.path)}"`} contains several sizes`,
    `name the directory of one size, e.g. ${sized?.path ?? "tokenizer/32000"}`,
  );
}

/** Returns the file of `--pieces`. It cannot be standard output, where the difference goes. */
function piecesPathOf(path: string | undefined): string | undefined {
  if (path !== "" && path !== "-") return path;
  throw usageError(
    phrase`${asOption("pieces", `"${path}"`)} does not name a file`,
    phrase`give a file name, e.g. ${asOption("pieces", "pieces.tsv")}`,
  );
}

/** The maximum number of entries shown of each list. */
const shownMax = 20;
const shownPiecesMax = 12;

type Names = readonly [a: string, b: string];
type Pair = readonly [a: evaluations.NamedTokenizer, b: evaluations.NamedTokenizer];

/** Formats the difference for people, with the first entries of each list. */
function differenceText(difference: differences.Difference, [first, second]: Pair): styling.Line[] {
  const { a, b, tokens, merges, text } = difference;
  const names = [first.name, second.name] as const;
  const token = (of: { token: string; id: number }) => `${of.id} ${quote(of.token)}`;
  const found = findings.differenceOfTwo(difference);
  const sentences = [found.sentence, found.more].filter((parts) => parts.length > 0);
  const spell = (parts: findings.Finding["sentence"]) =>
    findings.spell(parts, { tokenizers: [first, second] });
  return [
    ...fingerprintLines(a, b),
    ...sentences.map((parts, i) => (i === 0 ? heading(spell(parts)) : spell(parts))),
    `${names[0]}: ${factsText(a)}`,
    `${names[1]}: ${factsText(b)}`,
    ...(samePattern(a, b) ? [] : ["they cut text by different patterns"]),
    "",
    heading(`tokens: ${groupDigits(tokens.inBoth)} in both`),
    ...tokenList(`only in ${names[0]}`, tokens.onlyInA, ({ id }) => isByte(first, id), token),
    ...tokenList(`only in ${names[1]}`, tokens.onlyInB, ({ id }) => isByte(second, id), token),
    ...tokenList(
      "with another id",
      tokens.moved,
      ({ idA }) => isByte(first, idA),
      (of) => `${quote(of.token)} ${of.idA} -> ${of.idB}`,
    ),
    "",
    heading(`merges: ${groupDigits(merges.inBoth)} in both`),
    ...list(`only in ${names[0]}`, merges.onlyInA, ranked),
    ...list(`only in ${names[1]}`, merges.onlyInB, ranked),
    ...list(
      "in another order",
      merges.moved,
      (of) => `${quote(of.left)} ${quote(of.right)} ${of.rankA} -> ${of.rankB}`,
    ),
    ...(text === null ? [] : ["", ...textLines(text, names)]),
  ];
}

const quote = (token: string) => `"${spacesWithSigns(token)}"`;
const ranked = ({ left, right, rank }: differences.MergeWithRank) => `${rank} ${quote(left)} ${quote(right)}`;

const isByte = ({ parts: { tokens } }: evaluations.NamedTokenizer, id: number) =>
  tokens.starts[id + 1]! - tokens.starts[id]! === 1;

/**
 * Lists tokens that differ. Bytes and added tokens are only counted, because they say little about what was learned.
 */
function tokenList<T extends { readonly isSpecial: boolean }>(
  what: string,
  items: readonly T[],
  isByte: (item: T) => boolean,
  shown: (item: T) => string,
): string[] {
  const specials = items.filter(({ isSpecial }) => isSpecial).length;
  const learned = items.filter((item) => !item.isSpecial && !isByte(item));
  const bytes = items.length - specials - learned.length;
  const others = [
    ...(bytes > 0 ? [countNoun(bytes, "byte")] : []),
    ...(specials > 0 ? [countNoun(specials, "special token")] : []),
  ];
  const [head, ...lines] = list(what, learned, shown);
  return [others.length === 0 ? head! : `${head} (and ${others.join(", ")})`, ...lines];
}

const heading = (text: string) => [styling.piece("bold", text)];

const factsText = ({ kind, pattern, vocabularySize, mergeCount }: differences.TokenizerFacts) =>
  `${kind}, pattern ${pattern ?? "of its own"}, ${countNoun(vocabularySize, "token")}, ${countNoun(mergeCount, "merge")}`;

/** Says whether both tokenizers have the same fingerprint. */
const fingerprintLines = (a: differences.TokenizerFacts, b: differences.TokenizerFacts) =>
  a.fingerprint === b.fingerprint
    ? [`same fingerprint: ${a.fingerprint}`]
    : summaryRows.rowLines(
        [["different fingerprints: ", [`${a.fingerprint} and`, b.fingerprint]]],
        styling.lineColumns(1),
        "different fingerprints: ".length,
      );

const samePattern = (a: differences.TokenizerFacts, b: differences.TokenizerFacts) =>
  (a.pattern !== null && a.pattern === b.pattern) ||
  JSON.stringify(a.patternSources) === JSON.stringify(b.patternSources);

function list<T>(what: string, items: readonly T[], shown: (item: T) => string): string[] {
  const lines = items.slice(0, shownMax).map((item) => `    ${shown(item)}`);
  const more = items.length > shownMax ? [`    and ${groupDigits(items.length - shownMax)} more`] : [];
  return [`  ${what}: ${groupDigits(items.length)}`, ...lines, ...more];
}

function textLines(text: differences.TextDifference, names: Names): styling.Line[] {
  const { name, words, differentWords, differentShare, distinctDifferentWords, mostFrequent } = text;
  const share = differentShare === null ? "" : ` (${(100 * differentShare).toFixed(2)} %)`;
  const pieces = (all: readonly string[]) => piecesText(all, shownPiecesMax);
  const shown = mostFrequent.slice(0, shownMax);
  const left = distinctDifferentWords - shown.length;
  return [
    heading(`text ${name}: ${countNoun(words, "word")}`),
    `  tokens: ${groupDigits(text.tokensA)} by ${names[0]}, ${groupDigits(text.tokensB)} by ${names[1]}`,
    `  words cut differently: ${groupDigits(differentWords)}${share}, ${groupDigits(distinctDifferentWords)} of them distinct`,
    ...shown.map(
      ({ count, piecesA, piecesB }) => `    ${groupDigits(count)} x ${pieces(piecesA)} -> ${pieces(piecesB)}`,
    ),
    ...(left > 0 ? [`    and ${groupDigits(left)} more`] : []),
  ];
}
