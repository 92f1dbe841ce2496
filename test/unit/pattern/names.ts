import { type PatternName, patterns } from "../../../src/pattern/named-patterns.ts";
import { isThorough } from "../../rounds.ts";

/** The patterns whose tables take seconds to build. A quick run tries them only in pattern.test.ts. */
const slow: readonly PatternName[] = ["marin", "marin-gpt-4o"];

export const triedPatterns = (Object.keys(patterns) as PatternName[]).filter(
  (name) => isThorough || !slow.includes(name),
);
