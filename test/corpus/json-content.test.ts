import { expect, test } from "bun:test";
import { jsonShapeOf } from "../../src/corpus/inspect-input.ts";

const shapeOf = (json: string, isWhole = true) => jsonShapeOf(Buffer.from(json), isWhole, "text").kind;

test("lines of objects, arrays of them, documents and what is no JSON are told apart", () => {
  const cases: [json: string, kind: string][] = [
    ['{"text":"a"}\n{"text":"b"}\n', "jsonl"],
    ['{"id":1}\r\n{"id":2}', "jsonl"],
    ['{"text":"alone"}', "jsonl"],
    ['\ufeff{"text":"alone"}\n\n', "jsonl"],
    ['{"text":"a"}\nwrong behind it', "jsonl"],
    ['[{"text":"a"},{"text":"b"}]', "json"],
    ['\ufeff\n[\n  {"id": 1}\n]', "json"],
    ['{\n"text": "alone"\n}\n', "json"],
    ['{\n"id": 1\n}\n{\n"id": 2\n}', "json"],
    ['{"id":1} {"id":2}', "json"],
    ['{"name":"package","text":{"text":"inner"}}', "document"],
    ['{\n"version": 1,\n"data": [{"text": "a"}]\n}', "document"],
    ['{"text":5}', "document"],
    ["[1,2,3]", "document"],
    ['["a","b"]', "document"],
    ["[]", "document"],
    ["{text} is set in braces", "none"],
    ["[1] A note at the foot\n", "document"],
    ["{} behind", "none"],
    ["text", "none"],
    ["", "none"],
    ['{"open', "none"],
  ];
  expect(cases.map(([json]) => [json, shapeOf(json)])).toEqual(cases);
});

test("of a long beginning, what is seen decides", () => {
  expect(shapeOf('{"text":"a long lin', false)).toBe("jsonl");
  expect(shapeOf('{"id":1,"body":"a long lin', false)).toBe("jsonl");
  expect(shapeOf('{\n "text": "x",\n "more": [1,', false)).toBe("json");
  expect(shapeOf('{\n "version": 1,\n "data": [{"text": "a"},', false)).toBe("document");
  expect(shapeOf('[{"text":"a long', false)).toBe("json");
});

test("the field is found by any spelling of its name, and only in the object itself", () => {
  const hasField = (json: string) => jsonShapeOf(Buffer.from(json), true, "text").hasField;
  expect(hasField('{"id": {"text": "x"}, "te\\u0078t" : "y"}')).toBe(true);
  expect(hasField('{"id": {"text": "x"}, "text": null}')).toBe(false);
  expect(hasField('{"\\"text": "x", "a": "\\\\", "b": "text"}')).toBe(false);
});
