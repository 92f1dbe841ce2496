import { type json, showValue } from "#bytes";
import { type namedPatterns, patterns } from "#pattern";
import { asOption, files, phrase, UserError, usageError } from "#runtime";
import { type AddedToken, cuttings } from "#text";
import { changes, modelSettings, type Roles, type TokenizerParts, tokenizers } from "#tokenizer";
import * as tokenizerFiles from "./load-tokenizer.ts";
import * as modelFiles from "./model-files.ts";
import { publishedTokenizers } from "./named-tokenizers.ts";
import * as recordFiles from "./read-training-record.ts";
import { frameWithIds } from "./tokenizer-json.ts";

/** Reads the settings for `--like`, by path or name (docs/your-model.md). */
export const readLike = async (typed: string): Promise<modelSettings.Like> =>
  (files.stat(typed) === undefined && (await publishedLike(typed))) || likeAt(typed);

async function likeAt(path: string): Promise<modelSettings.Like> {
  const source = await tokenizerFiles.readSource(tokenizerFiles.fileOf(path));
  const parts = source.code.read(source.files, { use: "like" });
  changes.refuseCharacters(parts, phrase`used with ${asOption("like")}`, "name a byte-level tokenizer");
  return readLikeFrom(path, parts, source);
}

/** Reads the settings from the tokenizer at a path, whose parts were loaded from `source`. */
export async function readLikeFrom(
  path: string,
  parts: TokenizerParts,
  source?: tokenizerFiles.Source,
): Promise<modelSettings.Like> {
  const { code, files, paths } = source ?? (await tokenizerFiles.readSource(tokenizerFiles.fileOf(path)));
  const root = code.frame?.(files[0]) ?? null;
  const { config: stated, template } = modelFiles.parse(path);
  // If there is a configuration without the key `pad_token`, the token in the `padding` of tokenizer.json has the role
  // pad. With `pad_token: null`, no token has this role.
  const pad_token = (root?.padding as json.JsonObject | null | undefined)?.pad_token;
  const config = stated && pad_token !== undefined ? { pad_token, ...stated } : stated;
  const named = namedTokens(config ?? {});
  const added = withConfigured(tokenizers.allAddedTokens(parts), config, named);
  const missing = named.filter((text) => added.every(({ content }) => content !== text));
  const known = new Set([...missing, ...added.map(({ content }) => content)]);
  const checkKnown = (token: unknown): number => {
    if (known.has(token as string)) return 0;
    throw new UserError(
      `"${path}": its post-processor or padding uses ${showValue(token)}, which is not among its added tokens`,
      { hint: "add this token to added_tokens in its tokenizer.json" },
    );
  };
  // Checks the file now. Without this, the training would fail only at its end.
  if (root !== null) frameWithIds(root, checkKnown, path);
  const bos = modelSettings.contentOf(config?.bos_token);
  const recorded = recordFiles.find(paths);
  const { modelMaxLength, tokenizerClass } = modelFiles.factsOf({ config, template });
  return {
    path,
    specialTokens: [
      ...added.filter(({ special }) => special),
      ...missing.map((content): AddedToken => ({ id: -1, content, ...cuttings.plainSpecial })),
    ],
    laterTokens: added
      .filter(({ special }) => !special)
      .map((token) => ({ ...token, special: named.includes(token.content) })),
    patternSources: parts.description.patternSources,
    normalization: parts.normalization,
    addsPrefixSpace: parts.addsPrefixSpace,
    compat: recorded === undefined || recorded.compat === "extension" ? "huggingface" : recorded.compat,
    ...(recorded?.specialTokensFirst && { specialTokensFirst: true }),
    model: {
      ...(config !== null && { roles: rolesOf(config) }),
      ...(config === null && code.roles !== undefined && { roles: code.roles(files[0]) }),
      addsBos:
        bos !== undefined &&
        root !== null &&
        (code.roles === undefined ? putsInFront(root, bos) : config?.add_bos_token === true),
      chatTemplate: template,
      ...(modelMaxLength !== null && { modelMaxLength }),
      ...(tokenizerClass !== null && { tokenizerClass }),
    },
    root,
    config,
  };
}

