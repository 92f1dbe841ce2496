/** A small wrong change of one line, which still parses and usually has another result. */
export type Change = {
  /** The index of the line, counted from 0. */
  readonly lineIndex: number;
  /** The previous line, which distinguishes equal lines of a file. */
  readonly before: string;
  /** The line without the change. */
  readonly line: string;
  /** The line with the change. */
  readonly changed: string;
};

type Operator = { readonly finds: RegExp; readonly becomes: (found: string) => string | null };

const swap = (pairs: Record<string, string>): Operator => {
  const all = Object.entries(pairs).flatMap(([a, b]) => [
    [a, b],
    [b, a],
  ]);
  const becomes = new Map(all as [string, string][]);
  const escaped = [...becomes.keys()].sort((a, b) => b.length - a.length);
  const source = escaped.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return { finds: new RegExp(source, "g"), becomes: (found) => becomes.get(found)! };
};

/**
 * Changes of code. The formatter puts spaces around operators, which distinguishes them from types (`Map<A>`) and
 * arrows.
 */
const operators: readonly Operator[] = [
  swap({ " < ": " <= ", " > ": " >= " }),
  swap({ " === ": " !== " }),
  swap({ " == ": " != " }),
  swap({ " && ": " || " }),
  swap({ " + ": " - ", " * ": " / ", " << ": " >>> ", " += ": " -= " }),
  swap({ "Math.min(": "Math.max(", "Math.floor(": "Math.ceil(" }),
  swap({ " true": " false", " break;": " continue;" }),
  // Changes bounds and steps, and negates conditions.
  { finds: / [+-] 1\b/g, becomes: () => "" },
  { finds: /(?<![\w.$:|] ?)(?<!: )\b\d[\d_]*\b(?![\w.:n])/g, becomes: (found) => oneMore(found) },
  { finds: /(?<=\bif \()(?=.*\) )|(?<=\bwhile \()(?=.*\) )/g, becomes: () => "!" },
  // Swaps two arguments.
  {
    finds: /(?<=\w\()(?<!Math\.\w+\()(\w+), (\w+)(?=\))/g,
    becomes: (found) => found.split(", ").reverse().join(", "),
  },
  // Removes a statement: a call, an assignment or a guard.
  {
    finds: /^ +(?:this\.)?[\w.]+(?:\[.+\]!?)?(?:\(.*\)| (?:[-+*|&^]|<<|>>>?)?= .+|\+\+|--);$/g,
    becomes: () => ";",
  },
  { finds: /^ +if \(.+\) (?:return|continue|break)\b.*;$/g, becomes: () => ";" },
];

const oneMore = (digits: string) => String(Number(digits.replaceAll("_", "")) + 1);

/**
 * Returns every change that the operators can make to a source. Leaves alone types, imports, messages and code that
 * only schedules work.
 */
export function changesOf(source: string): Change[] {
  const lines = source.split("\n");
  const masked = mask(source).split("\n");
  const changes: Change[] = [];
  let isType = false;
  for (const [lineIndex, line] of lines.entries()) {
    const code = masked[lineIndex]!;
    if (/^(export )?(declare )?(type|interface) /.test(code)) isType = true;
    const isLeftAlone =
      isType ||
      /^(import|export \{|export \*)|\bthrow |\bhint:|\bspend\(pace|UserError\(|assert\(|@param/.test(code);
    if (isType && /^\S.*;$|^[})]/.test(code)) isType = false;
    if (isLeftAlone) continue;
    for (const { finds, becomes } of operators) {
      for (const match of code.matchAll(finds)) {
        const end = match.index + match[0].length;
        const into = becomes(line.slice(match.index, end));
        if (into === null) continue;
        const isNegation = into === "!";
        const changed = isNegation
          ? negated(line, match.index)
          : line.slice(0, match.index) + into + line.slice(end);
        if (changed !== null && changed !== line) {
          changes.push({ lineIndex, before: lines[lineIndex - 1] ?? "", line, changed });
        }
      }
    }
  }
  return changes;
}

/** Returns the line with the condition that begins at `start` negated; null if the condition ends on a later line. */
function negated(line: string, start: number): string | null {
  let depth = 1;
  for (let end = start; end < line.length; end++) {
    if (line[end] === "(") depth++;
    if (line[end] === ")" && --depth === 0)
      return `${line.slice(0, start)}!(${line.slice(start, end)})${line.slice(end)}`;
  }
  return null;
}

/** Replaces the characters of comments, strings and regular expressions, except line ends, with underscores. */
function mask(source: string): string {
  const literal =
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|(?<=[(=,:[!&|?] ?|return )\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;
  return source.replace(literal, (text) => text.replace(/[^\n]/g, "_"));
}
