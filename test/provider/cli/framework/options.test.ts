import { UsageError } from "../../../../provider/cli/framework/exitCodes";
import { parseFlags, printFlags } from "../../../../provider/cli/framework/flags";
import { commonFlags, readCommonOptions } from "../../../../provider/cli/framework/options";
import type { CommonOptions } from "../../../../provider/cli/framework/options";

const now = new Date("2026-01-01T00:00:00Z");
beforeEach(() => jest.useFakeTimers({ now }));
afterEach(() => jest.useRealTimers());

const read = (...argv: string[]): CommonOptions =>
  readCommonOptions(parseFlags("review", commonFlags, argv).values);

describe("the common flags", () => {
  test("have defaults", () => {
    expect(read()).toMatchObject({
      outputs: [{ format: "text" }],
      limits: {},
      now,
      ...{ "exit-zero": false, summary: false, fix: false, "dry-run": false },
    });
  });

  test("are read, those that repeat as lists", () => {
    expect(
      read(
        ...["-o", "json=a=b.json", "--output", "md=-", "--strict", "--exit-zero"],
        ...["--now", "2026-03-01T10:00:00+01:00", "--self", "me", "--min-owners", "3"],
        ...["--required-owner", "a", "--required-owner", "b", "--max-removal", "12.5%"],
        ...["--issuer-allow", "https://a", "--sink-allow", "b", "--source-root", "infra"],
        ...["--summary", "--post", "gitlab-mr", "--marker", "key", "--dry-run", "--fix"],
        ...["--policy", "p.yaml", "--page-url", "https://pages.example/review.html"],
      ),
    ).toMatchObject({
      outputs: [{ format: "json", path: "a=b.json" }, { format: "md" }],
      policy: "p.yaml",
      limits: {
        strict: true,
        self: "me",
        minOwners: 3,
        requiredOwner: ["a", "b"],
        maxRemoval: 0.125,
        issuerAllow: ["https://a"],
        sinkAllow: ["b"],
      },
      "exit-zero": true,
      now: new Date("2026-03-01T09:00:00Z"),
      "source-root": "infra",
      summary: true,
      fix: true,
      pageUrl: "https://pages.example/review.html",
      post: "gitlab-mr",
      marker: "key",
      "dry-run": true,
    });
  });

  test.each([
    [["-o", "json="], "--output json= needs a file: write json=PATH, or json for stdout"],
    [
      ["-o", "json", "-o", "md"],
      "--output names stdout twice: give all but one another file, as in json=review.json",
    ],
    [
      ["-o", "json=x", "-o", "md=x"],
      '--output names "x" twice: give all but one another file, as in json=review.json',
    ],
    [["--min-owners", "two"], '--min-owners must be a whole number, as in 2, not "two"'],
    [["--max-removal", "25"], '--max-removal must be a percentage from 0% to 100%, as in 25%, not "25"'],
    [["--max-removal", "101%"], '--max-removal must be a percentage from 0% to 100%, as in 25%, not "101%"'],
    ...[
      ...["javascript:x", "http://a.example", "a.example", "https://", "https:///x", "https://a b", "*"],
      ...["https://*", "https://acme.*", "https://A.example", "https://é.example", "https://a.example:443"],
      ...["https://u@a.example", "https://a.example.", "https://a.example?x=*", "https://a.example/../*"],
    ].map((issuer): [string[], string] => [
      ["--issuer-allow", "https://*.acme.example/x", "--issuer-allow", issuer],
      `--issuer-allow must be the https address of an issuer, as in https://token.actions.githubusercontent.com or https://*.acme.example, not "${issuer}"`,
    ]),
    ...[
      ...["*", "http://a.example/x", "https://a.example", "https://a.example/", "a.example/x", "A.example"],
      ...["a.*", "a.example:443", "u@a.example", "a.example."],
    ].map((host): [string[], string] => [
      ["--sink-allow", "*.acme.example:8443", "--sink-allow", host],
      `--sink-allow must be a host, as in hooks.acme.example or *.acme.example:8443, or an https address with a path, not "${host}": write the host in small`,
    ]),
    [["--now", "tomorrow"], '--now must be a time in RFC 3339, as in 2026-03-01T00:00:00Z, not "tomorrow"'],
    [["--self", "a", "--self", "b"], "--self is given twice: it takes one value"],
    [["--dry-run"], "--dry-run needs --post: say where the report would be posted"],
    [["--marker", "x"], "--marker needs --post: say where the report is posted"],
    [["--\u001b[31m"], "unknown option --; see npx --no pulumi-platform review --help"],
    [["-x"], "unknown option -x; see npx --no pulumi-platform review --help"],
    [["--strict=yes"], "--strict takes no value: write --strict; see npx --no pulumi-platform review --help"],
    [["--self", "--strict"], "--self needs a value: write --self UID"],
    [["--self", "-o"], "--self needs a value: write --self UID, or --self=UID where it begins with a dash"],
  ])("%j is refused in one line", (argv, message) => {
    expect(() => read(...argv)).toThrow(UsageError);
    expect(() => read(...argv)).toThrow(message);
  });
});

test("a command line that is printed again keeps a value that begins as an option does", () => {
  const values = { strict: true, fix: false, self: "-x", "required-owner": ["a", "b"], post: undefined };
  const words = printFlags(commonFlags, values);
  expect(words.join(" ")).toBe("--strict --self=-x --required-owner a --required-owner b");
});
