import fc from "../../../support/properties";
import { parseJson, schemaProblems } from "../../../../provider/access/documents/jsonText";

test("what is written and wrong is said before what is missing", () => {
  const [first] = schemaProblems("access-policy", { allow: [{ expires: 5 }] });
  expect(first?.keys).toEqual(["allow", "0", "expires"]);
});

test("JSON of any content and layout is read as JSON.parse does, but where it is cut off or has a key twice", () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
  fc.assert(
    fc.property(objects, fc.string(), fc.constantFrom(0, 2, "\t"), (object, key, indent) => {
      const text = JSON.stringify({ ...object, [key]: object }, null, indent);
      expect(parseJson(text, "x")).toEqual(JSON.parse(text));
      expect(() => parseJson(text.slice(0, -1), "x")).toThrow(/^x (ends in the middle|is not one object)/);
      const twice = `{${JSON.stringify(key)}:":",${text.slice(1)}`;
      expect(() => parseJson(twice, "x")).toThrow(/^x has a key twice in one object/);
    }),
  );
});
