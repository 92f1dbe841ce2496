import { basename } from "node:path";
import { countNoun, formatBytes, groupDigits } from "#bytes";
import { inputSearch, inspection } from "#corpus";
import { type CountedText, countTokensOf } from "#encoding";
import { evaluations, vocabularyStatistics } from "#evaluation";
import { modelFiles, namedTokenizers, recordFiles } from "#formats";
import { optionTables } from "#options";
import { namedPatterns, patternForms, patterns } from "#pattern";
import { reportFiles } from "#reports";
import { runSliced, shell } from "#runtime";
import { dataOutput, givenTokenizers, type Invocation, type Output, styling, summaryRows } from "#terminal";
import {
  asLearned,
  type EncodingModel,
  modelSettings,
  type TokenizerParts,
  tokenizers,
  tokenKeys,
  tokenShapes,
  tokenTables,
} from "#tokenizer";
import { inspectOptions } from "./evaluate-options.ts";

/** `bpe inspect`: describes a tokenizer. With `--text`, also describes how it encodes a text. */
export async function runInspect(invocation: Invocation, output: Output): Promise<void> {
  const found = namedTokenizers.find(invocation.files[0]!);
  const { path, name = givenTokenizers.nameOf(path) } = found;
  const asked = optionTables.readTyped(inspectOptions, invocation.options);
  const { text: textPath, json: isJson = false, report: reportPath } = asked;
  await reportFiles.takePlace(reportPath, output);
  const parts = await givenTokenizers.open(
    { ...found, ...(await givenTokenizers.readSupplements(asked)) },
    true,
    output,
  );
  const statistics = await runSliced(
    vocabularyStatistics.of(parts.tokens, tokenizers.allAddedTokens(parts), longestShown, parts.model.merges),
  );
  const described = {
    parts,
    name,
    roles: modelFiles.roleTokensAt(path),
    facts: modelFiles.factsOf(modelFiles.parse(path)),
  };
  const rows = tokenizerRows(described, statistics);
  // The text is looked for before anything is printed, because it may be missing.
  const source = textPath === undefined ? undefined : await findText(parts, textPath, output);
  if (!isJson) await dataOutput.writeLines(summaryRows.rowLines(rows, styling.lineColumns(1), nameColumns));
  const text = source === undefined ? undefined : await countTokensOf(parts, source, output.encoding);
  if (isJson) {
    const inspection = JSON.stringify(inspectionOf(described, statistics, text), null, 2);
    await dataOutput.writeStdout(`${inspection}\n`);
  } else if (text !== undefined) await dataOutput.writeLines(describeText(parts, text));
  if (reportPath === undefined) return;
  const { writeInspectionPage } = await import("#reports/vocabulary-page");
  const command = shell.line(["bpe", "inspect", ...invocation.typed]);
  const inspection = inspectionOf(described, statistics, text);
  await writeInspectionPage(reportPath, {
    command,
    name,
    parts,
    rows,
    statistics,
    text,
    inspection,
    warn: (message) => output.warn(message),
  });
  output.succeed(reportFiles.writtenLine(reportPath), {});
}

/** A tokenizer, its name, and the settings of `transformers` next to it. */
type Described = {
  readonly parts: TokenizerParts;
  readonly name: string;
  readonly roles: Readonly<Record<string, string>>;
  readonly facts: ReturnType<typeof modelFiles.factsOf>;
};

async function findText(parts: TokenizerParts, path: string, output: Output) {
  const options = { trained: recordFiles.readReading([parts.description.path]) };
  const inputs = await inspection.inspectFirstStream(inputSearch.findInputs([path], options), options);
  output.keepOutputsFrom(inputs);
  return { path, inputs };
}

const nameColumns = 16;

const longestShown = 10;
const specialsShown = 20;
const shownBytesMax = 240;

function describeBeginning(beginning: EncodingModel["beginning"]): string {
  if (beginning === undefined) return "";
  const { unknown } = beginning;
  const others =
    unknown === null
      ? "characters without a token become bytes"
      : unknown.id < 0
        ? "characters without a token are left out"
        : `characters without a token become id ${unknown.id}`;
  return `begins with characters; ${others}`;
}

/**
 * Formats the facts about a tokenizer, the most important first: settings on which a model and its programs must agree.
 */
