import { byteCharacters, countNoun } from "#bytes";
import { type CompiledPattern, compiledPatterns, cutText, loadCompiler, patternForms } from "#pattern";
import { type Normalization, normalForms } from "#text";
import { derivation, probe, tokenizers, tokenTables } from "#tokenizer";
import { type Finding, finding, percent, severityOfShare, tokensOf } from "./checks.ts";
import { rebuildsTokenizer } from "./class-checks.ts";
import { compareCommand } from "./fixing-commands.ts";
import { type Loaded, objectOf, objectsIn, type Subject, spellsCharacters } from "./subject.ts";

type Step = Readonly<Record<string, unknown>>;

/**
 * Returns the steps in a value of tokenizer.json, such as `pre_tokenizer`. Includes the steps inside a sequence, whose
 * key in it is `list`.
 */
function stepsIn(value: unknown, list: string): Step[] {
  const step = objectOf(value);
  if (step.type === "Sequence") return objectsIn(step[list]).flatMap((inner) => stepsIn(inner, list));
  return step.type === undefined ? [] : [step];
}

/** Matches a doubled backslash before a class letter, as in `\\p`. Such an expression matches a literal backslash. */
const doubled = /(?<!\\)\\\\[pPsSdDwW]/;

/** Finds expressions with doubled backslashes. These expressions hardly ever match, because backslashes are rare. */
export function checkEscapes({ json }: Subject): Finding[] {
  const sources = stepsIn(json?.pre_tokenizer, "pretokenizers").map(({ pattern }) => objectOf(pattern).Regex);
  const wrong = sources.filter(
    (source): source is string => typeof source === "string" && doubled.test(source),
  );
  if (wrong.length === 0) return [];
  return [
    finding(
      "dead-split",
      "error",
      `${countNoun(wrong.length, "Split")} with doubled backslashes: the expression matches a backslash instead of a class`,
      {
        evidence: wrong.map((source) => (source.length > 200 ? `${source.slice(0, 200)}...` : source)),
        count: wrong.length,
        fix: "correct the expression in pre_tokenizer; in JSON, \\p{L} is written \\\\p{L}",
      },
    ),
  ];
}

/**
 * Checks that the pre-tokenizer or the normalizer turns bytes into the vocabulary's characters (byte-characters.ts),
 * and that the decoder turns them back.
 */
export function checkByteLevel(subject: Subject): Finding[] {
  const { json } = subject;
  if (json === null) return [];
  const isByteLevel = byteCharacters.characters.filter(subject.hasToken).length > 200;
  if (!isByteLevel || spellsCharacters(subject)) return [];
  const has = (value: unknown, list: string) => stepsIn(value, list).some(({ type }) => type === "ByteLevel");
  const step = '{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}';
  return [
    ...(has(json.pre_tokenizer, "pretokenizers") || has(json.normalizer, "normalizers")
      ? []
      : [
          finding(
            "no-byte-level",
            "error",
            "the pre-tokenizer has no ByteLevel, but the vocabulary is in its characters",
            {
              evidence: [`pre_tokenizer: ${JSON.stringify(json.pre_tokenizer ?? null).slice(0, 200)}`],
              fix: `add this as the last step of pre_tokenizer: ${step}`,
            },
          ),
        ]),
    ...(has(json.decoder, "decoders")
      ? []
      : [
          finding(
            "no-byte-level-decoder",
            "error",
            "the decoder is not ByteLevel, but the vocabulary is in its characters",
            {
              evidence: [`decoder: ${JSON.stringify(json.decoder ?? null).slice(0, 200)}`],
              fix: `set "decoder" to ${step}`,
            },
          ),
        ]),
  ];
}

const encoder = new TextEncoder();
const probeBytes = encoder.encode(probe.text);

/** Checks how the pattern cuts the probe text (docs/probe-1.json), and whether it cuts the tokens of the vocabulary. */
export function checkCutting(subject: Subject, loaded: Loaded): Finding[] {
  const { path } = subject;
  const isFound = checkEscapes(subject).length > 0;
  const { pattern, description } = loaded.parts;
  const { patternName, patternSources } = description;
  if (patternName === "none" || cutText(pattern, probeBytes).length <= 1)
    return [
      ...checkSplits(patternName, patternSources, isFound),
      finding("no-cutting", "warning", "nothing cuts the text into words before merging", {
        fix: "if the tokenizer was trained with a pattern, add it to pre_tokenizer as a Split",
      }),
    ];
  return [
    ...checkSplits(patternName, patternSources, isFound),
    ...checkWords(pattern),
    ...checkNormalized(loaded),
    ...checkFit(path, loaded),
  ];
}

