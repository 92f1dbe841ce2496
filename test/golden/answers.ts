import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { makers } from "./make.ts";

/** No run takes this long unless it hangs. */
const hangMs = 900_000;
/** The frozen answers (frozen.ts) have only the checksum of a larger output. */
const shownBytesMax = 4 << 20;

/** The answer of a case: its command line, and its outputs by name. */
export type Answer = { readonly args: string; readonly outputs: ReadonlyMap<string, Output> };
/** An output. The frozen answers have its text if it is `forPeople` and small enough, otherwise its checksum. */
export type Output = { readonly sum: string; readonly text: string | null; readonly forPeople: boolean };

const outputOf = (content: string | Uint8Array, forPeople = false): Output => ({
  sum: createHash("sha256").update(content).digest("hex").slice(0, 16),
  text: content.length > shownBytesMax ? null : visible(content),
  forPeople,
});

/** Returns a content as text, with escapes for characters that editors do not show. */
function visible(content: string | Uint8Array): string {
  const bytes = Buffer.from(content);
  const text = bytes.toString();
  return (Buffer.from(text).equals(bytes) ? text : bytes.toString("latin1")).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => (character === "\n" ? "\n" : `⟨${character.codePointAt(0)!.toString(16)}⟩`),
  );
}

/** Whether a command prints text for people to read, not data or a script. */
const printsForPeople = (args: readonly string[]) =>
  (!/^(count|encode|decode|plan|completions)$/.test(args[args[0] === "ids" ? 1 : 0] ?? "") &&
    !/--(json|csv)\b/.test(args.join(" "))) ||
  args.includes("--help");

/** The names of JSON fields whose values differ from run to run, or from build to build. */
const volatile =
  /^(version|bunVersion|commit|startedAt|endedAt|workingDirectory|timings|\w+Ms|peakMemoryBytes|memoryBytes|estimatedBytes|\w*PerSecond|\d+\/training\.json)$/;

const maskJson = (text: string) =>
  JSON.stringify(
    JSON.parse(text, (key, value) =>
      volatile.test(key) ? "…" : typeof value === "string" ? mask(value) : value,
    ),
    null,
    1,
  );

/** Masks what differs between runs or builds: times, speeds, memory, versions, process ids and the directory. */
export function mask(text: string, directory = ""): string {
  const here = directory === "" ? text : text.replaceAll(directory, "DIR");
  return (
    here
      .replace(/\d{4}-\d\d-\d\d([T ]\d\d[:-]?\d\d[:-]?\d\d(\.\d+)?Z?)/g, "TIME")
      .replace(/\b(\d+ h )?(\d+ min )?[\d,.]+ (ms|s)\b/g, "TIME")
      .replace(/[\d,.]+( ([kMGT]?B|merges|ids|tokens))?\/s/g, "SPEED")
      // The short summary names these stages only if they take a second or longer, so they are removed.
      .replace(/, (writing|opening files and numbering tokens) TIME\b/g, "")
      .replace(/[\d,.]+ [kMGT]?B( memory| of memory| at its peak)/g, "SIZE$1")
      .replace(/\b\d+\.\d+\.\d+( \(Bun |, Bun )[\d.]+(, commit (unknown|[0-9a-f]+(-dirty)?))?/g, "VERSION")
      .replace(/\bbpe \d+\.\d+\.\d+/g, "VERSION")
      .replace(/\bprocess \d+/g, "PROCESS")
  );
}

/** Masks a text on stderr, and removes its lines of progress, whose number depends on the machine. */
function maskStderr(text: string, directory: string): string {
  const lines = mask(text, directory).split("\n");
  const isProgress = (line: string) =>
    /^\{"event":"progress"|^bpe: .* SIZE memory$|^(bpe:|TIME) [a-z ]+ took TIME: /.test(line);
  return lines
    .filter((line) => !isProgress(line))
    .map((line) => (line.startsWith("{") ? maskJson(line) : line))
    .join("\n");
}

/** Reads an output file. In records, logs, pages and model cards, masks what differs between runs or builds. */
export async function fileOutput(path: string, directory: string): Promise<Output> {
  if (statSync(path).size > 64 << 20) {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(path)) hash.update(chunk);
    return { sum: hash.digest("hex").slice(0, 16), text: null, forPeople: false };
  }
  const content = readFileSync(path);
  const name = basename(path);
  if (name === "training.json") return outputOf(maskJson(mask(content.toString(), directory)));
  if (name.endsWith(".log")) return outputOf(maskLog(content.toString(), directory));
  if (name.endsWith(".html")) return outputOf(mask(withoutProgram(content.toString()), directory));
  if (name.endsWith(".md")) return outputOf(mask(content.toString(), directory));
  return outputOf(content);
}

/** Returns a page without its program, style and origin, and with measurements masked. */
const withoutProgram = (page: string) =>
  page
    .replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "")
    .replace(/<style>.*?<\/style>/s, "")
    .replace(/<script type="module">.*?<\/script>/s, "")
    .replace(/<p class="origin">.*?<\/p>/, "")
    .replace(/"([\w/.]+)":("[^"]*"|[\d.]+)/g, (field, key) => (volatile.test(key) ? `"${key}":"…"` : field));

/** Masks a log, and removes lines of progress, which may occur any number of times. */
const maskLog = (text: string, directory: string) =>
  maskStderr(text, directory)
    .split("\n")
    .filter((line) => !/%|left/.test(line))
    .join("\n");

/** Splits a line into arguments like a shell: '…' and "…" may contain anything but their own quote. */
function argumentsOf(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double),
  );
}

