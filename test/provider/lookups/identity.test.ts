import * as pulumi from "@pulumi/pulumi";
import { lookupIdentity, lookupIdentityOutput } from "../../../provider/index";
import { ProgramContext, resolved } from "../support/program";
import { IDENTITY_UID } from "../support/samples";
import { errorOf, failure } from "../support/server";

const context = new ProgramContext().install();
const who = { issuer: "https://accounts.example.com", subject: "auth|a+b c&d" };

test("lookupIdentity sends issuer and subject and returns the uid", async () => {
  context.server.script([{ json: { uid: IDENTITY_UID } }]);
  await expect(lookupIdentity(who)).resolves.toStrictEqual({ uid: IDENTITY_UID });
  const { method, path, query } = context.server.last();
  expect(`${method} ${path}`).toBe("GET /iam/v2/identities:lookupIdentity");
  expect(Object.fromEntries(query)).toEqual(who);
});

test.each<[object, string]>([
  [{}, "issuer is missing: give a string that is not empty"],
  [{ issuer: "i" }, "subject is missing: give a string that is not empty"],
  [{ issuer: "", subject: "s" }, "issuer must not be empty"],
  [{ issuer: "i", subject: 5 }, "subject must be a string, not the number 5"],
])("lookupIdentity says what is wrong with %j", async (args, message) => {
  context.server.script([]);
  const error = await errorOf(lookupIdentity(args as typeof who));
  expect(error).toMatchObject({ name: "LookupError", message: `lookupIdentity: ${message} (PP1201)` });
  expect(context.server.requests).toHaveLength(0);
});

test("lookupIdentity refuses a response without a uid", async () => {
  context.server.script(() => ({ json: {} }));
  expect((await errorOf(lookupIdentity(who))).message).toBe(
    "lookupIdentity: the response has no uid for auth|a+b c&d of https://accounts.example.com (PP2108)",
  );
});

test("lookupIdentity includes the server's message in its error", async () => {
  context.server.script([failure(3, "bad issuer")]);
  expect((await errorOf(lookupIdentity(who))).message).toBe(
    "lookupIdentity: GET /iam/v2/identities:lookupIdentity: INVALID_ARGUMENT (HTTP 400): bad issuer (PP3400)",
  );
});

test("lookupIdentityOutput accepts arguments that are known later", async () => {
  context.server.script([{ json: { uid: IDENTITY_UID } }]);
  const output = lookupIdentityOutput({
    issuer: pulumi.output(Promise.resolve(who.issuer)),
    subject: who.subject,
  });
  await expect(resolved(output.uid)).resolves.toBe(IDENTITY_UID);
});
