import { evaluate } from "./support";

const problems = (...args: unknown[]) =>
  evaluate("release.mjs", `m.releaseProblems(${JSON.stringify(args).slice(1, -1)})`);

const home = "https://github.com/acme/platform";
const named = { version: "1.2.3", repository: home, bugs: home, homepage: home };
const unnamed = ["repository", "bugs", "homepage"].map(
  (name) => expect.stringMatching(`^package.json has no ${name}: write "${name}": ".*OWNER`) as string,
);

test.each<[string | null, object, string, string[]]>([
  ["v1.2.3", named, "# Changelog\n\n## 1.2.3 (2026-01-01)\n", []],
  ["v1.2.4", named, "## 1.2.3\n", ["the tag is v1.2.4, package.json says 1.2.3"]],
  ["v1.2.3", named, "## 1.2.30\n", ["CHANGELOG.md has no section 1.2.3"]],
  ["v1.2.3", { version: "1.2.3" }, "## 1.2.3\n", unnamed],
  [null, { version: "1.2.3" }, "## 1.2.3\n", []],
])("a release of tag %j of %j with %j has problems or none", async (tag, manifest, changelog, expected) => {
  expect(await problems(tag, manifest, changelog)).toEqual(expected);
});

test("a release is refused while OWNER is left, and each place is named", async () => {
  const places = ["examples/ci/gitlab-ci.yml:2", "docs/ci.md:1"];
  const text = JSON.stringify({
    "examples/ci/gitlab-ci.yml": "include:\n  - component: OWNER/pulumi-platform/review@v1",
    "docs/ci.md": "OWNER/pulumi-platform",
    "README.md": "acme/pulumi-platform",
  });
  expect(await evaluate("release.mjs", `m.ownerPlaces(${text})`)).toEqual(places);
  expect(await problems("v1.2.3", named, "## 1.2.3\n", places)).toEqual([
    expect.stringContaining(places.join(", ")),
  ]);
  expect(await problems(null, named, "## 1.2.3\n", places)).toEqual([]);
});

test("the oldest SDK of the matrix is the one of package.json's range", async () => {
  expect(await evaluate("matrix.mjs", 'm.oldestOf(">=3.216.0 <4")')).toBe("3.216.0");
});

test("the nightly run names its seed in each suite that takes one", async () => {
  const suites = (await evaluate("nightly.mjs", "m.suitesOf(77)")) as { env?: object; script: string[] }[];
  const seeded = suites.filter(({ env = {}, script }) => [...Object.values(env), ...script].includes("77"));
  expect(seeded.length).toBeGreaterThanOrEqual(5);
});