function tokenizerRows(
  { parts, name, roles, facts }: Described,
  { size, idLimit, invalidCount, ...statistics }: vocabularyStatistics.VocabularyStatistics,
): summaryRows.Row[] {
  const { description, tokens, model, normalization, addsPrefixSpace } = parts;
  const { patternName, patternSources, decoder, postProcessor } = description;
  const called = namedPatterns.describeAliases(patterns[patternName as namedPatterns.PatternName] ?? {});
  const { chatTemplate, modelMaxLength, tokenizerClass } = facts;
  const specials = specialRows(parts, roles);
  const nameOf = tokenKeys.namer(parts);
  const isSaid = basename(description.path) === description.kind;
  return [
    ["tokenizer", `${name} (${description.path}${isSaid ? "" : `, ${description.kind}`})`],
    [
      "size",
      `${countNoun(size, "token")}, ids up to ${idLimit - 1}, ${countNoun(model.merges.merged.length, "merge")}`,
    ],
    ["fingerprint", asLearned.fingerprint(parts)],
    ...specials,
    ["template", chatTemplate === null ? "" : describeTemplate(chatTemplate)],
    ["longest input", modelMaxLength === null ? "" : countNoun(modelMaxLength, "token")],
    ["class", tokenizerClass ?? ""],
    ["normalizer", `${normalization ?? "none"}${addsPrefixSpace ? ", and a space before the text" : ""}`],
    ["merging", describeBeginning(model.beginning)],
    ["pattern", patternName ?? "a regular expression"],
    ["", called ?? ""],
    // The regular expressions are shown completely, so that they can be copied.
    ...patternSources.map((source): summaryRows.Row => ["", [source]]),
    ["llama.cpp", model.beginning === undefined ? patternForms.describeLlamaCpp(patternName) : ""],
    ["post-processor", describePostProcessing(parts, postProcessor)],
    ["decoder", decoder ?? ""],
    ...statistics.longestIds.map((id, i): summaryRows.Row => {
      const { length } = tokenTables.bytesOf(tokens, id);
      const first = String(tokenTables.bytesOf(tokens, statistics.longestIds[0]!).length);
      const size = String(length).padStart(first.length);
      return [i === 0 ? "longest" : "", [`${size} bytes  ${id} "${nameOf(id, shownBytesMax)}"`]];
    }),
    ["whitespace", tokenShapes.describeCounts(statistics)],
    ...shareRows("by script", statistics.scripts, size - tokenizers.allAddedTokens(parts).length),
    ...shareRows("by bytes", statistics.lengths, size - tokenizers.allAddedTokens(parts).length),
    ["not UTF-8", `${countNoun(invalidCount, "token")} with a part of a character`],
  ];
}

/**
 * Formats the number of added tokens, and a row for each: id, text, roles and flags. If there are too many tokens,
 * those with roles are preferred.
 */
function specialRows(parts: TokenizerParts, roles: Described["roles"]): summaryRows.Row[] {
  const { controlTokens = [] } = parts;
  const tokens = tokenizers.allAddedTokens(parts).toSorted((a, b) => a.id - b.id);
  const rolesOf = (content: string) => rolesIn(roles, content);
  const first = tokens.toSorted(
    (a, b) => Number(rolesOf(b.content).length > 0) - Number(rolesOf(a.content).length > 0),
  );
  const listed = first.slice(0, specialsShown).sort((a, b) => a.id - b.id);
  const widest = (texts: readonly string[]) => Math.max(...texts.map(summaryRows.widthOf));
  const idWidth = widest(listed.map(({ id }) => String(id)));
  const textWidth = Math.min(textColumnsMax, widest(listed.map(({ content }) => content)));
  const notFound = controlTokens.length > 0 ? ", not found in a text" : "";
  return [
    ["special", tokens.length === 0 ? "none" : countNoun(tokens.length, "token") + notFound],
    ...listed.map(({ id, content, special, ...flags }): summaryRows.Row => {
      const set = Object.entries(flags).flatMap(([name, value]) => (value === true ? [name] : []));
      const said = [...rolesOf(content), ...(special ? [] : ["not special"]), ...set].join(", ");
      const gap = " ".repeat(Math.max(0, textWidth - summaryRows.widthOf(content)));
      const text = `${String(id).padStart(idWidth)}  ${content}${said === "" ? "" : `${gap}  ${said}`}`;
      return ["", [text]];
    }),
    ["", tokens.length > listed.length ? `and ${tokens.length - listed.length} more` : ""],
  ];
}

/** Returns the roles of an added token, without `_token`: `bos`. */
const rolesIn = (roles: Described["roles"], content: string) =>
  Object.entries(roles).flatMap(([role, text]) => (text === content ? [role.replace("_token", "")] : []));

/** The maximum width of the column of added tokens. A longer token moves its roles to the right. */
const textColumnsMax = 30;

function describeTemplate(template: string): string {
  return modelSettings.nameOfTemplate(template) ?? `its own, ${countNoun(template.length, "character")}`;
}

/** Says which tokens a post-processor adds to a text. */
function describePostProcessing(parts: TokenizerParts, types: string | undefined): string {
  const { postProcessing } = parts;
  if (postProcessing === undefined) return types ?? "none";
  const { before, after, obstacle } = postProcessing;
  if (obstacle !== undefined) return `${types ?? ""}: ${obstacle}`;
  if (before.length + after.length === 0) return types ?? "none";
  const nameOf = tokenKeys.namer(parts);
  const texts = (ids: readonly number[]) => ids.map((id) => nameOf(id));
  const around = [...texts(before), "the text", ...texts(after)].join(" ");
  return `${around}${types === undefined ? "" : ` (${types})`}; bpe encode does not add these tokens`;
}

