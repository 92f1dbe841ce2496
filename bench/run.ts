// Measures the table of docs/speed.md: `bpe` and other tools, with interleaved runs and medians in each row.
//
//   npm run bench -- [--quick] [--corpora DIRECTORY] [--only TEXT] [--rounds 3] [--before EXECUTABLE] [--write]
//
//   --quick     some rows only, in about two minutes
//   --corpora   a directory; each `*.txt` in it is trained on and encoded
//   --only      the rows whose names contain the text
//   --before    an older executable, which takes turns
//   --write     records the numbers; without --quick, also writes the tables of docs/speed.md and README
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BenchTexts } from "./bench-texts.ts";
import { goalsTable, unmeasured } from "./goals.ts";
import { circumstances, keepRecord, runProcess } from "./record.ts";
import { type Row, readmeTable, speedTable, withTable } from "./speed-table.ts";
import { worksIn } from "./works.ts";

const options = {
  corpora: { type: "string" },
  only: { type: "string", default: "" },
  rounds: { type: "string", default: "3" },
  before: { type: "string" },
  quick: { type: "boolean", default: false },
  write: { type: "boolean", default: false },
} as const;

/** Reads the options. Prints the usage and ends the program if one is unknown, such as --help. */
function readOptions() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\nusage: npm run bench -- [--quick] [--corpora DIRECTORY]`);
    console.error("           [--only TEXT] [--rounds 3] [--before EXECUTABLE] [--write]");
    process.exit(2);
  }
}

const values = readOptions();
if (values.write && values.only !== "") {
  console.error("--write keeps all rows of one day, so it cannot be combined with --only");
  process.exit(2);
}
const root = join(import.meta.dir, "..");
const rounds = Number(values.rounds);

function tell({ work, costs }: Row): void {
  console.log(work);
  const shown = (number: number | undefined) =>
    number === undefined ? "–" : String(Number(number.toPrecision(3)));
  for (const { name, seconds, processorSeconds, megabytes } of costs) {
    const cells = [shown(seconds), `processors ${shown(processorSeconds)}`];
    console.log(`  ${name.padEnd(24)} ${cells.join(" s, ")} s, ${shown(megabytes)} MB`);
  }
}

/** Measures the rows that are asked for. A row that cannot be measured is reported. */
function measure(home: string): Row[] {
  const texts = new BenchTexts(home, values.corpora);
  const { quick: isQuick, before, only } = values;
  const rows: Row[] = [];
  for (const { name, run, ...work } of worksIn({ home, texts, rounds, isQuick, before })) {
    if (!name.includes(only) || (isQuick && !work.isQuick)) continue;
    try {
      for (const row of run()) {
        tell(row);
        rows.push(row);
      }
    } catch (error) {
      console.log(`${name}\n  skipped: ${(error as Error).message}`);
    }
  }
  return rows;
}

/** Puts the tables into the pages. */
function writePages(rows: readonly Row[]): void {
  for (const [page, made] of [
    ["docs/speed.md", speedTable(rows)],
    ["README.md", readmeTable(rows)],
  ] as const) {
    writeFileSync(join(root, page), withTable(readFileSync(join(root, page), "utf8"), made));
  }
}

const startMs = performance.now();
const { load } = circumstances();
const home = mkdtempSync(join(tmpdir(), "bpe-bench-"));
try {
  const rows = measure(home);
  if (!values.quick) console.log(`\n${speedTable(rows)}\n\n${readmeTable(rows)}`);
  console.log(`\n${goalsTable(rows)}`);
  for (const { row } of values.only === "" ? unmeasured(rows) : []) console.log(`not measured: ${row}`);
  if (values.write) {
    if (!values.quick) writePages(rows);
    const before = values.before && runProcess([values.before, "--version"]).stdout.toString().trim();
    keepRecord(values.quick ? "quick" : "speed", { loadBefore: load, rounds, before, rows });
  }
  console.log(`${Math.round((performance.now() - startMs) / 1000)} s`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
