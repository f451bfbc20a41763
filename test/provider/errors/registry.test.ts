import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import recorded from "../../fixtures/errorCodes.json";
import { rules } from "../../../provider/access/rules";
import { allExitCodes, exitCodeRows } from "../../../provider/cli/framework/exitCodes";
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
    expect(errorCodes).toEqual(recorded);
  });

  test("belong to one family each", () => {
    expect(Object.values(codeFamilies).flatMap(Object.keys).sort()).toEqual(codes);
  });

  test("are all used by the code, outside of their own folder", () => {
    const texts = sources("provider")
      .filter((file) => !file.startsWith(path.join("provider", "errors", "")))
      .map((file) => readFileSync(path.join(root, file), "utf8"))
      .join("\n");
    expect(codes.filter((code) => !texts.includes(`"${code}"`))).toEqual([]);
  });

  test("are expected by a test each", () => {
    const texts = sources("test")
      .filter((file) => !file.startsWith(path.join("test", "provider", "errors", "")))
      .map((file) => readFileSync(path.join(root, file), "utf8"))
      .join("\n");
    expect(codes.filter((code) => !texts.includes(code))).toEqual([]);
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
    expect(errorCodeOf(Object.assign(new Error("x"), { errorCode: "PP1203" }))).toBe("PP1203");
    expect(errorCodeOf(Object.assign(new Error("x"), { errorCode: "PP0000" }))).toBe("PP9001");
  });
});

describe("docs/troubleshooting.md", () => {
  const text = readFileSync(path.join(root, "docs/troubleshooting.md"), "utf8");

  test("has an address for each rule, exit code of a failure and status", () => {
    const headings = [
      ...rules.map(({ id }) => id),
      ...[401, 403, 404, 409, 429, 500].map((status) => `HTTP ${status}`),
      ...exitCodeRows(allExitCodes.filter((name) => name !== "clean")).map(
        ([code, meaning]) => `Exit code ${code}\n\nIt means: ${meaning}.`,
      ),
    ];
    expect(headings.filter((heading) => !text.includes(`\n### ${heading}\n`))).toEqual([]);
  });

  test.each(Object.entries(codeFamilies))(
    "says of each code of %j what it means, and what to do",
    (family, titles) => {
      const part = text.split(/^## /m).find((one) => one.startsWith(`${family}\n`)) ?? "";
      const described = [
        ...part.matchAll(
          /^### (PP\d{4})\n\n\*\*(.+)\.\*\* .+[.`]\n\n- \*\*How to see why:\*\* .+[.`]\n- \*\*What to do:\*\* .+[.`]$/gm,
        ),
      ].map(([, code, title]) => [code, title]);
      expect(described).toEqual(Object.entries(titles));
      expect(part.match(/^### /gm)).toHaveLength(described.length);
    },
  );
});
