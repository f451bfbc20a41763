import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import recorded from "../../fixtures/errorCodes.json";
import { rules } from "../../../provider/access/rules";
import { allExitCodes, exitCodes } from "../../../provider/cli/framework/exitCodes";
import { codeInMessage, CodedError, errorCodeOf, withCode } from "../../../provider/errors/codedError";
import { codeFamilies, errorCodes } from "../../../provider/errors/registry";

const root = path.join(__dirname, "../../..");
const codes = Object.keys(errorCodes).sort();

function sources(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => path.join(folder, file));
}

describe("the error codes", () => {
  test("are those that are recorded: none is removed, used again or changes its meaning", () => {
    const titles = codes.map((code) => [code, errorCodes[code as keyof typeof errorCodes].title]);
    expect(Object.fromEntries(titles)).toEqual(recorded);
  });

  test("belong to one family each", () => {
    expect(codeFamilies.flatMap(([, own]) => own).sort()).toEqual(codes);
  });

  test("are all used by the code, outside of their own folder", () => {
    const texts = sources("provider")
      .filter((file) => !file.startsWith(path.join("provider", "errorCodes", "")))
      .map((file) => readFileSync(path.join(root, file), "utf8"))
      .join("\n");
    expect(codes.filter((code) => !texts.includes(`"${code}"`))).toEqual([]);
  });

  test("are expected by a test each", () => {
    const texts = sources("test")
      .filter((file) => !file.startsWith(path.join("test", "provider", "errorCodes", "")))
      .map((file) => readFileSync(path.join(root, file), "utf8"))
      .join("\n");
    expect(codes.filter((code) => !texts.includes(code))).toEqual([]);
  });

  test.each(codes)("%s is described in sentences", (code) => {
    const { title, meaning, look, fix } = errorCodes[code as keyof typeof errorCodes];
    expect(title).not.toMatch(/\.$/);
    for (const text of [meaning, look, fix]) expect(text).toMatch(/[.`]$/);
  });
});

describe("a message", () => {
  test.each<[string, string]>([
    ["not found", "not found (PP3405)"],
    ["refused\n  request id: r", "refused\n  request id: r\n  see npx --no pulumi-platform explain PP3405"],
  ])("ends with its code, once: %j", (text, shown) => {
    expect(withCode(text, "PP3405")).toBe(shown);
    expect(withCode(shown, "PP3405")).toBe(shown);
    expect(codeInMessage(shown)).toBe("PP3405");
    expect(codeInMessage(text)).toBeUndefined();
  });

  test("of an unexpected exception has the code for unexpected errors", () => {
    expect(errorCodeOf(new TypeError("x (PP3405)"))).toBe("PP9001");
    expect(errorCodeOf(new CodedError("PP3405", "x"))).toBe("PP3405");
  });
});

describe("docs/troubleshooting.md", () => {
  const text = readFileSync(path.join(root, "docs/troubleshooting.md"), "utf8");

  test("has a heading for each code, rule, exit code of a failure and status", () => {
    const headings = [
      ...codes,
      ...rules.map(({ id }) => id),
      ...allExitCodes.filter((name) => name !== "clean").map((name) => `Exit code ${exitCodes[name]}`),
      ...[401, 403, 404, 409, 429, 500].map((status) => `HTTP ${status}`),
    ];
    expect(headings.filter((heading) => !text.includes(`\n### ${heading}\n`))).toEqual([]);
  });
});
