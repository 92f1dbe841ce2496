import { AutomatonSplitter } from "./automaton-splitter.ts";
import { ChainSplitter } from "./chain-splitter.ts";
import type { CompiledPattern } from "./compile.ts";
import { MatcherSplitter } from "./matcher-splitter.ts";
import type { Splitter } from "./splitter.ts";

export function createSplitter(compiled: CompiledPattern): Splitter {
  if (compiled.kind === "programs") return new MatcherSplitter(compiled.programs, compiled.lineWise);
  const [first, second] = compiled.automata;
  return second === undefined ? new AutomatonSplitter(first!) : new ChainSplitter(compiled.automata);
}
