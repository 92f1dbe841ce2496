import { objectAt, parseJson } from "../bytes/schema.ts";
import { isDirectory } from "../runtime/system-error.ts";
import { type AddedToken, plainSpecial } from "../text/cutting.ts";
import { allAddedTokens } from "../tokenizer/tokenizer-parts.ts";
import {
  contentOf,
  type JsonObject,
  type Like,
  postProcessorSteps,
  type Roles,
  roleNames,
} from "../vocabulary/model-settings.ts";
import { filesBeside, readSource, tokenizerFileOf } from "./load-tokenizer.ts";
import { recordedBeside } from "./training-json.ts";

/** What a training takes from the tokenizer at a path (docs/like.md). A UserError if that cannot be reproduced. */
export async function readLike(path: string): Promise<Like> {
  const { code, files, paths } = await readSource(tokenizerFileOf(path));
  const parts = code.read(files, {});
  const root = code.frame?.(files[0]) ?? null;
  const { config, template } = readBeside(path);
  const named = namedTokens(config ?? {});
  const added = allAddedTokens(parts).toSorted((a, b) => a.id - b.id);
  const missing = named.filter((text) => added.every(({ content }) => content !== text));
  const bos = contentOf(config?.bos_token);
  const recorded = recordedBeside(paths);
  const { model_max_length: modelMaxLength, tokenizer_class: tokenizerClass } = config ?? {};
  return {
    path,
    specialTokens: [
      ...added.filter(({ special }) => special),
      ...missing.map((content): AddedToken => ({ id: -1, content, ...plainSpecial })),
    ],
    laterTokens: added
      .filter(({ special }) => !special)
      .map((token) => ({ ...token, special: named.includes(token.content) })),
    patternSources: parts.description.patternSources,
    normalization: parts.normalization,
    addsPrefixSpace: parts.addsPrefixSpace,
    compat: recorded === undefined || recorded.compat === "extension" ? "huggingface" : recorded.compat,
    model: {
      ...(config !== null && { roles: rolesOf(config) }),
      addsBos: bos !== undefined && root !== null && putsInFront(root, bos),
      chatTemplate: template,
      // What is not safe is no limit: transformers writes 10^30.
      ...(Number.isSafeInteger(modelMaxLength) && { modelMaxLength: modelMaxLength as number }),
      ...(typeof tokenizerClass === "string" && { tokenizerClass }),
    },
    root,
    config,
  };
}

/** What `transformers` reads in a directory beside the tokenizer. */
function readBeside(path: string) {
  const files = new Map(isDirectory(path) ? filesBeside(path).map((file) => [file.name, file]) : []);
  const textOf = (name: string) => {
    const file = files.get(name);
    return file && new TextDecoder().decode(file.bytes);
  };
  const jsonOf = (name: string): JsonObject | null => {
    const [text, file] = [textOf(name), files.get(name)];
    return text === undefined ? null : objectAt(parseJson(text, file!.path), file!.path, "what is in it");
  };
  const [own, map] = [jsonOf("tokenizer_config.json"), jsonOf("special_tokens_map.json")];
  // A configuration that lists the added tokens is newer than the map.
  const config =
    own !== null && "added_tokens_decoder" in own ? own : map === null ? own : { ...own, ...map };
  const inConfig = typeof config?.chat_template === "string" ? config.chat_template : undefined;
  return { config, template: textOf("chat_template.jinja") ?? inConfig };
}

/** No token has a role that the configuration gives to none. */
const rolesOf = (config: JsonObject): Roles =>
  Object.fromEntries(roleNames.map((role) => [role, contentOf(config[`${role}_token`]) ?? ""]));

/** The tokens that have roles, in the order in which `transformers` adds those that the tokenizer lacks. */
function namedTokens(config: JsonObject): string[] {
  const first = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"].map((role) => `${role}_token`);
  const keys = new Set([...first, ...Object.keys(config).filter((key) => key.endsWith("_token"))]);
  const tokens = [...keys].map((key) => contentOf(config[key]));
  return [...new Set(tokens.filter((text): text is string => typeof text === "string" && text !== ""))];
}

/** Whether its post-processor puts bos in front of a text. */
const putsInFront = ({ post_processor }: JsonObject, bos: string) =>
  postProcessorSteps(post_processor).some(
    ({ single, cls }) =>
      (single as { SpecialToken?: { id: string } }[] | undefined)?.[0]?.SpecialToken?.id === bos ||
      (cls as unknown[] | undefined)?.[0] === bos,
  );
