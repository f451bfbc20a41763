import { buildPatch } from "../../../provider/fields/patch";
import { buildCreateBody } from "../../../provider/fields/wire";
import { enumOf, kind, string } from "../../../provider/fields/builders";

/** A kind with a name that the server takes where none is given. */
const webhook = kind({
  kind: "Webhook",
  collection: "/registry/v2/webhooks",
  fields: {
    name: string({ required: true, immutable: true }),
    mode: enumOf("MODE_", "AUDIT ENFORCE", { default: "AUDIT" }),
  },
});

test("a name that is the default is sent where a program spells it out, else cleared", () => {
  const spelledOut = { name: "a", mode: "MODE_AUDIT" };
  expect(buildCreateBody(webhook, spelledOut)).toEqual(spelledOut);
  expect(buildCreateBody(webhook, { name: "a", mode: "" })).toEqual({ name: "a" });
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
