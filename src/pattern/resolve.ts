import { exitCode, UserError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { type CompiledPattern, type CompileOptions, compilePattern } from "./compile.ts";
import { type NamedPattern, patterns } from "./names.ts";

export type ResolvedPattern = {
  /** null for a regular expression. */
  readonly name: string | null;
  readonly sources: readonly string[];
  readonly compiled: CompiledPattern;
};

/** What the user means by `--pattern`: letters, digits, `-`, `_`, `.` only is a name, anything else a regex. */
export function resolvePattern(text: string, options: CompileOptions = {}): ResolvedPattern {
  if (!/^[A-Za-z0-9._-]+$/.test(text))
    return { name: null, sources: [text], compiled: compilePattern([text], options) };
  const names = Object.keys(patterns);
  if (!names.includes(text)) {
    const near = nearest(text, names);
    throw new UserError(`unknown pattern "${text}"`, {
      hint:
        near === undefined
          ? "`--pattern help` lists the names"
          : `did you mean ${near}? \`--pattern help\` lists the names`,
      exitCode: exitCode.usage,
    });
  }
  const { sources } = patterns[text as keyof typeof patterns] as NamedPattern;
  return { name: text, sources, compiled: compilePattern(sources, options) };
}
