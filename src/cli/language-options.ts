import { usageError } from "../errors.ts";
import { checkDev, type LanguageFile } from "../pipeline/count-groups.ts";
import { type Invocation, readNamed } from "./arguments.ts";

/** What `--language` and `--language-dev` name, in the order of the languages; undefined without them. Looks at no file. */
export function readLanguages({ options, files }: Invocation): LanguageFile[] | undefined {
  const typed = options.get("language");
  if (typed === undefined) return undefined;
  if (files.length > 0) {
    throw usageError(
      `"${files[0]}" belongs to no language; with --language, every file needs one`,
      `--language NAME=${files[0]}`,
    );
  }
  const train = readFiles("language", typed);
  const dev = readFiles("language-dev", options.get("language-dev") ?? []);
  checkDev("--language-dev", train, dev);
  return [...train, ...dev];
}

/** Values `NAME=FILE`; one without a name is of the language before it. */
function readFiles(option: "language" | "language-dev", values: readonly string[]): LanguageFile[] {
  let language: string | null = null;
  return values.map((value) => {
    const { name, path: file } = readNamed(`--${option}`, value);
    language = name ?? language;
    if (language === null) {
      throw usageError(`--${option} "${value}" names no language`, `NAME=FILE: --${option} en=${value}`);
    }
    return { language, isDev: option === "language-dev", file };
  });
}
