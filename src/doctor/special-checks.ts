import { countNoun } from "#bytes";
import { modelSettings, probe, type TokenizerParts, tokenizers } from "#tokenizer";
import { type Finding, finding } from "./checks.ts";
import { extendCommand } from "./fixing-commands.ts";
import { type Loaded, objectOf, objectsIn, type Subject } from "./subject.ts";

const roles = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"];

/** Checks the special tokens, their roles in all files, and the chat template. */
export function checkSpecials(subject: Subject, loaded: Loaded | null): Finding[] {
  return [
    ...checkListed(subject),
    ...checkMaps(subject),
    ...(loaded === null ? [] : checkLoaded(subject, loaded)),
  ];
}

/** Checks that each added token is listed once. */
function checkListed({ json }: Subject): Finding[] {
  const seen = new Map<unknown, unknown>();
  const repeated: string[] = [];
  for (const { content, id } of objectsIn(json?.added_tokens)) {
    if (seen.has(content))
      repeated.push(`${JSON.stringify(content)} has the ids ${seen.get(content)} and ${id}`);
    else seen.set(content, id);
  }
  if (repeated.length === 0) return [];
  return [
    finding("repeated-token", "error", `added_tokens lists ${countNoun(repeated.length, "token")} twice`, {
      evidence: repeated.slice(0, 5),
      count: repeated.length,
      fix: "keep one entry for each token",
    }),
  ];
}

/** Checks that tokenizer_config.json and special_tokens_map.json give each role to the same token. */
function checkMaps({ config, map }: Subject): Finding[] {
  if (config === undefined || map === undefined) return [];
  return roles.flatMap((role) => {
    const key = `${role}_token`;
    const [own, other] = [modelSettings.contentOf(config[key]), modelSettings.contentOf(map[key])];
    if (own == null || other == null || own === other) return [];
    return [
      finding("roles-disagree", "error", `the files name two tokens for ${role}`, {
        evidence: [`tokenizer_config.json: ${own}`, `special_tokens_map.json: ${other}`],
        fix: `make ${key} the same in both`,
      }),
    ];
  });
}

function checkLoaded(subject: Subject, { parts, encode }: Loaded): Finding[] {
  const ids = new Map(tokenizers.allAddedTokens(parts).map(({ content, id }) => [content, id]));
  return [
    ...checkRoles(subject, ids),
    ...checkDecoder(subject, ids),
    ...checkStop(subject, ids, parts),
    ...checkTemplate(subject, encode),
    ...checkOrdinary(parts),
  ];
}

type Ids = ReadonlyMap<string, number>;

function checkRoles({ config, map, template, path }: Subject, ids: Ids): Finding[] {
  const stated = config ?? map;
  if (stated === undefined) return [];
  const listed = new Set(
    Object.values(objectOf(config?.added_tokens_decoder)).map((token) => modelSettings.contentOf(token)),
  );
  const textOf = (role: string) =>
    modelSettings.contentOf(stated[`${role}_token`]) ?? modelSettings.contentOf(map?.[`${role}_token`]);
  const found = roles.flatMap((role) => {
    const text = textOf(role);
    if (typeof text !== "string" || text === "" || ids.has(text) || listed.has(text)) return [];
    return [
      finding(
        "role-without-token",
        "error",
        `${role}_token is ${JSON.stringify(text)}, which the tokenizer does not have`,
        {
          evidence: [`it has ${[...ids.keys()].slice(0, 6).join(" ") || "no special tokens"}`],
          fix: "name a special token of the tokenizer, or add this one and resize the embeddings",
          command: extendCommand(path, [text]),
        },
      ),
    ];
  });
  const [eos, pad] = [textOf("eos"), textOf("pad")];
  if (eos !== undefined && eos !== null && eos === pad)
    found.push(
      finding("pad-is-eos", "warning", `pad and eos are both ${eos}`, {
        fix: "set pad_token in tokenizer_config.json to a token of its own, such as a reserved one",
      }),
    );
  if (config !== undefined && !eos)
    found.push(
      finding("no-eos", template === undefined ? "note" : "warning", "no token has the role eos", {
        fix: 'set "eos_token" in tokenizer_config.json to the token that ends a text or a turn',
      }),
    );
  return found;
}

