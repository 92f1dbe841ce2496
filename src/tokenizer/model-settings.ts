import { escapeBytes, type json, showValue } from "#bytes";
import { asOption, type Message, messages, phrase, usageError } from "#runtime";
import type { AddedToken, Normalization } from "#text";
import { chatTemplateNames } from "./chat-template-names.ts";
import { namedTemplate } from "./chat-templates.ts";
import type { Compat } from "./merges.ts";

export { nameOfTemplate } from "./chat-templates.ts";

/** The roles of special tokens in a model, by their names in `transformers`. */
export const roleNames = ["bos", "eos", "pad", "unk"] as const;
export type Role = (typeof roleNames)[number];
export type Roles = { readonly [R in Role]?: string };

/** How a model uses the tokenizer: the settings of `transformers` other than vocabulary and merges. */
export type ModelSettings = {
  readonly roles: Roles;
  /** The roles that were assigned by default. */
  readonly proposed: readonly Role[];
  /** The special tokens that a named chat template adds. */
  readonly fromTemplate: readonly string[];
  /** Whether `transformers` puts bos before a text by default. */
  readonly addsBos: boolean;
  /** The chat template, in Jinja. */
  readonly chatTemplate: string | null;
  /** The longest text that the model takes, in tokens. */
  readonly modelMaxLength: number | null;
  readonly tokenizerClass: string;
};

/** The settings that a user requests. Absent ones get defaults, or have no value. */
export type AskedModelSettings = {
  /** The token of each role. An empty text means that no token has this role. */
  readonly roles?: Roles;
  readonly addsBos?: boolean;
  /** The name of a template in chat-templates.ts, or a template. */
  readonly chatTemplate?: string | undefined;
  readonly modelMaxLength?: number | undefined;
  readonly tokenizerClass?: string | undefined;
};

/**
 * The settings that a training takes from an existing tokenizer (`--like`): all but its vocabulary and its merges. The
 * `id` of each token means nothing, because tokens get new ids.
 */
export type Like = {
  /** A path or a name, as typed. */
  readonly path: string;
  /** The special tokens, in the order in which they get new ids. */
  readonly specialTokens: readonly AddedToken[];
  /** Added tokens that are not special in the tokenizer's own files. They do not count towards the requested size. */
  readonly laterTokens: readonly AddedToken[];
  readonly patternSources: readonly string[];
  readonly normalization: Normalization | null;
  readonly addsPrefixSpace: boolean;
  /**
   * The trainer that training.json names. HF's trainer if there is no such file, or if the file says `extension`
   * instead.
   */
  readonly compat: Compat;
  /** Whether special tokens have the first ids. Present only if training.json says so. */
  readonly specialTokensFirst?: true;
  readonly model: AskedModelSettings;
  /**
   * The tokenizer.json without vocabulary, merges and added tokens. For a SentencePiece model, it is that of a
   * tokenizer.json that would give the same ids. null for a tokenizer in another format, and for a published one that
   * is given by its name.
   */
  readonly root: json.JsonObject | null;
  /** The tokenizer_config.json, with the roles of an older special_tokens_map.json; null if both are missing. */
  readonly config: json.JsonObject | null;
};

/** Describes the first setting in use that only tokenizer.json can express; null if there is none. */
export function settingOnlyInTokenizerJson({
  normalization,
  like,
  characters,
}: {
  readonly normalization: Normalization | null;
  readonly like?: Like | null;
  readonly characters?: object;
}): string | null {
  if (characters !== undefined)
    return "it stores merges that start from bytes, but the merges of this tokenizer start from characters";
  if (normalization !== null) return `it cannot store the normalization of text (${normalization})`;
  if (!like) return null;
  if (like.addsPrefixSpace)
    return `it cannot store that a space is added before the text, as "${like.path}" requires`;
  const isPlain = (token: AddedToken) =>
    token.special && !token.normalized && !token.lstrip && !token.rstrip && !token.singleWord;
  const other = [...like.specialTokens, ...like.laterTokens].find((token) => !isPlain(token));
  return other === undefined
    ? null
    : `it cannot store the added token ${JSON.stringify(other.content)}, which is not a plain special token`;
}

