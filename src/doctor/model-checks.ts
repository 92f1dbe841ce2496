import { ascii, byteCharacters, countNoun, groupDigits, json } from "#bytes";
import type { ScannedModel } from "#formats";
import { derivation, tokenizers, tokenTables } from "#tokenizer";
import { type Finding, finding, percent, severityOfShare, tokensOf } from "./checks.ts";
import { pruneCommand } from "./fixing-commands.ts";
import { type Loaded, objectOf, parsed, type Subject, spellsCharacters } from "./subject.ts";

/** The maximum number of lines of evidence. */
const shownMax = 5;

/** Checks the vocabulary and merges in tokenizer.json, even if the file cannot be loaded. */
export function checkModelFile(subject: Subject): Finding[] {
  const { json, scanned } = subject;
  if (json === null) return [];
  return [
    ...(scanned !== null && isSound(scanned) ? [] : checkStated(subject)),
    ...(spellsCharacters(subject) ? [] : checkBytes(subject, objectOf(json.model).unk_token)),
  ];
}

/**
 * Whether each token has an id of its own, and no merge is repeated. Repeated keys, and merges of tokens that the
 * vocabulary lacks, need no check: the scan that made this model has refused them.
 */
function isSound({ vocab, merges: { left, right, merged } }: ScannedModel): boolean {
  const { ids } = vocab.spelled;
  const isTaken = new Uint8Array(vocab.idMax + 1);
  for (const id of ids) if (isTaken[id]++ > 0) return false;
  // Equal merges have the same result, so each merge is compared only with earlier ones of that result, which are few.
  const lastRank = new Int32Array(vocab.idMax + 1).fill(-1);
  const earlier = new Int32Array(merged.length);
  for (let rank = 0; rank < merged.length; rank++) {
    const id = merged[rank]!;
    earlier[rank] = lastRank[id]!;
    for (let other = earlier[rank]!; other >= 0; other = earlier[other]!)
      if (left[other] === left[rank] && right[other] === right[rank]) return false;
    lastRank[id] = rank;
  }
  return true;
}

/** Parses the whole file to find what is wrong in it. */
function checkStated({ source }: Subject): Finding[] {
  const { bytes } = source.files[0];
  const model = objectOf(objectOf(parsed(bytes)).model);
  const vocab = objectOf(model.vocab);
  const merges: unknown[] = Array.isArray(model.merges) ? model.merges : [];
  return [...checkKeys(bytes), ...checkIds(vocab), ...checkMerges(vocab, merges)];
}

function checkKeys(bytes: Uint8Array): Finding[] {
  const repeated: string[] = [];
  const inVocab = (pos: number) => {
    const seen = new Set<string | number>();
    return json.walkMembers(bytes, pos, (key, at) => {
      if (seen.has(key)) repeated.push(String(key));
      seen.add(key);
      return json.skipValue(bytes, at);
    });
  };
  const member = (wanted: string, then: (pos: number) => number) => (pos: number) =>
    bytes[pos] === ascii.openBrace
      ? json.walkMembers(bytes, pos, (key, at) => (key === wanted ? then(at) : json.skipValue(bytes, at)))
      : json.invalid;
  try {
    member("model", member("vocab", inVocab))(json.skipSpace(bytes, 0));
  } catch {
    return [];
  }
  if (repeated.length === 0) return [];
  return [
    finding("repeated-key", "error", `the vocabulary has ${countNoun(repeated.length, "key")} twice`, {
      evidence: repeated.slice(0, shownMax).map((key) => JSON.stringify(key)),
      count: repeated.length,
      fix: "remove one of the two entries of each key",
    }),
  ];
}

function checkIds(vocab: Readonly<Record<string, unknown>>): Finding[] {
  const keys = new Map<unknown, string>();
  const shared: string[] = [];
  for (const key in vocab) {
    const other = keys.get(vocab[key]);
    if (other === undefined) keys.set(vocab[key], key);
    else shared.push(`${JSON.stringify(other)} and ${JSON.stringify(key)} have the id ${vocab[key]}`);
  }
  if (shared.length === 0) return [];
  return [
    finding(
      "shared-id",
      "error",
      `the vocabulary gives ${countNoun(shared.length, "token")} the id of another`,
      {
        evidence: shared.slice(0, shownMax),
        count: shared.length,
        fix: "restore the original ids, or give each token an id of its own",
      },
    ),
  ];
}