/**
 * Combines the added tokens with those that the configuration lists, in the order of ids. As in `transformers`, the
 * configuration's flags take precedence, and tokens that only the configuration lists come last.
 */
function withConfigured(
  tokens: readonly AddedToken[],
  config: json.JsonObject | null,
  named: readonly string[],
): AddedToken[] {
  const byContent = new Map(tokens.toSorted((a, b) => a.id - b.id).map((token) => [token.content, token]));
  const stated = Object.entries((config?.added_tokens_decoder ?? {}) as Record<string, json.JsonObject>);
  for (const [, token] of stated.sort(([a], [b]) => Number(a) - Number(b))) {
    const content = modelSettings.contentOf(token);
    if (typeof content !== "string" || content === "") continue;
    const is = (flag: string, usual = false) => (token[flag] ?? usual) === true;
    const special = is("special");
    const flags = { lstrip: is("lstrip"), rstrip: is("rstrip"), singleWord: is("single_word") };
    const found = { ...flags, special, normalized: is("normalized", !special) };
    const known = byContent.get(content);
    const isSame = Object.entries(found).every(
      ([flag, value]) => known?.[flag as keyof AddedToken] === value,
    );
    if (isSame) continue;
    const isSpecial = special || named.includes(content);
    byContent.set(content, { id: known?.id ?? -1, content, ...found, special: isSpecial });
  }
  return [...byContent.values()];
}

/** Returns the token of each role. A role that the configuration does not assign gets no token. */
const rolesOf = (config: json.JsonObject): Roles =>
  Object.fromEntries(
    modelSettings.roleNames.map((role) => [role, modelSettings.contentOf(config[`${role}_token`]) ?? ""]),
  );

/** Returns the tokens with roles, in the order in which `transformers` adds those that the tokenizer lacks. */
function namedTokens(config: json.JsonObject): string[] {
  const keys = new Set([
    ...modelFiles.roleKeys,
    ...Object.keys(config).filter((key) => key.endsWith("_token")),
  ]);
  const tokens = [...keys].map((key) => modelSettings.contentOf(config[key]));
  return [...new Set(tokens.filter((text): text is string => typeof text === "string" && text !== ""))];
}

/** Whether the post-processor prepends bos to a text. */
const putsInFront = ({ post_processor }: json.JsonObject, bos: string) =>
  modelSettings
    .postProcessorSteps(post_processor)
    .some(
      ({ single, cls }) =>
        (single as { SpecialToken?: { id: string } }[] | undefined)?.[0]?.SpecialToken?.id === bos ||
        (cls as unknown[] | undefined)?.[0] === bos,
    );

/**
 * Reads the settings of a published tokenizer. Returns undefined for an unknown name. Throws a usage error for a name
 * that only a pattern has.
 */
async function publishedLike(path: string): Promise<modelSettings.Like | undefined> {
  const found = publishedTokenizers.find(({ names }) => names.includes(path));
  if (found !== undefined) {
    const { findKnown } = await import("./tiktoken.ts");
    const { pattern, specialTokens, laterTokens = [], normalization = null } = findKnown(found.encoding);
    const withTraits = (texts: readonly string[], special: boolean) =>
      texts.map((content, id): AddedToken => ({ id, content, ...cuttings.plainSpecial, special }));
    return {
      ...{ path, normalization, addsPrefixSpace: false, compat: "huggingface", root: null, config: null },
      specialTokens: withTraits(
        specialTokens.map(([text]) => text),
        true,
      ),
      laterTokens: withTraits(laterTokens, false),
      patternSources: patterns[pattern].sources,
      model: found.model ?? {},
    };
  }
  const named = Object.entries<namedPatterns.NamedPattern>(patterns);
  if (!named.some(([name, { aliases = [] }]) => [name, ...aliases].includes(path))) return undefined;
  throw usageError(
    phrase`${asOption("like", path)} names a pattern, not a known tokenizer`,
    phrase`for the pattern alone, give ${asOption("pattern", path)}; for a tokenizer, give its path, or one of ${publishedTokenizers.map(({ names }) => names[0]).join(", ")}`,
  );
}
