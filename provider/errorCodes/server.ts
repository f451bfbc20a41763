import type { CodeTable } from "./description";

const REQUEST = "`PLATFORM_LOG=debug` prints each request, its status and its request id.";

/** Errors that the API, or a proxy before it, responds with: the last three digits are those of the HTTP status where one fits. */
export const serverCodes = {
  PP3400: {
    title: "HTTP 400: the server refused a value",
    meaning: "The request is well-formed, but the server does not accept one of its values.",
    look: "The lines below the message name the arguments, in the words of the server.",
    fix: "Change these arguments.",
  },
  PP3401: {
    title: "HTTP 401: the credential is not accepted",
    meaning: "The token is missing, expired, revoked, or for another API. Commands end with exit code 3.",
    look: "`npx pulumi-platform whoami` shows whose token it is and when it expires.",
    fix: "Set a new `PLATFORM_TOKEN`, or let the job exchange an OIDC token: see [settings](settings.md).",
  },
  PP3403: {
    title: "HTTP 403: the identity lacks a capability",
    meaning:
      "The identity behind the token has no role there that allows this. The parent may also not exist.",
    look: "`npx pulumi-platform whoami` shows the identity, `npx pulumi-platform access` with `--on` who may do what there.",
    fix: "Bind a role with the capability to the identity. [Least privilege](least-privilege.md) lists what each job needs.",
  },
  PP3404: {
    title: "HTTP 404: no such endpoint",
    meaning: "The server responded, but has no such path: the address is of another server, or lacks a part.",
    look: "`npx pulumi-platform doctor` shows the address and where it comes from.",
    fix: "Correct `PLATFORM_BASE_URL` (or `platform:baseUrl`): the address without `/iam/v2`.",
  },
  PP3405: {
    title: "HTTP 404: the object does not exist",
    meaning: "The object was deleted, or never existed, or the identity may not see it.",
    look: "`pulumi refresh --preview-only` shows what is gone. `npx pulumi-platform drift` compares a whole stack.",
    fix: "Run `pulumi refresh`, then update again. If a reference is wrong, correct the uid.",
  },
  PP3406: {
    title: "Documents must be accepted first",
    meaning: "The organisation has not accepted terms that this operation needs.",
    look: "The message lists the documents with their addresses.",
    fix: "Read them, accept them with a `TermsAcceptance`, and add it to `dependsOn` of the resource.",
  },
  PP3407: {
    title: "A proxy or load balancer responded instead of the API",
    meaning: "The response has an error status and not the form of the API's errors.",
    look: REQUEST,
    fix: "Run again. If it stays, ask whoever runs the proxy about this path.",
  },
  PP3409: {
    title: "HTTP 409: the object already exists",
    meaning:
      "Another object has this name or this place. A person, another stack or an old resource created it.",
    look: "`npx pulumi-platform inventory --root <group>` lists what exists, with uids.",
    fix: "After a rename in the program, use `aliases`. For an object of somebody else, use `adopt()` or delete it.",
  },
  PP3410: {
    title: "HTTP 409: another change was in the way",
    meaning: "The server aborted the request, since the object changed at the same time.",
    look: REQUEST,
    fix: "Run again when no other update of these objects is running.",
  },
  PP3412: {
    title: "The state of the object does not allow this",
    meaning: "For example, a group that still has children cannot be deleted.",
    look: "The lines below the message name what is in the way.",
    fix: "Remove what is in the way, then run again.",
  },
  PP3413: {
    title: "A message is too large",
    meaning: "The request or the response is larger than 4 MiB, and stays so when it is repeated.",
    look: REQUEST,
    fix: "Split the resource, or shorten its longest value.",
  },
  PP3429: {
    title: "HTTP 429: the server limits requests",
    meaning: "The server still limited requests after all repetitions.",
    look: REQUEST,
    fix: "Lower `PLATFORM_MAX_CONCURRENCY` (or `platform:maxConcurrency`), or run again later.",
  },
  PP3500: {
    title: "HTTP 500: the server failed",
    meaning: "The server met an error of its own. A write may have been carried out.",
    look: "The message has the request id; the operator of the server finds the request by it.",
    fix: "Run again. A create without a response is looked for before it is repeated.",
  },
  PP3501: {
    title: "HTTP 501: the server does not offer this",
    meaning: "This server does not implement the operation.",
    look: REQUEST,
    fix: "Use a server that offers it, or leave the resource out.",
  },
  PP3503: {
    title: "HTTP 502 or 503: the server is unavailable",
    meaning: "The server did not respond in a usable way after all repetitions.",
    look: REQUEST,
    fix: "Run again later.",
  },
  PP3504: {
    title: "HTTP 504: the server took too long",
    meaning: "The server, or a proxy before it, gave up waiting. A write may have been carried out.",
    look: REQUEST,
    fix: "Run again. A create without a response is looked for before it is repeated.",
  },
} as const satisfies CodeTable;
