// Run by suite.ts in a project where `bpe` is installed. Prints its results as JSON.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Tokenizer, TrainedTokenizer, trainTokenizer, UserError } from "bpe";
import { cutsOf } from "./cuts.mjs";

const [home, settings] = process.argv.slice(2);
const { documents, special, options, large, zstd } = JSON.parse(readFileSync(settings, "utf8"));
mkdirSync(home);
const made = {};
const text = documents.join(special);

/** Returns a hash of the names and contents of files. */
function hashOf(files) {
  const hash = createHash("sha256");
  for (const [name, bytes] of [...files].sort()) hash.update(`${name}\n`).update(bytes);
  return hash.digest("hex");
}
const hashOfDirectory = (directory) =>
  hashOf(
    readdirSync(directory)
      .filter((name) => name !== "training.json")
      .map((name) => [name, readFileSync(join(directory, name))]),
  );
const failed = (promise) =>
  promise.then(
    () => "no error",
    (error) => `${error.name}: ${error.message}`,
  );

async function* oneByOne() {
  for (const document of documents) yield document;
}

const corpus = join(home, "corpus.txt");
writeFileSync(corpus, text);
const lines = documents.map((document) => `${JSON.stringify({ text: document })}\n`).join("");
writeFileSync(join(home, "corpus.jsonl.gz"), gzipSync(lines));

for (const workers of [1, 2, 3]) {
  const output = join(home, `files-${workers}`);
  const trained = await trainTokenizer({ ...options, files: corpus, workers, output });
  made[`files-${workers}`] = hashOfDirectory(output);
  made[`memory-${workers}`] = hashOf(trained.files());
  const texts = await trainTokenizer({ ...options, texts: oneByOne(), workers });
  made[`texts-${workers}`] = hashOf(texts.files());
  const packed = await trainTokenizer({ ...options, files: join(home, "*.gz"), workers });
  made[`packed-${workers}`] = hashOf(packed.files());
}
const cached = { ...options, files: corpus, cache: join(home, "cache") };
await trainTokenizer(cached);
made.cached = hashOf((await trainTokenizer(cached)).files());

const trained = await trainTokenizer({ ...options, files: corpus });
made.isTrained = trained instanceof TrainedTokenizer && trained instanceof Tokenizer;
await trained.save(join(home, "saved"));
await trained.save(join(home, "saved"));
made.saved = hashOfDirectory(join(home, "saved"));

// The lock file names a live process, but nobody holds the lock. Bun notices that, so `save` succeeds; Node can only
// read the file, so `save` fails.
const lock = join(home, ".locked.bpe-lock");
const holder = (pid) => `${JSON.stringify({ host: hostname(), pid, since: "now" })}\n`;
writeFileSync(lock, holder(process.ppid));
made.locked = await failed(trained.save(join(home, "locked")));
writeFileSync(lock, holder(2 ** 30));
made.unlocked = await failed(trained.save(join(home, "locked")));

const loaded = await Tokenizer.load(join(home, "saved"));
const ids = loaded.encode(text);
made.ids = createHash("sha256").update(new Uint8Array(ids.buffer)).digest("hex");
made.cuts = cutsOf(loaded, text);
made.isDecoded = loaded.decode(ids) === text;
const batch = [...documents, text, Buffer.from(text)];
made.isBatched =
  JSON.stringify(await loaded.encodeBatchAsync(batch, { workers: 3 })) ===
  JSON.stringify(loaded.encodeBatch(batch));
const json = readFileSync(join(home, "saved/tokenizer.json"));
made.isSame = [json, json.toString(), JSON.parse(json)].every(
  (content) =>
    Buffer.compare(Buffer.from(Tokenizer.from(content).encode(text).buffer), Buffer.from(ids.buffer)) === 0,
);
for (const workers of [1, 3]) {
  await loaded.encodeFile([corpus], join(home, `ids-${workers}.npy`), { workers });
  made[`npy-${workers}`] = createHash("sha256")
    .update(readFileSync(join(home, `ids-${workers}.npy`)))
    .digest("hex");
}

// The words do not all fit into this memory limit, so some go to disk.
const stages = new Set();
made.hasSpilled = false;
const spilled = await trainTokenizer({
  ...{ files: large, vocabSize: 2000, workers: 2, memoryLimitBytes: 200e6 },
  onProgress: ({ stage }) => {
    stages.add(stage);
    const names = readdirSync(tmpdir()).flatMap((name) => readdirSync(join(tmpdir(), name)));
    made.hasSpilled ||= names.some((name) => /^\d+-\d+-\d+$/.test(name));
  },
});
made.spilled = hashOf(spilled.files());
made.stages = [...stages].sort();

made.aborted = await failed(
  trainTokenizer({ files: large, vocabSize: 20_000, workers: 2, signal: AbortSignal.timeout(100) }),
);
made.missing = await failed(trainTokenizer({ files: join(home, "none"), vocabSize: 300 }));
made.wrong = await failed(trainTokenizer({ files: corpus, vocabSize: 300, worker: 2 }));
made.isUserError = await trainTokenizer().catch((error) => error instanceof UserError);
made.zstd = await trainTokenizer({ ...options, files: zstd }).then(
  (tokenizer) => hashOf(tokenizer.files()),
  (error) => `${error.name}: ${error.message}`,
);
const twoFrames = join(home, "two-frames.zst");
writeFileSync(twoFrames, Buffer.concat([readFileSync(zstd), readFileSync(zstd)]));
made.twoFrames = await failed(trainTokenizer({ ...options, files: twoFrames }));
made.left = readdirSync(home).filter((name) => name.startsWith("."));
console.log(JSON.stringify(made));
