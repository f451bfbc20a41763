import fc, { casesOf, spreadOf } from "../../support/properties";
import { logLine } from "../../../provider/text/printable";
import { HandlerError } from "../../../provider/lifecycle/messages";
import type { Props } from "../../../provider/fields/values";
import { COMMAND, CONTROL, HOSTILE_HEADER, HOSTILE_TEXT } from "../../support/logCommands";
import { samples as handlerSamples, specOf } from "../support/samples";
import { clientOf, detail, ScriptedServer } from "../support/server";
import type { Reply } from "../support/server";
import { lowerFirst } from "../../../scripts/lib/letterCase.cjs";
import { handlersAt } from "../support/handlerStack";
import { ESCAPE, hostileObject, hostileValue } from "../support/hostileJson";

/**
 * Whatever a server answers, each operation of each kind ends: in plain values of the kind's own form, or in one
 * clean error. Nothing of it reaches a prototype or a terminal.
 */

const server = ScriptedServer.ofSuite();

/** The lines of the log of requests since the test began. */
let logged: string[] = [];
beforeEach(() => {
  logged = [];
});
afterEach(() => {
  for (const line of logged.map(logLine)) {
    expect(line).not.toMatch(CONTROL);
    expect(line).not.toMatch(COMMAND);
  }
});

function handlers(kind: string) {
  const client = clientOf(server, { maxRetries: 0, log: (line) => logged.push(line) });
  return handlersAt(kind, client);
}

test("check puts no control character of a program into its failures", () => {
  const failures = handlers("Identity").check(
    {},
    {
      name: ESCAPE,
      [ESCAPE]: 1,
      claimMatch: { subjectPattern: `(${ESCAPE}\u009b2J`, claims: { [`a\u009b${ESCAPE}`]: 5 } },
    },
  );
  expect(failures.length).toBeGreaterThan(4);
  for (const { property, reason } of failures) {
    expect(`${property} ${reason}`).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
  }
});

/** A JSON object with a __proto__ member of its own, as a text. */
const poisoned = (inner: string): string =>
  `{"__proto__":{"polluted":true,"uid":"x"},"constructor":{"prototype":{"polluted":true}},${inner.slice(1)}`;

const GRPC: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 6,
  412: 9,
  429: 8,
  500: 13,
};

/** Errors in the API's form whose every text is hostile, also joined to the words that messages put beside it. */
function hostileErrors(status: number, kind: string): Reply[] {
  const own = lowerFirst(kind);
  return [HOSTILE_TEXT, `${own}.::error::x`, "##"].map((text) => ({
    status,
    headers: { "x-request-id": HOSTILE_HEADER },
    json: {
      code: GRPC[status] ?? 14,
      message: text,
      details: [
        detail("ErrorInfo", { reason: text, domain: text, metadata: { [text]: text, requestId: text } }),
        detail("BadRequest", {
          fieldViolations: [
            {
              field: text,
              description: "[error]::y::z",
              reason: text,
              localizedMessage: { locale: "en", message: text },
            },
          ],
        }),
        detail("PreconditionFailure", { violations: [{ type: text, subject: text, description: text }] }),
        detail("ResourceInfo", { resourceType: text, resourceName: text, owner: text, description: text }),
        detail("TermsNotAcceptedDetail", { missing: [{ id: text, label: text, url: text }] }),
      ],
    },
  }));
}

const KINDS = handlerSamples.filter(
  ({ kind }, index) => handlerSamples.findIndex((other) => other.kind === kind) === index,
);

/** An answer that has the resource's uid, so that more of it is looked at. */
const body = (id: string) =>
  fc.oneof(
    hostileValue.map((any) => JSON.stringify(any)),
    hostileObject
      .map((members) => JSON.stringify({ ...members, uid: id }))
      .chain((text) => fc.constantFrom(text, poisoned(text), text.slice(0, text.length / 2))),
  );

const status = fc.constantFrom(200, 200, 200, 200, 400, 403, 404, 409, 429, 500, 503);

/** A plain value of JSON without a control character in any name, and without an own or inherited surprise. */
function expectPlain(result: unknown): void {
  expect(JSON.parse(JSON.stringify(result ?? null))).toEqual(result ?? null);
  expect(JSON.stringify(result ?? null)).not.toContain("polluted");
}

async function ended(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    expect(error).toBeInstanceOf(HandlerError);
    const { message, stack } = error as HandlerError;
    expect(message.replaceAll("\n", "")).not.toMatch(CONTROL);
    expect(message).not.toMatch(COMMAND);
    expect(message.length).toBeLessThan(20_000);
    expect(stack).toBe("see the error of the resource");
    return undefined;
  }
}

const numbered = KINDS.map(({ kind, inputs }, index) => [kind, inputs, index] as const);

describe.each(numbered)("%s", (kind, inputs, index) => {
  const parent = inputs["parentUid"] as string | undefined;
  const id =
    parent === undefined
      ? "a".repeat(40)
      : specOf(kind).sharesParentUid
        ? parent
        : `${parent}/${"a".repeat(16)}`;

  test("survives any response to any operation", async () => {
    await fc.assert(
      fc.asyncProperty(body(id), status, async (text, code) => {
        const reply: Reply = { status: code, text, headers: { "Content-Type": "application/json" } };
        server.script(() => reply);
        const read = await ended(handlers(kind).read(id, inputs));
        expectPlain(read);
        const { props } = (read ?? {}) as { props?: Props };
        // What went into state can be compared, checked and sent again.
        const known = props ?? inputs;
        expect(() => handlers(kind).diff(known, inputs)).not.toThrow();
        expect(() => handlers(kind).check(known, known)).not.toThrow();
        expectPlain(await ended(handlers(kind).update(id, known, inputs)));
        expectPlain(await ended(handlers(kind).create(inputs)));
        await ended(handlers(kind).delete(id, inputs));
        expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      }),
      { numRuns: casesOf(20) },
    );
  });

  test.each(spreadOf([400, 403, 404, 409, 429, 500], 2, index))(
    "prints no command of a server that responds with %i, wherever it is",
    async (code) => {
      for (const reply of hostileErrors(code, specOf(kind).kind)) {
        server.script(() => reply);
        await ended(handlers(kind).read(id, inputs));
        await ended(handlers(kind).create(inputs));
        await ended(handlers(kind).update(id, inputs, { ...inputs, description: "changed" }));
        await ended(handlers(kind).delete(id, inputs));
      }
    },
  );
});
