import { checkInputs } from "../../../provider/fields/check";
import type { Handlers } from "../../../provider/lifecycle/handlers";
import { REPO_UID, sampleOf, specOf } from "../support/samples";
import { clientOf, errorOf, failure, missing, ScriptedServer } from "../support/server";
import { cpuSeconds } from "../../support/cpu";
import { handlersAt } from "../support/handlerStack";

const server = ScriptedServer.ofSuite();

const handlers = (): Handlers => handlersAt("RepoReadme", clientOf(server));

const readme = sampleOf("RepoReadme");

describe("a readme", () => {
  test.each([
    ["without a text", { json: { uid: REPO_UID, content: "" } }],
    ["whose text is left out", { json: { uid: REPO_UID } }],
    ["of a repository that is gone", missing(REPO_UID)],
  ])("%s counts as deleted", async (_what, reply) => {
    server.script([reply]);
    expect(await handlers().read(REPO_UID, readme)).toEqual({});
  });

  test.each([
    ["created", () => handlers().create(readme)],
    ["updated", () => handlers().update(REPO_UID, readme, { ...readme, content: "# two" })],
    ["deleted", () => handlers().delete(REPO_UID, readme)],
  ])("that may not be %s says which capability that takes", async (_what, write) => {
    server.script(() => failure(7, "no"));
    const { message } = await errorOf(write());
    expect(message).toContain("CAP_REPO_INTERNAL_ADMIN");
    expect(message).not.toContain("lacks a role there");
  });
});

test.each([
  "Run `deploy --on=main`; a < b and on = off > c.",
  "Javascript: a language. See [the language](https://example.com/javascript:intro).",
  '<img src="https://example.com/a.png" alt="once on a time">\n\n<details><summary>More</summary>…</details>',
  "The description, the script, <https://example.com/?onload=1>",
])("a readme may hold %s", (content) => {
  const failures = checkInputs(specOf("RepoReadme"), { ...readme, content }, { olds: {}, now: 0 });
  expect(failures).toEqual([]);
});

test("a check of megabytes of unmatched markup is fast", () => {
  const blanks = " ".repeat(2 ** 20);
  const on = " on".repeat(2 ** 20);
  const contents = ["<a ".repeat(2 ** 20), `<a${on}`, "](".repeat(2 ** 20), `](${blanks}`, `<${blanks}`];
  const check = () => {
    for (const content of contents) {
      checkInputs(specOf("RepoReadme"), { ...readme, content }, { olds: {}, now: 0 });
    }
  };
  expect(cpuSeconds(check)).toBeLessThan(20);
});
