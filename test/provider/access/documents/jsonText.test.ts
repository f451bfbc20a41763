import fc from "../../../support/properties";
import { readJson } from "../../../../provider/access/documents/jsonText";

function read(text: string, array: readonly string[]) {
  const elements: unknown[] = [];
  const documents: unknown[] = [];
  readJson(text, {
    name: "x",
    array,
    expected: "write it again",
    element: (value) => elements.push(value),
    document: (value) => documents.push(value),
  });
  return { elements, documents };
}

describe("JSON that is read in parts", () => {
  const member = fc.jsonValue({ maxDepth: 3 });
  const others = fc.dictionary(fc.string(), member, { maxKeys: 4 });

  test("reads any content and layout as JSON.parse does", () => {
    fc.assert(
      fc.property(
        others,
        others,
        fc.array(member),
        fc.constantFrom(0, 2, "\t"),
        (before, after, items, indent) => {
          const outer = { ...before, deployment: { ...after, resources: items }, ...after };
          fc.pre(!("deployment" in after) && !("resources" in after));
          const text = JSON.stringify(outer, null, indent);
          const { elements, documents } = read(text, ["deployment", "resources"]);
          const expected = JSON.parse(text) as { deployment: { resources: unknown } };
          expect(elements).toEqual(expected.deployment.resources);
          expected.deployment.resources = [];
          expect(documents).toEqual([expected]);
        },
      ),
    );
  });

  test("is refused wherever JSON.parse refuses a character more or less", () => {
    const isAccepted = (parse: () => unknown): boolean => {
      try {
        parse();
        return true;
      } catch {
        return false;
      }
    };
    for (const text of ['{"a":[1,2],"steps":[{"b":1},2],"c":{}}', '{"steps":[]}']) {
      for (let at = 0; at <= text.length; at += 1) {
        for (const more of [",", ":", "[", "]", "{", "}", '"', "1", " ", ",{}", undefined]) {
          const edited = text.slice(0, at) + (more ?? "") + text.slice(more === undefined ? at + 1 : at);
          const isJson = isAccepted(() => JSON.parse(edited));
          expect([edited, isAccepted(() => read(edited, ["steps"]))]).toEqual([edited, isJson]);
        }
      }
    }
  });

  test("is refused where another document follows", () => {
    expect(() => read('{"a":1}\n{"a":2}', ["steps"])).toThrow(/is not one object of JSON \(line 2\)/);
  });

  test("ignores an array of the same name elsewhere in the document", () => {
    const text = JSON.stringify({
      other: { steps: [1] },
      steps: [{ steps: [2] }, 3],
      more: [{ steps: [4] }],
    });
    expect(read(text, ["steps"])).toEqual({
      elements: [{ steps: [2] }, 3],
      documents: [{ other: { steps: [1] }, steps: [], more: [{ steps: [4] }] }],
    });
  });

  test("is refused wherever it is cut off", () => {
    const text = JSON.stringify({ a: 'x\\"', steps: [{ b: [1, { c: null }] }, "]"], d: {} }, null, 1);
    for (let length = 0; length < text.length; length += 1) {
      expect(() => read(text.slice(0, length), ["steps"])).toThrow(
        /^x (is empty|ends in the middle|is not one object of JSON)/,
      );
    }
    expect(read(text, ["steps"]).elements).toHaveLength(2);
  });
});