const shareRows = (
  name: string,
  shares: readonly vocabularyStatistics.Share[],
  total: number,
): summaryRows.Row[] =>
  shares
    .filter(({ tokenCount }) => tokenCount > 0)
    .map((share, i) => {
      const percent = `${((100 * share.tokenCount) / Math.max(1, total)).toFixed(1)} %`;
      const numbers = groupDigits(share.tokenCount).padStart(9) + percent.padStart(9);
      return [i === 0 ? name : "", share.name.padEnd(24) + numbers];
    });

function describeText(parts: TokenizerParts, text: CountedText): styling.Line[] {
  const { path, textBytes, idCount, counts, sample } = text;
  const rows: summaryRows.Row[] = [
    ["text", `${path}: ${formatBytes(textBytes)}, ${countNoun(idCount, "token")}`],
    ["bytes/token", idCount === 0 ? "-" : (textBytes / idCount).toFixed(3)],
    [
      "used",
      `${groupDigits(evaluations.usedCount(counts))} of ${countNoun(parts.tokens.tokenCount, "token")}`,
    ],
  ];
  const nameOf = tokenKeys.namer(parts);
  const begins = showTokens(firstOf(sample.map((id) => nameOf(id, shownBytesMax))));
  return [
    ...summaryRows.rowLines(rows, styling.lineColumns(1), nameColumns),
    ["begins".padEnd(nameColumns), ...begins],
  ];
}

/** The number of columns for the first tokens: three lines of a usual terminal. */
const beginsColumns = 3 * summaryRows.usualColumns - nameColumns;

/**
 * Returns as many of the first tokens as fit into `beginsColumns`, each followed by a separator. The first one is
 * always returned, even if it does not fit.
 */
function firstOf(tokens: readonly string[]): readonly string[] {
  let used = 0;
  const end = tokens.findIndex((token) => {
    used += summaryRows.widthOf(token) + 1;
    return used > beginsColumns;
  });
  return end < 0 ? tokens : tokens.slice(0, Math.max(1, end));
}

/** Successive tokens have different background colours, so that their ends are visible. */
const backgrounds = [44, 42, 45, 46];

function showTokens(tokens: readonly string[]): styling.Piece[] {
  if (styling.stylesFor(1) === styling.plainStyles) return [tokens.join("|")];
  return tokens.map((text, i) => ({ text, code: `30;${backgrounds[i % backgrounds.length]}` }));
}

/** The output of `bpe inspect --json`: docs/inspection.schema.json. */
function inspectionOf(
  { parts, roles, facts }: Described,
  statistics: vocabularyStatistics.VocabularyStatistics,
  text: CountedText | undefined,
) {
  const { description, model, normalization, addsPrefixSpace, postProcessing, controlTokens = [] } = parts;
  const nameOf = tokenKeys.namer(parts);
  const inspected = (id: number) => ({
    id,
    bytes: tokenTables.bytesOf(parts.tokens, id).length,
    token: nameOf(id),
  });
  const control = new Set(controlTokens);
  return {
    format: "bpe-inspection",
    version: 1,
    path: description.path,
    kind: description.kind,
    fingerprint: asLearned.fingerprint(parts),
    vocabularySize: statistics.size,
    idLimit: statistics.idLimit,
    mergeCount: model.merges.merged.length,
    pattern: description.patternName,
    patternSources: description.patternSources,
    normalForm: normalization,
    addsPrefixSpace,
    decoder: description.decoder ?? null,
    postProcessor: description.postProcessor ?? null,
    before: postProcessing?.before ?? [],
    after: postProcessing?.after ?? [],
    ...facts,
    specialTokens: tokenizers
      .allAddedTokens(parts)
      .map((token) => ({
        ...token,
        isFound: !control.has(token),
        roles: rolesIn(roles, token.content),
      }))
      .sort((a, b) => a.id - b.id),
    longestTokens: statistics.longestIds.map(inspected),
    // Older names of whitespace and separator tokens, kept because they are public keys.
    blankTokens: statistics.whitespaceCount,
    ruleTokens: statistics.separatorCount,
    scripts: statistics.scripts,
    lengths: statistics.lengths,
    notUtf8Tokens: statistics.invalidCount,
    // null without a training.json that lists the file and has token counts.
    training: recordFiles.readTokenCountFacts(description.path),
    text:
      text === undefined
        ? null
        : {
            path: text.path,
            bytes: text.textBytes,
            tokens: text.idCount,
            bytesPerToken: evaluations.ratio(text.textBytes, text.idCount),
            usedTokens: evaluations.usedCount(text.counts),
            firstTokens: text.sample.map(inspected),
          },
  };
}
