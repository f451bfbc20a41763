import { checkInputs } from "../../../provider/fields/check";
import { buildPatch } from "../../../provider/fields/patch";
import { buildCreateBody, readBody, resourceReader } from "../../../provider/fields/wire";
import { mergeLive } from "../../../provider/fields/mergeLive";
import {
  boolean,
  enumOf,
  kind,
  list,
  object,
  secret,
  shape,
  string,
} from "../../../provider/fields/builders";
import type { ArgsOf } from "../../../provider/fields/builders";

const filter = shape({ fields: { verifiesTls: boolean({ default: true }) } });
interface FilterArgs extends ArgsOf<typeof filter> {}

/** A kind with what no kind has yet: a boolean that is true where it is not given, beside a secret and a set of names. */
const webhook = kind({
  kind: "Webhook",
  noun: "webhook",
  collection: "/registry/v2/webhooks",
  fields: {
    name: string({ required: true, immutable: true }),
    active: boolean({ default: true, security: true }),
    mode: enumOf("MODE_", "AUDIT ENFORCE", { default: "AUDIT" }),
    muted: boolean(),
    filter: object<FilterArgs>(filter),
    events: list(enumOf("WEBHOOK_EVENT_", "PUSH DELETE"), { unordered: true }),
    signingSecret: secret({ inputOnly: true }),
  },
});

describe("a boolean that is true by default", () => {
  test("is sent with a create where a program gives it, at the top and in an object", () => {
    const inputs = { name: "a", active: false, muted: false, filter: { verifiesTls: false } };
    expect(buildCreateBody(webhook, inputs)).toEqual({
      name: "a",
      active: false,
      filter: { verifiesTls: false },
    });
    const spelledOut = { name: "a", active: true, filter: { verifiesTls: true }, mode: "MODE_AUDIT" };
    expect(buildCreateBody(webhook, spelledOut)).toEqual(spelledOut);
    expect(buildCreateBody(webhook, { name: "a", active: null, filter: {}, mode: "" })).toEqual({
      name: "a",
    });
  });

  test("is named in the mask and sent as true if false is removed", () => {
    expect(buildPatch(webhook, { active: false }, {})).toEqual({ mask: ["active"], body: { active: true } });
    expect(buildPatch(webhook, {}, { active: false })).toEqual({ mask: ["active"], body: { active: false } });
    expect(
      buildPatch(webhook, { filter: { verifiesTls: false } }, { filter: { verifiesTls: true } }),
    ).toEqual({
      mask: ["filter.verifiesTls"],
      body: { filter: { verifiesTls: true } },
    });
    expect(buildPatch(webhook, { filter: { verifiesTls: false } }, {})).toEqual({
      mask: ["filter"],
      body: { filter: null },
    });
  });

  test("beside a name that is the default: it is sent where a program spells it out, else cleared", () => {
    expect(buildPatch(webhook, { mode: "MODE_ENFORCE" }, { mode: "MODE_AUDIT" })).toEqual({
      mask: ["mode"],
      body: { mode: "MODE_AUDIT" },
    });
    expect(buildPatch(webhook, { mode: "MODE_ENFORCE" }, {})).toEqual({
      mask: ["mode"],
      body: { mode: "MODE_UNSPECIFIED" },
    });
    expect(buildPatch(webhook, {}, { mode: "MODE_AUDIT" })).toEqual({ mask: [], body: {} });
  });

  test("is drift if the server returns false, and none if it omits true", () => {
    const inputs = { name: "a" };
    const read = (response: object) => readBody(webhook, { name: "a", ...response }, "uid");
    expect(mergeLive(webhook, inputs, read({ active: false })).inputs).toEqual({ name: "a", active: false });
    expect(mergeLive(webhook, inputs, read({ active: true })).inputs).toEqual(inputs);
    expect(mergeLive(webhook, inputs, read({})).inputs).toEqual(inputs);
    const off = { name: "a", active: false };
    expect(mergeLive(webhook, off, read({ active: false })).inputs).toEqual(off);
    expect(mergeLive(webhook, off, read({ active: true })).inputs).toEqual(inputs);
  });

  test("is read as true by a lookup where a response leaves it out", () => {
    const read = resourceReader(webhook);
    expect(read({ uid: "uid" })).toMatchObject({ active: true, muted: false });
    expect(read({ uid: "uid", active: false })).toMatchObject({ active: false });
  });
});

test("a message about an item of a list keeps its property beside a secret", () => {
  const failures = checkInputs(
    webhook,
    { name: "a", signingSecret: "canary", events: ["WEBHOOK_EVENT_PUSH", "push"] },
    { olds: {}, now: 0 },
  );
  expect(failures.map(({ property }) => property)).toEqual(["events[1]"]);
});