/** Returns the text of a token in a configuration, where a token is a string or an object. */
export const contentOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value : (value as { content?: string } | null | undefined)?.content;

/** Returns the steps of a post-processor that may add tokens to a text: all but `ByteLevel`. */
export function postProcessorSteps(value: unknown): json.JsonObject[] {
  const post = value as { type?: string; processors?: json.JsonObject[] } | null | undefined;
  const steps = post?.type === "Sequence" ? (post.processors ?? []) : post ? [post] : [];
  return steps.filter((step) => step.type !== "ByteLevel");
}

/**
 * Well-known names of special tokens for each role, best first. There is no `unk`, because a byte-level tokenizer can
 * encode everything.
 */
const wellKnown: Readonly<Record<Exclude<Role, "unk">, readonly string[]>> = {
  bos: ["<|begin_of_text|>", "<|startoftext|>", "<|beginoftext|>", "<s>", "<bos>", "[BOS]", "<|endoftext|>"],
  eos: [
    "<|im_end|>",
    "<|eot_id|>",
    "<end_of_turn>",
    "<|end_of_text|>",
    "</s>",
    "<eos>",
    "[EOS]",
    "<|endoftext|>",
  ],
  pad: ["<|pad|>", "<|padding|>", "<|finetune_right_pad_id|>", "<pad>", "[PAD]"],
};

/** Returns the special token that ends documents: a well-known end token that does not end a turn. */
export const findDocumentEnd = (specialTokens: readonly string[]): string | undefined =>
  wellKnown.eos
    .filter((name) => !/end_of_turn|eot_id|im_end/.test(name))
    .find((name) => specialTokens.includes(name));

/** The class of `transformers` that reads any `tokenizer.json`. */
const defaultClass = "PreTrainedTokenizerFast";

/** Checks the requested settings against the special tokens, and assigns default roles. Throws usage errors. */
export function settleAsked(specialTokens: readonly string[], asked: AskedModelSettings): ModelSettings {
  const roles: { [R in Role]?: string } = {};
  const proposed: Role[] = [];
  for (const role of roleNames) {
    const wanted = asked.roles?.[role];
    if (wanted === "") continue;
    if (wanted !== undefined) checkSpecial(specialTokens, wanted, asOption(role, `"${wanted}"`));
    const found = wanted ?? namesOf(role, asked.chatTemplate).find((name) => specialTokens.includes(name));
    // The default padding token must not be eos: models are trained to ignore padding, so they would not learn to end a
    // text.
    if (found === undefined || (role === "pad" && wanted === undefined && found === roles.eos)) continue;
    roles[role] = found;
    if (wanted === undefined) proposed.push(role);
  }
  const addsBos = asked.addsBos ?? false;
  if (addsBos && roles.bos === undefined) {
    throw usageError(
      phrase`${asOption("add-bos")} needs a bos token, but there is none`,
      specialTokens.length === 0
        ? phrase`add ${asOption("special-token", "'<s>'")}`
        : phrase`name one of the special tokens with ${asOption("bos")}`,
    );
  }
  const tokenizerClass = asked.tokenizerClass ?? defaultClass;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(tokenizerClass)) {
    throw usageError(
      phrase`${asOption("class", `"${tokenizerClass}"`)} is not the name of a class`,
      phrase`name a Python class, e.g. ${asOption("class", defaultClass)}`,
    );
  }
  return {
    roles,
    proposed,
    fromTemplate: [],
    addsBos,
    chatTemplate: chatTemplateOf(asked.chatTemplate, specialTokens, roles),
    modelMaxLength: asked.modelMaxLength ?? null,
    tokenizerClass,
  };
}

