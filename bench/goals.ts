import { table } from "./markdown.ts";
import { type Cost, cell, isOurs, type Row } from "./speed-table.ts";

/** What a row of the table of speeds has to reach. */
export type Goal = {
  /** The beginning of the row's name. */
  readonly row: string;
  readonly measure: "seconds" | "processorSeconds" | "megabytes";
  /**
   * The name of another cost in the row. If it is given, the goal is about the quotient of that cost and the cost of
   * `bpe`; otherwise it is about `bpe` alone.
   */
  readonly other?: string;
  /** The smallest quotient that reaches the goal: the cost of `other`, divided by that of `bpe`. */
  readonly least?: number;
  /** The largest number that reaches the goal: the cost of `bpe`, divided by that of `other` if given. */
  readonly most?: number;
  /** The goal's number on the day when the goal was set, if it is known. */
  readonly before?: number;
};

/** The goals, with the numbers of the day when they were set. */
export const goals: readonly Goal[] = [
  { row: "the executable", measure: "megabytes", most: 118, before: 132 },
  { row: "`bpe --version`", measure: "seconds", most: 0.005 },
  { row: "train: 130 KB", measure: "seconds", most: 0.025, before: 0.05 },
  { row: "train: english", measure: "seconds", other: "gigabpe", least: 4, before: 3.2 },
  { row: "train: code", measure: "seconds", other: "gigabpe", least: 1.6, before: 1.25 },
  { row: "train: web", measure: "seconds", other: "gigabpe", least: 2, before: 1.75 },
  { row: "train: Thai", measure: "seconds", other: "gigabpe", least: 1.3 },
  { row: "train: 1 GB", measure: "seconds", other: "gigabpe", least: 6, before: 5 },
  { row: "train with superwords: english", measure: "seconds", other: "bpe, plain", most: 5 },
  {
    row: "encode with superwords: english",
    measure: "processorSeconds",
    other: "bpe, plain",
    most: 1.3,
    before: 2.5,
  },
  { row: "arrays: ", measure: "processorSeconds", other: "gigatoken", least: 1 },
];

export type Outcome = {
  readonly goal: Goal;
  readonly row: Row;
  readonly value: number;
  readonly isReached: boolean;
};

/** Returns the number that a goal is about, or null if the row lacks it. */
function numberOf({ other, measure, least }: Goal, { costs }: Row): number | null {
  const of = (name: string) => costs.find((cost) => cost.name === name)?.[measure];
  const [ours, theirs] = [of("bpe"), other === undefined ? 1 : of(other)];
  if (ours === undefined || theirs === undefined) return null;
  return least === undefined ? ours / theirs : theirs / ours;
}

export function outcomesOf(rows: readonly Row[], of: readonly Goal[] = goals): Outcome[] {
  return of.flatMap((goal) =>
    rows
      .filter(({ work }) => work.startsWith(goal.row))
      .flatMap((row) => {
        const value = numberOf(goal, row);
        if (value === null) return [];
        return {
          goal,
          row,
          value,
          isReached: value >= (goal.least ?? 0) && value <= (goal.most ?? Infinity),
        };
      }),
  );
}

/** Returns the goals for which no measured row has the numbers. */
export const unmeasured = (rows: readonly Row[], of: readonly Goal[] = goals): Goal[] =>
  of.filter((goal) => outcomesOf(rows, [goal]).length === 0);

const units = { seconds: " s", processorSeconds: " s of processors", megabytes: " MB" };

function shown(value: number, { other, measure, least }: Goal): string {
  const number = String(Number(value.toPrecision(3)));
  if (other === undefined) return number + units[measure];
  return least === undefined ? `${number} times ${other}` : `${other} ${number} times`;
}

/** Returns a table of all rows, with their goals. "bpe, before" is an older executable. */
export function goalsTable(rows: readonly Row[]): string {
  const outcomes = outcomesOf(rows);
  return table(
    ["", "bpe, before", "bpe", "compared with", "when the goal was set", "now", "goal", ""],
    rows.flatMap((row) => {
      const named = (name: string | undefined) => row.costs.find((cost) => cost.name === name);
      const shownCosts = (cost: Cost | undefined) => (cost === undefined ? "–" : cell(cost, []));
      const own = outcomes.filter((outcome) => outcome.row === row);
      const other = named(own[0]?.goal.other) ?? row.costs.find(({ name }) => !isOurs(name));
      const costs = [
        row.work,
        shownCosts(named("bpe, before")),
        shownCosts(named("bpe")),
        other === undefined ? "–" : `${other.name} ${shownCosts(other)}`,
      ];
      if (own.length === 0) return [[...costs, "–", "–", "–", ""]];
      return own.map(({ goal, value, isReached }) => [
        ...costs,
        goal.before === undefined ? "–" : shown(goal.before, goal),
        shown(value, goal),
        `${goal.least === undefined ? "at most" : "at least"} ${goal.least ?? goal.most}`,
        isReached ? "reached" : "MISSED",
      ]);
    }),
  );
}
