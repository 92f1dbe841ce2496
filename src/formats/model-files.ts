import { objectAt, parseJson } from "#bytes";
import { isDirectory } from "#runtime";
import { contentOf, type JsonObject } from "#tokenizer";
import { filesBeside } from "./load-tokenizer.ts";
import { recordedRoles } from "./training-json.ts";

/** What `transformers` reads in a directory beside the tokenizer. */
export function readBeside(path: string) {
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

/** What `transformers` calls the tokens with roles, in the order in which it adds those that the tokenizer lacks. */
export const roleKeys = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"].map((role) => `${role}_token`);

/** What `transformers` reads of a model that uses the tokenizer; null: it is not said. */
export function modelFactsOf({ config, template }: ReturnType<typeof readBeside>) {
  const { model_max_length: length, tokenizer_class: name } = config ?? {};
  return {
    chatTemplate: template ?? null,
    // What is not safe is no limit: transformers writes 10^30.
    modelMaxLength: Number.isSafeInteger(length) ? (length as number) : null,
    tokenizerClass: typeof name === "string" ? name : null,
  };
}

/** The texts of the tokens with roles: as what is beside the tokenizer says, else as the record of its training does. */
export function roleTokensAt(path: string): Readonly<Record<string, string>> {
  const roles = readBeside(path).config ?? recordedRoles(path);
  const stated = roleKeys.map((key) => [key, contentOf(roles[key])] as const);
  return Object.fromEntries(stated.filter((role): role is [string, string] => typeof role[1] === "string"));
}
