// `npm run suite npm` tests the npm package outside of this checkout. BPE_TEST_NODES lists the Node executables to test
// with; BPE_TEST_CHROMIUM names a browser, without which no browser is tested.
import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createContext, runInContext } from "node:vm";
import { buildSync } from "esbuild";
import { run } from "../../scripts/release/run.ts";
import { targets } from "../../scripts/release/targets.ts";
import { Tokenizer } from "../../src/index.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const root = resolve(import.meta.dir, "../..");
const built = join(root, "dist/npm");
const home = mkdtempSync(join(tmpdir(), "bpe-npm-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const project = join(home, "project");
const at = (path: string) => join(home, path);
const executable = join(built, "executable/bin/bpe");
const executableName = JSON.parse(readFileSync(join(built, "executable/package.json"), "utf8"))
  .name as string;
const installed = join(project, "node_modules", executableName);

mkdirSync(project);
writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
const [packed] = JSON.parse(
  run("npm", ["pack", "--json", "--pack-destination", home, join(built, "bpe")], home),
);
// The packages with executables are in no registry, so the one for this machine is copied to where npm would install
// it.
run(
  "npm",
  ["install", "--offline", "--no-audit", "--no-fund", "--omit=optional", at(packed.filename)],
  project,
);
cpSync(join(built, "executable"), installed, { recursive: true });

const special = "<|endoftext|>";
const documents = [
  ...Array.from({ length: 60 }, (_, seed) => madeText(seed, 100 + seed)),
  "",
  "naïve 数据 🦊 \r\n\u2028".repeat(300),
  "long ".repeat(50_000),
];
const options = { vocabSize: 800, specialTokens: [special], pattern: "cl100k" };
const corpus = at("corpus.txt");
writeFileSync(corpus, documents.join(special));

const zstd = at("corpus.txt.zst");
writeFileSync(zstd, Bun.zstdCompressSync(readFileSync(corpus)));

/** A text with more distinct words than fit into the memory limit of program.mjs. */
const large = at("large.txt");
writeFileSync(large, Array.from({ length: 3e6 }, (_, n) => ((n * 7919) % 5e7).toString(36)).join(" "));

const sha256 = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

/** Returns the results of the executable: hashes of tokenizers and of ids. */
function expectedOf() {
  const hashOf = (directory: string) => {
    const names = readdirSync(directory).filter((name) => name !== "training.json");
    return sha256(...names.sort().flatMap((name) => [`${name}\n`, readFileSync(join(directory, name))]));
  };
  const tokenizer = at("expected");
  run(executable, ["train", corpus, "-n", "800", "-s", special, "-p", "cl100k", "-o", tokenizer, "-q"]);
  run(executable, ["train", large, "-n", "2000", "-o", at("expected-large"), "-q"]);
  run(executable, ["encode", corpus, "--tokenizer", tokenizer, "-o", at("ids.npy"), "-q"]);
  run(executable, [
    "encode",
    corpus,
    "--tokenizer",
    tokenizer,
    "-o",
    at("ids.bin"),
    "--dtype",
    "uint32",
    "-q",
  ]);
  return {
    tokenizer: hashOf(tokenizer),
    large: hashOf(at("expected-large")),
    npy: sha256(readFileSync(at("ids.npy"))),
    ids: sha256(readFileSync(at("ids.bin"))),
  };
}
const expected = expectedOf();
// cuts.mjs is a plain script, because it also runs in the project in which the package is installed.
const { cutsOf } = await import(join(import.meta.dir, "cuts.mjs"));
const cuts = cutsOf(await Tokenizer.load(at("expected")), documents.join(special));
cpSync(join(import.meta.dir, "cuts.mjs"), join(project, "cuts.mjs"));

test("the package contains everything needed, and nothing of the tests or of this machine", () => {
  const paths: string[] = packed.files.map(({ path }: { path: string }) => path);
  for (const path of [
    "README.md",
    "LICENSE",
    "NOTICE",
    "bin/bpe.js",
    "types/index.d.ts",
    "types/browser.d.ts",
  ]) {
    expect(paths).toContain(path);
  }
  const others = paths.filter(
    (path) =>
      !/^(lib|types)\/|^(package\.json|(README|CHANGELOG)\.md|LICENSE|NOTICE|bin\/bpe\.js)$/.test(path),
  );
  expect(others).toEqual([]);
  expect(paths.filter((path) => /test|\.(ts|map)$/.test(path.replace(/\.d\.ts$/, "")))).toEqual([]);
  for (const path of paths) {
    const content = readFileSync(join(project, "node_modules/bpe", path), "latin1");
    expect([path, content.includes(root)]).toEqual([path, false]);
    if (path.startsWith("lib/node/"))
      expect([path, /["']bun:|\bBun\.[a-z]/.test(content)]).toEqual([path, false]);
    if (/^lib\/(browser|workers)\//.test(path))
      expect([path, /["'](node|bun):|\brequire\(|\bprocess\./.test(content)]).toEqual([path, false]);
    if (path.endsWith(".d.ts"))
      expect([path, /\b(NodeJS|Bun|Buffer|WebAssembly)\b[.<]/.test(content)]).toEqual([path, false]);
  }
  const { optionalDependencies, version } = JSON.parse(
    readFileSync(join(project, "node_modules/bpe/package.json"), "utf8"),
  );
  expect(optionalDependencies).toEqual(Object.fromEntries(targets.map(({ npm }) => [npm.name, version])));
});

test("a strict project type checks, with every kind of modules", () => {
  cpSync(join(import.meta.dir, "types.ts"), join(project, "types.ts"));
  const tsc = join(root, "node_modules/.bin/tsc");
  const strict = ["--strict", "--noEmit"];
  const strictest = [
    ...strict,
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
    "--verbatimModuleSyntax",
  ];
  for (const flags of [
    strict,
    [...strictest, "--module", "nodenext"],
    [...strictest, "--module", "preserve"],
  ]) {
    expect(run(tsc, [...flags, "types.ts"], project)).toBe("");
  }
});

/** Returns the TypeScript in the README and in the comments of declarations. */
function snippets(): string[] {
  const page = readFileSync(join(root, "npm/README.md"), "utf8");
  const blocks = [
    ...page.matchAll(/^```ts\n(.*?)^```/gms),
    ...page.matchAll(/<script type="module">\n(.*?)<\/script>/gs),
  ];
  const calls = [
    ...page.matchAll(/`((?:trainTokenizer|encode|decode|count|truncate|chunks)\([^`]*\{[^`]*\))`/g),
  ];
  const declared = ["index", "browser", "library/text-tokenizer", "library/tokenizer"].concat(
    ...["library/train-tokenizer", "library/train-in-browser"],
  );
  const commented = declared.flatMap((name) => {
    const text = readFileSync(join(project, "node_modules/bpe/types", `${name}.d.ts`), "utf8");
    return [...text.matchAll(/^ *\* ```ts\n(.*?)^ *\* ```/gms)].map(([, code]) =>
      code!.replaceAll(/^ *\* ?/gm, ""),
    );
  });
  expect([blocks.length, calls.length > 2, commented.length]).toEqual([4, true, 5]);
  return [...[...blocks, ...calls].map(([, code]) => code!), ...commented];
}

test("every example in the page and in the declarations type checks, for Node and for browsers", () => {
  const directory = join(project, "snippets");
  mkdirSync(directory);
  for (const [i, code] of snippets().entries()) {
    const isBrowser = /bpe\/(browser|lib\/browser)|input\.files/.test(code);
    const entry = isBrowser ? "bpe/browser" : "bpe";
    const imported = [...code.matchAll(/^ *import \{ (.*) \}/gm)].flatMap(([, names]) => names!.split(", "));
    const missing = ["Tokenizer", "trainTokenizer"].filter((name) => !imported.includes(name));
    // Declares the variables that the sentences around the examples mention.
    const given = [
      "input: HTMLInputElement",
      "files: string",
      "texts: string[]",
      "counts: string",
      "n: number",
      "size: number",
    ];
    const others = /(const|let) text\b/.test(code) ? given : [...given, "text: string"];
    const prelude = [
      ...(missing.length > 0 ? [`import { ${missing.join(", ")} } from "${entry}";`] : []),
      ...others.map((declaration) => `declare const ${declaration};`),
      ...(/const ids\b/.test(code) ? [] : ["declare const ids: number[];"]),
      ...(/const tokenizer\b/.test(code) ? [] : ["declare const tokenizer: Tokenizer;"]),
      "declare const wordCounts: Map<string, number>, keep: 'start', limit: number, overlap: number;",
      "declare const addSpecialTokens: boolean, skipSpecialTokens: boolean;",
    ];
    const body = code
      .replaceAll(/"[^"]*\/lib\/browser\/browser\.js"/g, '"bpe/browser"')
      .replace(/^(encode|decode|count|truncate|chunks)\(/, "tokenizer.$1(");
    writeFileSync(join(directory, `snippet-${i}.ts`), [...prelude, body, "export {};"].join("\n"));
  }
  const tsc = join(root, "node_modules/.bin/tsc");
  const names = readdirSync(directory);
  const flags = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--target", "es2022", "--types", ""];
  for (const more of [
    ["--module", "nodenext"],
    ["--module", "preserve", "--lib", "es2022,dom"],
    ["--module", "preserve", "--customConditions", "browser", "--lib", "es2022,dom"],
  ]) {
    // The package's build for browsers takes no paths. So code that has paths, or imports "bpe", is not checked
    // against it.
    const those = more.includes("browser")
      ? names.filter((name) => !/save\(|files: "|"bpe"/.test(readFileSync(join(directory, name), "utf8")))
      : names;
    expect(run(tsc, [...flags, ...more, ...those], directory)).toBe("");
  }
});

const nodes = process.env.BPE_TEST_NODES?.split(":") ?? ["node"];

test("the examples of the README run verbatim: train, save, load, encode; and a browser's import", () => {
  const blocks = [...readFileSync(join(root, "npm/README.md"), "utf8").matchAll(/^```ts\n(.*?)^```/gms)];
  expect(blocks.length).toBe(3);
  const [train, session, browser] = blocks.map(([, code]) => code!) as [string, string, string];
  // The browser's example fetches a file by its URL. Here, `fetch` reads the file of the same name that the first
  // example saved.
  const fetched = `import { readFileSync } from "node:fs";
    globalThis.fetch = async (name) => new Response(readFileSync(\`tokenizer/\${name}\`));\n`;
  const directory = join(project, "readme");
  mkdirSync(directory);
  writeFileSync(join(directory, "corpus.txt"), "some text and some other text\n".repeat(1000));
  // A byte order mark is ordinary text.
  const marked = train.replace('"some text<', '"\\ufeffsome text<');
  const shown = "console.log(text.codePointAt(0), text.slice(1), ids.at(-1), tokenizer.vocabSize);";
  const isSame = `console.log(session.ids.join() === tokenizer.encode("some text and more").join());`;
  writeFileSync(join(directory, "train.mjs"), `${marked}${session}${shown}${isSame}`);
  writeFileSync(
    join(directory, "browser.mjs"),
    `${fetched}${browser}console.log([...tokenizer.encode(" text")]);`,
  );
  const [text, last] = run(nodes[0]!, ["train.mjs"], directory).trim().split("<|endoftext|> ");
  expect([text, Number.parseInt(last!, 10)]).toEqual([`${0xfeff} some text`, expect.any(Number)]);
  expect(last).toEndWith("true");
  expect(run(nodes[0]!, ["browser.mjs"], directory)).toMatch(/^\[ \d+ \]\n$/);
});

for (const program of [...nodes, process.execPath]) {
  const version = run(program, ["--version"]).trim();
  describe(`${program === process.execPath ? "Bun" : "Node"} ${version}`, () => {
    test("trains and encodes to the bytes of the executable", () => {
      cpSync(join(import.meta.dir, "program.mjs"), join(project, "program.mjs"));
      const work = at(`work-${version}`);
      const settings = at("settings.json");
      writeFileSync(settings, JSON.stringify({ documents, special, options, large, zstd }));
      const temporary = at(`temporary-${version}`);
      mkdirSync(temporary);
      const environment = { ...process.env, TMPDIR: temporary };
      const made = JSON.parse(run(program, ["program.mjs", work, settings], project, environment));
      expect(readdirSync(temporary)).toEqual([]);
      const { tokenizer, ids, npy } = expected;
      const each = (name: string) => Object.fromEntries([1, 2, 3].map((n) => [`${name}-${n}`, tokenizer]));
      const [major, minor] = version.replace("v", "").split(".").map(Number) as [number, number];
      const hasZstd = program === process.execPath || major > 22 || (major === 22 && minor >= 15);
      expect(made).toEqual({
        ...each("files"),
        ...each("memory"),
        ...each("texts"),
        ...each("packed"),
        cached: tokenizer,
        saved: tokenizer,
        ids,
        "npy-1": npy,
        "npy-3": npy,
        cuts,
        isTrained: true,
        isBatched: true,
        isDecoded: true,
        isSame: true,
        isUserError: true,
        left: [],
        spilled: expected.large,
        hasSpilled: true,
        stages: ["counting", "merging"],
        aborted: expect.stringContaining("TimeoutError"),
        missing: `UserError: "${join(work, "none")}": no such file`,
        wrong: 'UserError: trainTokenizer has no option "worker"',
        locked:
          program === process.execPath ? "no error" : expect.stringContaining("is being written by process"),
        unlocked: "no error",
        twoFrames:
          program === process.execPath
            ? "no error"
            : expect.stringContaining(
                hasZstd ? "has several zstd frames" : "cannot read data that zstd compressed",
              ),
        zstd: hasZstd
          ? tokenizer
          : `UserError: Node ${version.slice(1)} cannot read data that zstd compressed`,
      });
    });

    test("has the command, with its output, its exit codes, and its end by a signal", async () => {
      const command = [program, join(project, "node_modules/bpe/bin/bpe.js")];
      const bpe = (...args: string[]) =>
        Bun.spawnSync([...command, ...args], { stdin: Buffer.from("a b a b") });
      expect(bpe("--version").stdout.toString()).toBe(run(executable, ["--version"]));
      expect(bpe("trian").exitCode).toBe(2);
      expect(bpe("count", "-").stdout.toString()).toContain("\t");
      const waiting = Bun.spawn([...command, "count", "-"], {
        stdin: "pipe",
        stdout: "ignore",
        stderr: "pipe",
      });
      await Bun.sleep(300);
      waiting.kill("SIGTERM");
      expect(await waiting.exited).toBe(143);
      renameSync(installed, `${installed}-gone`);
      const { exitCode, stderr } = bpe("--version");
      renameSync(`${installed}-gone`, installed);
      expect([exitCode, stderr.toString()]).toEqual([1, expect.stringContaining("is not installed\nhint: ")]);
    });
  });
}

/** Bundles a script for browsers that encodes a text and decodes its ids. */
function bundle(): string {
  const contents = `import { Tokenizer, UserError } from "bpe";
    import { cutsOf } from "./cuts.mjs";
    globalThis.use = (json, text) => {
      const tokenizer = Tokenizer.from(json);
      const ids = tokenizer.encode(text);
      const isDecoded = tokenizer.decode(ids) === text;
      let refused = "";
      try { tokenizer.encode(5); } catch (error) { refused = String(error instanceof UserError) + error.message; }
      return JSON.stringify({ ids: ids.join(), isDecoded, refused, cuts: cutsOf(tokenizer, text) });
    };`;
  const stdin = { contents, resolveDir: project };
  const { outputFiles } = buildSync({
    stdin,
    bundle: true,
    minify: true,
    platform: "browser",
    format: "iife",
    write: false,
  });
  return outputFiles[0]!.text;
}

describe("in a browser", () => {
  const script = bundle();
  const json = readFileSync(at("expected/tokenizer.json"), "utf8");
  const text = documents.join(special);
  const bytes = readFileSync(at("ids.bin"));
  const ids = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4).join();
  const wanted = {
    ids,
    isDecoded: true,
    cuts,
    refused: "trueencode: text is 5, but must be a string or bytes (Uint8Array)",
  };

  test("the bundle encodes where there is no process, no Buffer and no file", () => {
    const context = createContext({ TextEncoder, TextDecoder, atob, btoa, json, text });
    runInContext(script, context);
    expect(JSON.parse(runInContext("use(json, text)", context))).toEqual(wanted);
    // The bundle leaves out the options of training, which would add 80 KB.
    expect(script.length).toBeLessThan(346_000);
  });

  const browser = process.env.BPE_TEST_CHROMIUM;
  test.if(browser !== undefined)("the bundle encodes in Chromium, in a page that is not isolated", () => {
    const data = JSON.stringify({ json, text }).replaceAll("<", "\\u003c");
    const page = `<!doctype html><meta charset=utf-8><pre id=out></pre><script>${script.replaceAll("</script", "<\\/script")}</script>
      <script>const { json, text } = ${data}; document.getElementById("out").textContent =
      crossOriginIsolated + use(json, text);</script>`;
    writeFileSync(at("page.html"), page);
    const flags = ["--no-sandbox", "--disable-gpu", `--user-data-dir=${at("profile")}`, "--dump-dom"];
    const dom = run(browser!, ["--headless", ...flags, `file://${at("page.html")}`]);
    const [, isIsolated, result] = /<pre id="out">(true|false)(.*?)<\/pre>/s.exec(dom)!;
    expect([isIsolated, JSON.parse(result!)]).toEqual(["false", wanted]);
  });
});
