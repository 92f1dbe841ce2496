import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { UserError, usageError } from "../errors.ts";
import { nearest } from "../runtime/hints.ts";
import { withRegularFile } from "../runtime/named-files.ts";
import { chatTemplates } from "../vocabulary/chat-templates.ts";
import { type AskedModelSettings, type ModelSettings, roleNames } from "../vocabulary/model-settings.ts";
import type { TypedOptions } from "./option-values.ts";

/** The options of `train` that are for `transformers`: roles of special tokens, chat template, length, class. */
export function readModelOptions(options: TypedOptions): AskedModelSettings {
  const roles = roleNames.map((role) => [role, options.text(role)]).filter(([, text]) => text !== undefined);
  const template = options.text("chat-template");
  return {
    roles: Object.fromEntries(roles),
    addsBos: options.has("add-bos"),
    chatTemplate: template === undefined ? undefined : readChatTemplate(template),
    modelMaxLength: options.wholeNumber("model-max-length", 1),
    tokenizerClass: options.text("class"),
  };
}

/** A name stands for itself; anything with a dot or a slash is a file. */
function readChatTemplate(typed: string): string {
  const names = Object.keys(chatTemplates);
  if (names.includes(typed)) return typed;
  if (!/[./]/.test(typed)) {
    const near = nearest(typed, names);
    const hint = near === undefined ? `one of: ${names.join(", ")}; or a file` : `did you mean ${near}?`;
    throw usageError(`--chat-template: unknown name "${typed}"`, hint);
  }
  const bytes = withRegularFile(typed, (fd) => readFileSync(fd));
  if (!isUtf8(bytes)) throw new UserError(`--chat-template "${typed}" is not valid UTF-8`);
  return new TextDecoder().decode(bytes);
}

/** What the summary says of roles: those that nobody asked for are named as proposed. */
export function roleRows({ roles, proposed }: ModelSettings): [string, string][] {
  const given = roleNames.filter((role) => roles[role] !== undefined);
  if (given.length === 0) return [];
  const tokens = [...new Set(given.map((role) => roles[role]!))];
  const parts = tokens.map((token) => {
    const names = given.filter((role) => roles[role] === token);
    return `${token} is ${names.join(" and ")}`;
  });
  const isProposed = given.every((role) => proposed.includes(role));
  const note =
    proposed.length === 0 ? "" : isProposed ? " (by its name)" : ` (${proposed.join(", ")} by name)`;
  return [["roles", parts.join(", ") + note]];
}