/** @param isFound whether an expression with doubled backslashes was found */
function checkSplits(name: string | null, sources: readonly string[], isFound: boolean): Finding[] {
  if (name !== null) return [];
  return sources.flatMap((source, i) => {
    if (
      (isFound && doubled.test(source)) ||
      cutText(compiledPatterns.compile([source]), probeBytes).length > 1
    )
      return [];
    const which = sources.length === 1 ? "the only Split" : `Split ${i + 1} of ${sources.length}`;
    return [
      finding(
        "dead-split",
        "error",
        `${which} cuts nothing in texts of ${probe.parts.length - 9} languages, digits and code`,
        {
          evidence: [source.length > 200 ? `${source.slice(0, 200)}...` : source],
          fix: "correct the expression in pre_tokenizer; in JSON, \\p{L} is written \\\\p{L}",
        },
      ),
    ];
  });
}

/** A pattern is wrong if it splits at least this share of the words of three or more letters in an English sentence. */
const cutWordsMax = 0.5;

function checkWords(pattern: CompiledPattern): Finding[] {
  const { text } = probe.parts[0]!;
  const ends = new Set(cutText(pattern, encoder.encode(text)));
  const words = [...text.matchAll(/[A-Za-z]{3,}/g)];
  const cut = words.filter(({ 0: word, index }) =>
    Array.from(word.slice(1)).some((_, i) => ends.has(index + i + 1)),
  );
  if (cut.length < cutWordsMax * words.length) return [];
  const shown = cut.slice(0, 3).map(({ 0: word, index }) =>
    Array.from(word)
      .map((letter, i) => (i > 0 && ends.has(index + i) ? `|${letter}` : letter))
      .join(""),
  );
  return [
    finding(
      "cuts-inside-words",
      "error",
      `the pattern cuts inside ${cut.length} of ${words.length} English words`,
      {
        evidence: [shown.join("  ")],
        count: cut.length,
        fix: "correct the expression in pre_tokenizer; a missing + after \\p{L} does this",
      },
    ),
  ];
}

function checkNormalized(loaded: Loaded): Finding[] {
  const { parts } = loaded;
  const { normalization, tokens } = parts;
  if (normalization === null) return [];
  const changed = changedBy(normalization, ordinaryTokens(loaded), (id) => textOf(parts, id));
  if (changed.length === 0) return [];
  return [
    finding(
      "normalized-away",
      severityOfShare(changed.length / tokens.tokenCount, 0.02, 0.1),
      `the normalizer (${normalization}) changes the text of ${countNoun(changed.length, "token")}`,
      tokensOf(parts, changed),
    ),
  ];
}

/**
 * How many texts are normalized in one call, joined by line feeds. Normalization does not cross line ends, so the
 * joined text changes if, and only if, one of the texts does.
 */
const normalizedTexts = 256;

function changedBy(normalization: Normalization, ids: readonly number[], textOf: (id: number) => string) {
  const isChanged = (text: string) => normalForms.normalize(text, normalization) !== text;
  const changed: number[] = [];
  for (let first = 0; first < ids.length; first += normalizedTexts) {
    const chunk = ids.slice(first, first + normalizedTexts);
    if (isChanged(chunk.map(textOf).join("\n"))) changed.push(...chunk.filter((id) => isChanged(textOf(id))));
  }
  return changed;
}

/**
 * Returns the ids of tokens that encoding can give for a pretoken of the same bytes, by merging or as a whole token
 * (`wholeTokens`). Leaves out added tokens, tokens of one byte, and tokens that are not valid UTF-8.
 */
