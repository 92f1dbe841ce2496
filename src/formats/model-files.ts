import { json } from "#bytes";
import { files } from "#runtime";
import { modelSettings } from "#tokenizer";
import { readCompanionFiles } from "./base-files.ts";
import * as recordFiles from "./read-training-record.ts";

/**
 * Parses the files that `transformers` reads in a tokenizer's directory. Returns the configuration (null if there is
 * none) and the chat template (undefined if there is none, or only a list of several). If `path` is a file, there is
 * neither.
 */
export function parse(path: string) {
  const companions = new Map(
    files.isDirectory(path) ? readCompanionFiles(path).map((file) => [file.name, file]) : [],
  );
  const textOf = (name: string) => {
    const file = companions.get(name);
    return file && new TextDecoder().decode(file.bytes);
  };
  const jsonOf = (name: string): json.JsonObject | null => {
    const [text, file] = [textOf(name), companions.get(name)];
    return text === undefined ? null : json.objectAt(json.parse(text, file!.path), file!.path);
  };
  const [own, map] = [jsonOf("tokenizer_config.json"), jsonOf("special_tokens_map.json")];
  // A tokenizer_config.json with `added_tokens_decoder` has the newer form, which replaces special_tokens_map.json.
  const config =
    own !== null && "added_tokens_decoder" in own ? own : map === null ? own : { ...own, ...map };
  const inConfig = typeof config?.chat_template === "string" ? config.chat_template : undefined;
  return { config, template: textOf("chat_template.jinja") ?? inConfig };
}

/**
 * The names that `transformers` gives the tokens with roles, in the order in which it adds them if the tokenizer lacks
 * them.
 */
export const roleKeys = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"].map((role) => `${role}_token`);

/**
 * Settings that `transformers` stores for a model. Each is null if the files do not state it; the template also if the
 * configuration lists several.
 */
export function factsOf({ config, template }: ReturnType<typeof parse>) {
  const { model_max_length: length, tokenizer_class: name } = config ?? {};
  return {
    chatTemplate: template ?? null,
    // A number that is not a safe integer means no limit: transformers writes 10^30.
    modelMaxLength: Number.isSafeInteger(length) ? (length as number) : null,
    tokenizerClass: typeof name === "string" ? name : null,
  };
}

export function roleTokensAt(path: string): Readonly<Record<string, string>> {
  const roles = parse(path).config ?? recordFiles.readRoles(path);
  const stated = roleKeys.map((key) => [key, modelSettings.contentOf(roles[key])] as const);
  return Object.fromEntries(stated.filter((role): role is [string, string] => typeof role[1] === "string"));
}
