import { expect, test } from "bun:test";
import { train as naiveTrain, trainOnWords } from "../../examples/learn.ts";
import * as compiledPatterns from "../../src/pattern/pattern.ts";
import { type Exercise, exercisesOf } from "../../src/playground/exercise-list.ts";

const gpt2 = compiledPatterns.resolve("gpt2").compiled;
const texts = [
  "The weather there: they thought of the other lower tower, the tower, the low tower.\nNaïve text follows here.",
  "",
  "数据和文字 and the rest of the text, the words",
  "x",
  `${"<script>alert(1)</script> "}the the the low low new`,
];
const byId = (exercises: readonly Exercise[]) => Object.fromEntries(exercises.map((one) => [one.id, one]));

test("every exercise of any text accepts its own answer, and no other one", () => {
  for (const text of texts) {
    const exercises = exercisesOf(text, gpt2);
    expect(exercises.length).toBeGreaterThanOrEqual(8);
    expect(new Set(exercises.map(({ id }) => id)).size).toBe(exercises.length);
    for (const { id, answer, check, question } of exercises) {
      expect([text, id, check(answer)]).toEqual([text, id, null]);
      for (const wrong of ["", "no", "-1", `${answer}x`, `${answer}1`, "0"]) {
        if (wrong === answer) continue;
        expect([id, wrong, typeof check(wrong)]).toEqual([id, wrong, "string"]);
      }
      expect(question).not.toContain(`: ${answer}.`);
    }
  }
});

test("the answers are those of a naive trainer", () => {
  const { bytes, utf8, pretokens, counts, pair, merge, tie, special, rank } = byId(
    exercisesOf(texts[0]!, gpt2),
  );
  expect(bytes!.answer).toBe(String(Buffer.byteLength(bytes!.given[0]!)));
  expect(utf8!.answer).toBe("c3 af");
  expect(pretokens!.answer).toBe("The|␣weather|␣there|:|␣they|␣thought");
  expect(pretokens!.check("The| weather| there|:| they| thought")).toBeNull();
  expect(pretokens!.check("The|weather|there|:|they|thought")).toContain("must equal the given text");
  expect(counts!.question).toContain("␣the ");
  expect(counts!.answer).toBe("3");
  const words = new Map(
    pair!.given.map((line) => {
      const [tokens, count] = line.split("   ") as [string, string];
      return [tokens.replaceAll(" ", ""), Number.parseInt(count, 10)] as const;
    }),
  );
  const { merges, vocabulary } = trainOnWords(words, 256 + 10, "cs336");
  expect(pair!.answer).toBe(String(merges[0]!.count));
  expect(merge!.answer.split(" ")).toContain(merges[0]!.left + merges[0]!.right);
  const at = Number(/^After (\d+) merge/.exec(tie!.question)?.[1]);
  expect(tie!.answer).toBe(`${merges[at]!.left} ${merges[at]!.right}`);
  expect(special!.answer).toBe("6");
  expect(rank!.given).toEqual(merges.map(({ left, right }, i) => `${i + 1}.  ${left} ${right}`));
  for (const token of rank!.answer.split(" ")) expect(vocabulary.has(token)).toBe(true);
  expect(naiveTrain("", 256).merges).toEqual([]);
});
