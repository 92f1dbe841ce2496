// Part of `npm run suite real`: other programs follow the recipe of docs/doctor.md, and must get the fingerprint that
// `bpe` gives.
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as fingerprints from "../../../src/tokenizer/fingerprint.ts";
import * as probe from "../../../src/tokenizer/probe.ts";
import { put, scratch } from "../../binary.ts";
import { askOracle, home, materialOf, pathOf } from "./programs.ts";
import { readTokenizers } from "./tokenizers.ts";

setDefaultTimeout(600_000);

const root = join(import.meta.dir, "../../..");
const page = readFileSync(join(root, "docs/doctor.md"), "utf8");
const [, recipe] = /```python elsewhere\n(.*?)```/s.exec(page)!;
const directory = scratch();
const texts = put(directory, "texts.jsonl", `${JSON.stringify(probe.text)}\n`);
const found = new Map<string, string[]>();

/** Runs the recipe in Python, and returns the value of this expression. */
async function ask(expression: string): Promise<string> {
  const script = put(directory, "recipe.py", `${recipe}\n${server}\nprint(${expression})\n`);
  const asked = Bun.spawn([join(home, "python/bin/python"), script], {
    cwd: root,
    env: { ...process.env, TIKTOKEN_CACHE_DIR: directory },
    stderr: "inherit",
  });
  return (await new Response(asked.stdout).text()).trim();
}

/** Python code of a server that answers like vLLM, and ends with its process. */
const server = `
def serve(path):
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(path)
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            encoded = tokenizer.encode(asked["prompt"], add_special_tokens=asked["add_special_tokens"])
            answer = json.dumps({"tokens": encoded.ids}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        def log_message(self, *_):
            pass
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return with_server(f"http://127.0.0.1:{server.server_port}", "model")
`;

for (const tokenizer of readTokenizers()) {
  const { expected, name } = tokenizer;
  const [program, ...names] = (expected as { oracle: readonly string[] }).oracle;
  test(`${name}: its fingerprint by ${program}`, async () => {
    const path = pathOf(tokenizer);
    const { loaded } = await materialOf(tokenizer);
    const ours = fingerprints.ofBehavior(loaded.parts);
    found.set(ours, [...(found.get(ours) ?? []), name]);
    if (program === "huggingface") {
      expect(await ask(`with_tokenizers(${JSON.stringify(path)})`)).toBe(ours);
      if (name === "gpt2") expect(await ask(`serve(${JSON.stringify(path)})`)).toBe(ours);
    } else {
      const [ids] = await askOracle(texts, [path, program!, ...names]);
      expect(await ask(`fingerprint([${ids!.replaceAll(" ", ",")}])`)).toBe(ours);
    }
    if (name === "o200k-ranks") {
      const address = `https://openaipublic.blob.core.windows.net/encodings/${basename(path)}`;
      copyFileSync(path, join(directory, createHash("sha1").update(address).digest("hex")));
      expect(await ask(`with_tiktoken(__import__("tiktoken").get_encoding("${names[0]}"))`)).toBe(ours);
    }
  });
}

afterAll(() => console.log([...found].map(([digest, names]) => `${digest} ${names.join(" ")}`).join("\n")));