function ordinaryTokens({ parts, derivations: { reaches }, isText }: Loaded): number[] {
  const { starts } = parts.tokens;
  const added = new Set(tokenizers.allAddedTokens(parts).map(({ id }) => id));
  const found: number[] = [];
  for (let id = 0; id < reaches.length; id++) {
    const isReached =
      reaches[id] === derivation.Reach.merging || reaches[id] === derivation.Reach.wholePretoken;
    if (isReached && isText[id] === 1 && starts[id + 1]! - starts[id]! > 1 && !added.has(id)) found.push(id);
  }
  return found;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const textOf = ({ tokens }: Loaded["parts"], id: number) => decoder.decode(tokenTables.bytesOf(tokens, id));

/** Texts that are tried before and after a token. */
const contexts = ["", "a", " ", ".", "1", "\n", "'"];
/** The maximum number of tokens to try in all contexts. If there are more, every n-th is tried. */
const inContextMax = 2000;

function checkFit(path: string, loaded: Loaded): Finding[] {
  const { parts } = loaded;
  const { pattern, tokens, normalization } = parts;
  const isCut = (before: string, text: string, after: string) => {
    const [start, length] = [Buffer.byteLength(before), Buffer.byteLength(text)];
    const ends = cutText(pattern, encoder.encode(before + text + after));
    return ends.some((end) => end > start && end < start + length);
  };
  const isCutEverywhere = (text: string) =>
    contexts.every((before) => contexts.every((after) => isCut(before, text, after)));
  const cutAlone = ordinaryTokens(loaded).filter(
    (id) => cutText(pattern, tokenTables.bytesOf(tokens, id)).length > 1,
  );
  const changed = new Set(
    normalization === null ? [] : changedBy(normalization, cutAlone, (id) => textOf(parts, id)),
  );
  const candidates = cutAlone.filter((id) => !changed.has(id));
  const step = Math.max(1, Math.ceil(candidates.length / inContextMax));
  const looked = candidates.filter((_, i) => i % step === 0);
  const cut = looked.filter((id) => isCutEverywhere(textOf(parts, id)));
  if (cut.length === 0) return [];
  const count = step === 1 ? cut.length : Math.round((cut.length / looked.length) * candidates.length);
  const about = step === 1 ? "" : "about ";
  const severity = severityOfShare(count / tokens.tokenCount, 0.02, 0.1);
  return [
    finding(
      "pattern-misfit",
      severity,
      `the pattern cuts the text of ${about}${countNoun(count, "token")}, ${percent(count, tokens.tokenCount)} of the vocabulary`,
      {
        ...tokensOf(parts, cut),
        count,
        ...(severity === "note"
          ? { why: "These tokens never occur. Most vocabularies have a few such tokens." }
          : {
              fix: "compare with the pre_tokenizer of the tokenizer that the model was trained with",
              command: compareCommand(path),
            }),
      },
    ),
  ];
}

/** Checks that tokenizer_config.json and tokenizer.json agree about a space before a text. */
export function checkConfiguration({ config, json }: Subject, loaded: Loaded | null): Finding[] {
  const asked = config?.add_prefix_space;
  const own = loaded?.parts.addsPrefixSpace;
  if (typeof asked !== "boolean" || own === undefined || asked === own || json === null) return [];
  const name = config?.tokenizer_class;
  const isFollowed = typeof name === "string" && rebuildsTokenizer(name);
  return [
    finding(
      "prefix-space",
      isFollowed ? "error" : "warning",
      `tokenizer_config.json says add_prefix_space ${asked}, tokenizer.json says ${own}`,
      {
        evidence: [
          isFollowed
            ? `"Hello" is encoded as ${asked ? '" Hello"' : '"Hello"'} by ${name}`
            : "classes that rebuild the tokenizer, such as GPT2Tokenizer, follow tokenizer_config.json; others do not",
        ],
        fix: `set "add_prefix_space" to ${own} in tokenizer_config.json`,
      },
    ),
  ];
}

/** Reports which of llama.cpp, tiktoken and transformers.js cannot cut text in the same way. */
export function checkEquals({ parts }: Loaded): Finding[] {
  const { patternName, patternSources } = parts.description;
  if (patternName === "none" || parts.model.beginning !== undefined) return [];
  const llamaCpp = patternForms.namedLlamaCpp(patternName);
  const hasEqual = llamaCpp !== undefined && llamaCpp.differsAt === undefined;
  const lacking = [
    ...(hasEqual ? [] : [`llama.cpp: ${patternForms.describeLlamaCpp(patternName)}`]),
    ...(patternSources.length > 1
      ? ["tiktoken: it takes one expression, and this tokenizer has several"]
      : []),
    ...(patternName !== null ||
    patternSources.every((each) => loadCompiler().javascriptSource([each]) !== null)
      ? []
      : ["transformers.js: JavaScript has no regular expression that cuts alike"]),
  ];
  if (lacking.length === 0) return [];
  return [finding("no-equal", "note", "other programs cut text differently", { evidence: lacking })];
}