/** Checks that the files state the ids that HF's `tokenizers` gives to added tokens. */
function checkDecoder({ config, json }: Subject, ids: Ids): Finding[] {
  const wrong: string[] = [];
  for (const { content, id } of objectsIn(json?.added_tokens)) {
    const given = ids.get(content as string);
    if (given !== undefined && given !== id)
      wrong.push(`${JSON.stringify(content)}: tokenizer.json says ${id}, tokenizers gives ${given}`);
  }
  for (const [id, token] of Object.entries(objectOf(config?.added_tokens_decoder))) {
    const content = modelSettings.contentOf(token);
    const given = ids.get(content as string);
    if (given !== undefined && given !== Number(id))
      wrong.push(`${JSON.stringify(content)}: tokenizer_config.json says ${id}, tokenizers gives ${given}`);
  }
  if (wrong.length === 0) return [];
  return [
    finding("added-id", "error", `the files state wrong ids for ${countNoun(wrong.length, "added token")}`, {
      evidence: wrong.slice(0, 5),
      count: wrong.length,
      fix: "write the ids that the vocabulary has into both files",
    }),
  ];
}

const numbersOf = (value: unknown): number[] =>
  [value].flat().filter((each): each is number => typeof each === "number");

/** Checks that generation stops at the token with which the tokenizer ends a text, and at no id without a token. */
function checkStop({ config, generation, model }: Subject, ids: Ids, parts: TokenizerParts): Finding[] {
  const eos = modelSettings.contentOf(config?.eos_token);
  const id = eos === undefined ? undefined : ids.get(eos);
  const source = generation?.eos_token_id !== undefined ? "generation_config.json" : "config.json";
  const stops = numbersOf(generation?.eos_token_id ?? model?.eos_token_id);
  const found: Finding[] = [];
  const beyond = stops.filter((stop) => stop >= parts.tokens.idLimit || stop < 0);
  if (beyond.length > 0)
    found.push(
      finding("stop-token", "error", `${source} stops at the id ${beyond[0]}, which no token has`, {
        fix: `set "eos_token_id" to ${id ?? "the id of the token that ends a text"}`,
      }),
    );
  else if (id !== undefined && stops.length > 0 && !stops.includes(id))
    found.push(
      finding(
        "stop-token",
        "warning",
        `${source} stops at ${stops.join(", ")}, not at ${eos}, which is ${id}`,
        {
          fix: `add ${id} to "eos_token_id" in generation_config.json`,
        },
      ),
    );
  return found;
}

/** Matches markers of chat templates: `<|im_start|>`, `[INST]`, `<start_of_turn>`. */
const marker = /<\|[^|<>\s'"{}]{1,40}\|>|\[\/?[A-Z]{3,}[A-Z_]*\]|<(?:start|end)_of_turn>/g;

function checkTemplate({ template, path }: Subject, encode: Loaded["encode"]): Finding[] {
  if (template === undefined) return [];
  const split = [...new Set(template.match(marker) ?? [])]
    .map((text) => ({ text, ids: encode(text) }))
    .filter(({ ids }) => ids.length !== 1);
  if (split.length === 0) return [];
  return [
    finding(
      "template-pieces",
      "warning",
      `the chat template has ${countNoun(split.length, "marker")} of several tokens each`,
      {
        evidence: split.slice(0, 5).map(({ text, ids }) => `${text} is ${ids.join(" ")}`),
        count: split.length,
        fix: "unless the model was trained this way, add them as special tokens and resize its embeddings",
        command: extendCommand(
          path,
          split.map(({ text }) => text),
        ),
      },
    ),
  ];
}

/** Matches text that a user may type by chance: letters, marks, numbers and whitespace, or any one character. */
const ordinary = /^[\p{L}\p{N}\p{M}\s]+$|^.$/su;
/** The probe text (a fixed text, docs/probe-1.json) without the part that imitates special tokens. */
const plainText = probe.parts
  .filter(({ name }) => name !== "Special-looking text")
  .map(({ text }) => text)
  .join("");

function checkOrdinary(parts: TokenizerParts): Finding[] {
  const reached = parts.addedTokens.filter(
    ({ content, special }) => special && (ordinary.test(content) || plainText.includes(content)),
  );
  if (reached.length === 0) return [];
  return [
    finding(
      "special-is-text",
      "warning",
      `ordinary text contains ${countNoun(reached.length, "special token")}`,
      {
        evidence: reached.slice(0, 5).map(({ content, id }) => `${JSON.stringify(content)} is ${id}`),
        tokens: reached.slice(0, 20).map(({ content, id }) => ({ id, token: content })),
        count: reached.length,
        fix: 'set "special" to false for it in tokenizer.json, or rename it',
        command: null,
      },
    ),
  ];
}