function checkMerges(vocab: object, merges: readonly unknown[]): Finding[] {
  const pairs = merges.flatMap((merge) => {
    const pair = typeof merge === "string" ? merge.split(" ") : merge;
    return Array.isArray(pair) && pair.length === 2 ? [pair as [string, string]] : [];
  });
  const missing: string[] = [];
  const repeated: string[] = [];
  const ranks = new Map<string, number>();
  pairs.forEach(([left, right], rank) => {
    const lacking = [left, right, left + right].find((token) => !Object.hasOwn(vocab, token));
    if (lacking !== undefined)
      missing.push(`merge ${rank}, "${left} ${right}", needs ${JSON.stringify(lacking)}`);
    const key = `${left} ${right}`;
    const before = ranks.get(key);
    if (before === undefined) ranks.set(key, rank);
    else repeated.push(`"${key}" is merge ${before} and merge ${rank}`);
  });
  return [
    ...(missing.length === 0
      ? []
      : [
          finding(
            "merge-without-token",
            "error",
            `the vocabulary lacks a part or the result of ${countNoun(missing.length, "merge")}`,
            {
              evidence: missing.slice(0, shownMax),
              count: missing.length,
              fix: "take vocabulary and merges from the same tokenizer",
            },
          ),
        ]),
    ...(repeated.length === 0
      ? []
      : [
          finding(
            "repeated-merge",
            "warning",
            `the list of merges repeats ${countNoun(repeated.length, "merge")}`,
            {
              evidence: repeated.slice(0, shownMax),
              count: repeated.length,
              fix: "remove the second of each",
            },
          ),
        ]),
  ];
}

function checkBytes({ hasToken }: Subject, unknown: unknown): Finding[] {
  const missing = byteCharacters.characters.flatMap((character, byte) => (hasToken(character) ? [] : [byte]));
  // If more than 200 bytes are missing, the model is of another kind, which spells bytes differently or has no bytes.
  if (missing.length === 0 || missing.length > 200) return [];
  const occurring = missing.filter((byte) => byte < 0xf5 && byte !== 0xc0 && byte !== 0xc1);
  const hex = missing.map((byte) => byte.toString(16).padStart(2, "0"));
  const printable = missing
    .filter((byte) => byte > 32 && byte < 127)
    .map((byte) => String.fromCharCode(byte));
  return [
    finding(
      "missing-bytes",
      occurring.length > 0 ? "error" : "note",
      `the vocabulary lacks ${missing.length} of the 256 bytes`,
      {
        evidence: [
          `bytes ${hex.slice(0, 32).join(" ")}${hex.length > 32 ? " ..." : ""}`,
          ...(printable.length > 0 ? [`a text that shows it: ${printable.join("")}`] : []),
          typeof unknown === "string"
            ? `in a text, these bytes become ${unknown}`
            : "a text loses these bytes",
          ...(occurring.length > 0 ? [] : ["these bytes never occur in valid UTF-8"]),
        ],
        count: missing.length,
        fix: "add a token with a new id for each of these bytes, and resize the embeddings; or train again",
      },
    ),
  ];
}

export function checkModel({ path, model }: Subject, loaded: Loaded): Finding[] {
  return [
    ...checkReached(path, loaded),
    ...checkUnused(loaded),
    ...checkEqualTokens(loaded),
    ...checkIdRange(model, loaded),
  ];
}

function checkReached(path: string, { parts, derivations: { reaches } }: Loaded): Finding[] {
  const ids = Array.from(reaches.keys()).filter((id) => reaches[id] === derivation.Reach.unreachable);
  if (ids.length === 0) return [];
  const size = parts.tokens.tokenCount;
  const made = new Set(parts.model.merges.merged);
  const lacking = ids.filter((id) => !made.has(id)).length;
  return [
    finding(
      "unreachable-tokens",
      severityOfShare(ids.length / size, 0.01, 0.05),
      `merging never makes ${countNoun(ids.length, "token")}, ${percent(ids.length, size)} of the vocabulary`,
      {
        ...tokensOf(parts, ids),
        ...(lacking > 0 && {
          evidence: [`no merge makes ${lacking === ids.length ? "any" : groupDigits(lacking)} of them`],
        }),
        fix: "if merges were lost, restore the file; otherwise remove these tokens, if the model is not trained yet (this gives new ids)",
        ...(!hasPieces(parts) && { command: pruneCommand(path, size - ids.length) }),
      },
    ),
  ];
}

/** Whether the file is a SentencePiece model, which lists pieces and no merges. */
const hasPieces = ({ description }: Loaded["parts"]) => description.kind === "tokenizer.model";