/** Combines the requested settings with those of the tokenizer for `--like`. Throws usage errors. */
export function settle(like: Like | null, specialTokens: readonly string[], asked: AskedModelSettings) {
  if (like === null) return settleAsked(specialTokens, asked);
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  const { roles, addsBos = false } = like.model;
  const model = settleAsked([...specialTokens, ...like.laterTokens.map(({ content }) => content)], {
    ...like.model,
    ...given,
    roles: { ...roles, ...asked.roles },
    addsBos: asked.addsBos || addsBos,
  });
  const adding = like.root === null ? [] : postProcessorSteps(like.root.post_processor);
  if (adding.length === 0 || (model.addsBos === addsBos && (!addsBos || model.roles.bos === roles?.bos)))
    return model;
  const changing = [
    ...(asked.addsBos && !addsBos ? [asOption("add-bos")] : []),
    ...(asked.roles?.bos === undefined ? [] : [asOption("bos")]),
  ];
  throw usageError(
    `the post-processor of "${like.path}" adds tokens to each text already, so a bos token cannot be added or changed`,
    changing.length === 0 ? undefined : phrase`leave out ${messages.joined(changing, " and ")}`,
  );
}

/** Returns the default names of the special token for a role, best first, including those of a named chat template. */
function namesOf(role: Role, chatTemplate: string | undefined): readonly string[] {
  const named = namedTemplate(chatTemplate);
  if (role === "unk") return [];
  if (role === "pad") return [...wellKnown.pad, ...(named === undefined ? [] : [named.pad])];
  const own = role === "eos" ? named?.endOfTurn : named?.bos;
  return [...(own == null ? [] : [own]), ...wellKnown[role]];
}

/** Returns the special tokens that a named chat template or its models need beyond the given ones. */
export function templateTokens(
  { chatTemplate, roles = {} }: AskedModelSettings,
  specialTokens: readonly string[],
): string[] {
  const named = namedTemplate(chatTemplate);
  if (named === undefined) return [];
  const hasOne = (names: readonly string[]) => names.some((name) => specialTokens.includes(name));
  // `<|endoftext|>` may have any role, so its presence does not mean that there is a bos token.
  const needsBos =
    roles.bos === undefined && !hasOne(wellKnown.bos.filter((name) => name !== "<|endoftext|>"));
  const wanted = [
    ...(needsBos && named.bos !== null ? [named.bos] : []),
    ...(findDocumentEnd(specialTokens) === undefined ? [named.documentEnd] : []),
    ...named.specialTokens,
    ...(roles.pad === undefined && !hasOne(wellKnown.pad) ? [named.pad] : []),
  ];
  return [...new Set(wanted)].filter((token) => !specialTokens.includes(token));
}

function chatTemplateOf(
  asked: string | undefined,
  specialTokens: readonly string[],
  roles: Roles,
): string | null {
  if (asked === undefined) return null;
  const named = namedTemplate(asked);
  if (named === undefined) {
    // A text without an expression is no template, but a mistyped name or another file.
    if (asked.includes("{")) return asked;
    const names = chatTemplateNames.join(", ");
    throw usageError(
      phrase`${asOption("chat-template", showValue(asked))} is neither a known name nor a Jinja template`,
      `give a Jinja template, or one of the names ${names}`,
    );
  }
  for (const token of named.specialTokens)
    if (!specialTokens.includes(token))
      throw usageError(
        phrase`${asOption("chat-template", asked)} needs the special token ${token}`,
        phrase`add ${asOption("special-token", `'${token}'`)}`,
      );
  if (named.bos !== null && roles.bos === undefined) {
    throw usageError(
      phrase`${asOption("chat-template", asked)} needs a bos token`,
      phrase`name one of the special tokens with ${asOption("bos")}`,
    );
  }
  return named.template;
}

function checkSpecial(specialTokens: readonly string[], token: string, subject: Message): void {
  if (specialTokens.includes(token)) return;
  throw usageError(
    phrase`${subject} is not a special token`,
    phrase`add ${asOption("special-token", `'${token}'`)}`,
  );
}

/** Describes a special token that has the id of an ordinary token with other bytes. */
export const describeSharedId = (content: string, id: number, bytes: Uint8Array): string =>
  `the special token ${JSON.stringify(content)} and the token "${escapeBytes(bytes)}" have the same id, ${id}, as in HF; decoding gives the second`;
