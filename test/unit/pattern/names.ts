import { type PatternName, patterns } from "../../../src/pattern/named-patterns.ts";
import { isThorough } from "../../rounds.ts";

/** The patterns whose tables take seconds to build. */
const slow: readonly PatternName[] = ["marin", "marin-gpt-4o"];

export const triedPatterns = (Object.keys(patterns) as PatternName[]).filter(
  (name) => isThorough || !slow.includes(name),
);