function checkUnused({ parts, derivations: { last, reaches } }: Loaded): Finding[] {
  if (hasPieces(parts)) return [];
  const { merges } = parts.model;
  const unused: number[] = [];
  merges.merged.forEach((id, rank) => {
    if (reaches[id] !== derivation.Reach.merging || last[id] !== rank) unused.push(rank);
  });
  if (unused.length === 0) return [];
  const { tokens } = tokensOf(
    parts,
    unused.slice(0, shownMax).map((rank) => merges.merged[rank]!),
  );
  return [
    finding(
      "unused-merges",
      "note",
      `no text uses ${countNoun(unused.length, "merge")}, ${percent(unused.length, merges.merged.length)} of all merges`,
      {
        evidence: tokens.map(({ token }, i) => `merge ${unused[i]} makes "${token}"`),
        count: unused.length,
      },
    ),
  ];
}

function checkEqualTokens({ parts, derivations: { reaches } }: Loaded): Finding[] {
  const { tokens } = parts;
  // If merging begins with characters, a character of one byte and the token of that byte have equal bytes, which is no
  // defect.
  if (parts.model.beginning !== undefined) return [];
  const first = new Map<string, number>();
  const equal: number[] = [];
  for (const id of likelyEqual(parts, reaches)) {
    const key = Buffer.from(tokenTables.bytesOf(tokens, id)).toString("latin1");
    const other = first.get(key);
    if (other === undefined) first.set(key, id);
    else equal.push(id);
  }
  if (equal.length === 0) return [];
  return [
    finding(
      "same-bytes",
      "warning",
      `the bytes of ${countNoun(equal.length, "token")} are also those of another token`,
      {
        ...tokensOf(parts, equal),
        evidence: equal
          .slice(0, shownMax)
          .map(
            (id) => `${first.get(Buffer.from(tokenTables.bytesOf(tokens, id)).toString("latin1"))} and ${id}`,
          ),
      },
    ),
  ];
}

/**
 * Returns the ids of tokens that may have equal bytes. Of several tokens with equal bytes, merging reaches at most one.
 * So only the few tokens that merging does not reach are compared with all others, by length, first byte and last byte.
 */
function likelyEqual({ tokens: { idLimit, bytes, starts } }: Loaded["parts"], reaches: Uint8Array): number[] {
  const keyOf = (id: number) => {
    const [start, end] = [starts[id]!, starts[id + 1]!];
    return (((end - start) & 0x7fff) << 16) | (bytes[start]! << 8) | bytes[end - 1]!;
  };
  const ids = Array.from({ length: idLimit }, (_, id) => id).filter((id) => starts[id] !== starts[id + 1]);
  const keys = new Set<number>();
  for (const id of ids) if (reaches[id] !== derivation.Reach.merging) keys.add(keyOf(id));
  return ids.filter((id) => keys.has(keyOf(id)));
}

/**
 * The embedding of a model may have more rows than there are ids, as padding. Extra rows are reported only if they
 * exceed this share of the ids.
 */
const paddingShare = 0.1;

function checkIdRange(model: Subject["model"], { parts, derivations: { reaches } }: Loaded): Finding[] {
  const { idLimit } = parts.tokens;
  const added = new Set(tokenizers.allAddedTokens(parts).map(({ id }) => id));
  const holes = Array.from(reaches.keys()).filter(
    (id) => reaches[id] === derivation.Reach.none && !added.has(id),
  );
  const found: Finding[] = [];
  if (holes.length > 0)
    found.push(
      finding(
        "id-holes",
        "note",
        `${countNoun(holes.length, "id")} below ${idLimit} ${holes.length === 1 ? "has" : "have"} no token`,
        {
          evidence: [`ids ${holes.slice(0, 12).join(" ")}${holes.length > 12 ? " ..." : ""}`],
          count: holes.length,
        },
      ),
    );
  const text = objectOf(model?.text_config);
  const size = model?.vocab_size ?? text.vocab_size;
  if (typeof size !== "number") return found;
  if (size < idLimit)
    found.push(
      finding("vocab-size", "error", `config.json says vocab_size ${size}, but ids go up to ${idLimit - 1}`, {
        ...tokensOf(
          parts,
          Array.from({ length: idLimit - size }, (_, i) => size + i),
        ),
        fix: `resize the embeddings to ${idLimit} rows or more: model.resize_token_embeddings(${idLimit})`,
      }),
    );
  else if (size > (1 + paddingShare) * idLimit)
    found.push(
      finding(
        "large-vocab-size",
        "warning",
        `config.json says vocab_size ${size}, but ids end at ${idLimit - 1}`,
        {
          count: size - idLimit,
          fix: "check that model and tokenizer belong together",
        },
      ),
    );
  return found;
}