async function run(binary: string, args: readonly string[], cwd: string, stdin: string | undefined) {
  const child = Bun.spawn([binary, ...args], {
    cwd,
    env: { TMPDIR: join(cwd, "tmp") },
    stdin: stdin === undefined ? "ignore" : new Blob([readFileSync(join(cwd, stdin))]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: hangMs,
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).bytes(),
    new Response(child.stderr).text(),
  ]);
  await child.exited;
  return { code: child.exitCode ?? String(child.signalCode), stdout, stderr };
}

/** Runs the lines of a group, and adds their answers to `answers`. */
async function runGroup(
  binary: string,
  group: string,
  text: string,
  cwd: string,
  answers: Map<string, Answer>,
) {
  const own = `out/${group.replace(/\W+/g, "-")}`;
  mkdirSync(join(cwd, own), { recursive: true });
  const seen = new Map<string, string>();
  for (const line of text.split("\n").map((line) => line.trim())) {
    if (line === "") continue;
    const here = line.replaceAll("@/", `${own}/`);
    if (here.startsWith("+ ")) {
      const [, kind, from, ...more] = argumentsOf(here);
      const [to, last] = more.map((word, i) => (i === 0 && kind !== "write" ? join(cwd, word) : word));
      if (kind === "write" || existsSync(join(cwd, from!))) makers[kind!]!(join(cwd, from!), to!, last ?? "");
      for (const path of filesOf(join(cwd, own))) seen.set(path, stampOf(join(cwd, own, path)));
      continue;
    }
    const [, name, rest] = /^(\S+):(?: (.*))?$/s.exec(here)!;
    const [command, stdin] = (rest ?? "").split(" < ");
    const args = argumentsOf(command!);
    const { code, stdout, stderr } = await run(binary, args, cwd, stdin);
    const outputs = new Map<string, Output>();
    outputs.set("code", { sum: String(code), text: String(code), forPeople: false });
    if (stdout.length > 0) outputs.set("stdout", outputOf(maskTextOf(stdout, cwd), printsForPeople(args)));
    if (stderr !== "") outputs.set("stderr", outputOf(maskStderr(stderr, cwd), true));
    for (const path of filesOf(join(cwd, own))) {
      const stamp = stampOf(join(cwd, own, path));
      if (seen.get(path) === stamp) continue;
      seen.set(path, stamp);
      outputs.set(path, await fileOutput(join(cwd, own, path), cwd));
    }
    if (answers.has(`${group}/${name}`)) throw new Error(`two cases are called ${group}/${name}`);
    answers.set(`${group}/${name}`, { args: `bpe ${rest ?? ""}`, outputs });
  }
}

const maskTextOf = (stdout: Uint8Array, cwd: string) =>
  stdout.length > shownBytesMax
    ? stdout
    : Buffer.from(mask(Buffer.from(stdout).toString("latin1"), cwd), "latin1");

/**
 * Returns the files in an output directory, except those of a cache, whose names depend on the program's version and on
 * paths.
 */
export const filesOf = (directory: string) =>
  [...new Bun.Glob("**/*").scanSync({ cwd: directory, dot: true })]
    .filter((path) => !path.startsWith("cache/"))
    .sort();

function stampOf(path: string): string {
  const { ino, size, mtimeMs, ctimeMs } = statSync(path);
  return [ino, size, mtimeMs, ctimeMs].join();
}

/** Runs all groups, several at a time. `cwd` has the corpora. */
export async function answersOf(
  binary: string,
  groups: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Map<string, Answer>> {
  mkdirSync(join(cwd, "tmp"), { recursive: true });
  const found = new Map(Object.keys(groups).map((group) => [group, new Map<string, Answer>()]));
  const waiting = Object.entries(groups);
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await runGroup(binary, next[0], next[1], cwd, found.get(next[0])!);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return new Map([...found.values()].flatMap((answers) => [...answers]));
}
