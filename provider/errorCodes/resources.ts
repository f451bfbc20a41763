import type { CodeTable } from "./description";

/** What can happen while resources are created, changed and deleted. */
export const resourceCodes = {
  PP4001: {
    title: "A create had no response, and its outcome is unknown",
    meaning: "The request was sent, the response was lost, and it cannot be told whether the object exists.",
    look: "`npx pulumi-platform inventory --root <group>` lists what exists. [Failures](failures.md) has each case.",
    fix: "Look whether the object exists. If it does, adopt or delete it. Then run again.",
  },
  PP4002: {
    title: "A lost create left more than one object",
    meaning: "A request without a response took effect, so that there are more equal objects than resources.",
    look: "The message lists the uids.",
    fix: "Delete what the message names, unless somebody else created it. Or take over one with `adopt()`.",
  },
  PP4003: {
    title: "A secret that is returned only once was lost",
    meaning: "The object was written, but the response with its secret did not arrive.",
    look: "`pulumi stack --show-ids` shows the resource. It is recorded, without the secret.",
    fix: "Run again: the resource is replaced or rotated.",
  },
  PP4004: {
    title: "The server ignored what was written",
    meaning: "The server responded without an error, but the object does not have the values of the program.",
    look: "The message names the arguments and the values that the server has.",
    fix: "Run again. If it stays, write the value of the server, or report it to the operator of the server.",
  },
  PP4005: {
    title: "The object to adopt does not exist",
    meaning: "`adopt()` names a uid that does not exist, or that the identity may not see.",
    look: "`npx pulumi-platform inventory --root <group>` lists uids.",
    fix: "Correct the uid, or remove `adopt()` to create a new object.",
  },
  PP4006: {
    title: "The object to adopt differs from the program",
    meaning: "Adoption changes nothing, so the program must declare the values that the object has.",
    look: "The message lists the declared and the existing value of each argument.",
    fix: "Declare the existing values, update once, and change them afterwards.",
  },
  PP4007: {
    title: "The object cannot be adopted",
    meaning: "Its secret is returned only at creation, so that no program can have it.",
    look: "The reference page of the kind says so under [Drift and adoption](reference/README.md).",
    fix: "Delete the object, or the token below it, and let the program create a new one.",
  },
  PP4008: {
    title: "The response is about another object",
    meaning: "The server responded with an object of another uid or of another kind.",
    look: "`npx pulumi-platform doctor` shows the address and where it comes from.",
    fix: "Correct `PLATFORM_BASE_URL` (or `platform:baseUrl`).",
  },
  PP4009: {
    title: "The object belongs to another resource",
    meaning: "Another resource of this program already manages the object that the server responded with.",
    look: "The message names the resource.",
    fix: "Remove one of the two resources.",
  },
  PP4010: {
    title: "A delete was held back",
    meaning: "Another step of the run failed, and it may be about the same object.",
    look: "The other errors of the run show the step.",
    fix: "Correct that step and run again.",
  },
  PP4011: {
    title: "The change would lock its own identity out",
    meaning: "The change removes a binding that gives the identity behind the token its access to the group.",
    look: "`npx pulumi-platform whoami` shows the identity. The message names the bindings.",
    fix: "Keep a binding there or above, let another identity do it, or confirm as the message says.",
  },
  PP4012: {
    title: "Only some bindings were written",
    meaning:
      "Several bindings of a `GroupAccess` failed for different reasons. The rest is written and recorded.",
    look: "The message has a line for each binding.",
    fix: "Correct each cause and run again: only what is missing is written.",
  },
  PP4013: {
    title: "A cloud account is not ready",
    meaning: "The association exists, but the platform could not use the account within a minute.",
    look: "The message has the reason of the platform for each provider.",
    fix: "Correct the trust in the cloud account and run again: the run waits again.",
  },
} as const satisfies CodeTable;
