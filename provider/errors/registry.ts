/** What the documents and `explain` say of an error code. */
export interface CodeDescription {
  readonly title: string;
  readonly meaning: string;
  /** How to see why: a command, or where to look. */
  readonly look: string;
  /** What to do. */
  readonly fix: string;
}

/** Error codes by their names: `PP` and four digits. */
export type CodeTable = Readonly<Record<`PP${number}`, CodeDescription>>;

const REFERENCE = "The page of the kind in the [reference](reference/README.md) lists its arguments.";

/** What a program is told before a request is sent. */
export const programCodes = {
  PP1001: {
    title: "A required argument is missing",
    meaning:
      "The resource, or an object inside it, lacks an argument that it needs, or it is an empty string.",
    look: `The message names the argument. ${REFERENCE}`,
    fix: "Give the argument. Where it comes from the configuration, check that the value is set: `pulumi config`.",
  },
  PP1002: {
    title: "Unknown argument",
    meaning: "The resource has no argument of this name.",
    look: `${REFERENCE} The message proposes the nearest name.`,
    fix: "Correct the name, or remove the argument.",
  },
  PP1003: {
    title: "An argument has the wrong type",
    meaning: "The value is, for example, a number where a string is needed.",
    look: "The message names the argument, the type that it needs and the type that it has.",
    fix: "Give a value of that type. Numbers and booleans of `pulumi.Config` need `getNumber` and `getBoolean`.",
  },
  PP1004: {
    title: "An argument has the wrong format",
    meaning:
      "The value has the right type, but is no uid, URL, time, duration, pattern or name of the form needed.",
    look: "The message names the argument and the form, with an example.",
    fix: "Write the value in that form. A uid is the `id` of a resource or of the result of a lookup.",
  },
  PP1005: {
    title: "An argument is too long",
    meaning: "A string has too many characters, or a list has too many items.",
    look: "The message names the argument and its limit.",
    fix: "Shorten it.",
  },
  PP1006: {
    title: "A value must not be empty",
    meaning:
      "An empty string, or an argument that is undefined, would change the meaning. It is a parent, an item of a list or a key.",
    look: "The message names the place. Often a value of the configuration or of the environment is not set: `pulumi config`.",
    fix: "Give the value, or leave the argument out: `...(parentUid === undefined ? {} : { parentUid })` where both are meant.",
  },
  PP1007: {
    title: "Arguments conflict",
    meaning: "Two arguments are set of which only one may be.",
    look: "The message names both.",
    fix: "Remove one of them.",
  },
  PP1008: {
    title: "One of several arguments is needed",
    meaning: "Exactly one argument of a group must be set, and none is.",
    look: "The message lists them.",
    fix: "Set one of them.",
  },
  PP1009: {
    title: "An enum value is not written in full",
    meaning: "The API names enum values with a prefix, such as `ORG_KIND_CUSTOMER`.",
    look: "The message names the prefix and proposes the nearest value.",
    fix: "Write the full name.",
  },
  PP1010: {
    title: "A time or a duration is out of range",
    meaning: "A time has passed or is too far ahead, or a duration is too short or too long.",
    look: "The message names the argument and the range. `date -u` shows the clock of this machine.",
    fix: "Give a value in that range.",
  },
  PP1011: {
    title: "An argument does not fit the others",
    meaning: "The argument is valid alone, but not with the rest of the resource.",
    look: "The message names the arguments, and what each needs.",
    fix: "Change one of them as the message says.",
  },
  PP1012: {
    title: "The same grant stands twice",
    meaning: "Two bindings of a `GroupAccess` give one role to one identity.",
    look: "The message names both labels.",
    fix: "Remove one of them.",
  },
  PP1013: {
    title: "A name is misspelt",
    meaning:
      "A capability, or another name of a list that grows, is not known, and differs in one or two letters from one that is.",
    look: "The message names both. The page of the kind in the [reference](reference/README.md) lists the known names.",
    fix: "Correct it. If the server newly has a name that is so near to another one, update this package. Until then, add it to the object by hand and run `pulumi refresh`, or take the object over with `adopt`. What the server has is accepted. A name that is near to none is only warned of.",
  },
  PP1014: {
    title: "A uid is that of another kind",
    meaning:
      "A uid stands where that of another kind is needed, as the id of an `Identity` for a `roleUid`. The program tells it by the resource or the lookup that the uid comes from.",
    look: "The message names what the uid is of, and the kind that is needed.",
    fix: "Give the `id` of a resource of that kind, or the `uid` that its lookup returns. Two such arguments may have been swapped.",
  },
  PP1101: {
    title: "A resource has no arguments",
    meaning: "A resource was created without an object of arguments.",
    look: "The message names the kind and the name of the resource.",
    fix: 'Write `new Group("team", { … })`.',
  },
  PP1102: {
    title: "A resource has a provider of its own",
    meaning: "The options `provider` and `providers` cannot be used with resources of this package.",
    look: "The message names the resource. The option may come from its parent component.",
    fix: "Remove the option. To use another address or credential, use another stack.",
  },
  PP1103: {
    title: "Two resources are the same object",
    meaning:
      "Two resources of the program would manage one object of the server. Deleting either deletes it.",
    look: "The message names the resource that came first.",
    fix: "Remove one of them, or read the object with `X.get(name, uid)` in one place.",
  },
  PP1104: {
    title: "Two resources manage the same bindings",
    meaning: "A `GroupAccess` owns all bindings of its group, and another resource is for the same group.",
    look: "The message names both. [GroupAccess](reference/resources/GroupAccess.md) says what it owns.",
    fix: "Move all bindings of the group into the `GroupAccess`, or use only `RoleBinding`.",
  },
  PP1105: {
    title: "The option import does not work",
    meaning:
      "Pulumi imports no dynamic resource of any package: its engine asks for one without saying what code reads it.",
    look: "The message names the resource. [Adoption](tasks/adopt.md) shows every way to take over what exists.",
    fix: "Remove the option and wrap the arguments in `adopt(uid, { … })`. To read an object only, use `X.get(name, uid)`.",
  },
  PP1106: {
    title: "The plugin does not know a resource or a function",
    meaning: "A program of the native form asks for a type that this version of the plugin does not have.",
    look: "The message names the type. `pulumi plugin ls` lists the versions that are installed.",
    fix: "Install the version of the package that the program uses: `npx --no pulumi-platform plugin install`.",
  },
  PP1201: {
    title: "An argument of a lookup is wrong",
    meaning: "A lookup such as `getGroup` has an argument that is missing, unknown, or has another form.",
    look: "The message names the lookup and the argument. The [reference](reference/README.md#lookups) lists them.",
    fix: "Correct the argument.",
  },
  PP1202: {
    title: "An argument of a lookup is not known yet",
    meaning: "The argument is an output or a promise, and the lookup needs a plain value.",
    look: "The message names the argument.",
    fix: "Call the form with `Output` at the end of its name: `getGroupOutput`.",
  },
  PP1203: {
    title: "A lookup found nothing",
    meaning: "No object has this uid or name, or the identity behind the token may not see it.",
    look: "`npx --no pulumi-platform whoami` shows the identity; `npx --no pulumi-platform inventory --root <group>` what it sees.",
    fix: "Correct the uid or the name, or give the identity a role that may read the object.",
  },
  PP1204: {
    title: "A lookup found several objects",
    meaning: "Several objects have this name.",
    look: "The message lists their uids.",
    fix: "Look up by uid, or narrow the search with the group.",
  },
  PP1301: {
    title: "A policy pack names a rule that it does not have",
    meaning: "`enforcement` of `accessPolicies` has a key that is no rule of the pack.",
    look: "`npx --no pulumi-platform explain` lists all rules with their ids and names.",
    fix: "Correct the name. Rules that compare with the state before run only in `pulumi-platform review`.",
  },
  PP1302: {
    title: "A policy pack has a wrong option",
    meaning: "A member of `options` or of `enforcement` of `accessPolicies` has a value that it cannot have.",
    look: "The message names the member and what it must be. `issuerAllow` and `sinkAllow` take what the flags take.",
    fix: "Correct the value.",
  },
} as const satisfies CodeTable;

const DOCTOR =
  "`npx --no pulumi-platform doctor` checks settings, credential and connection, one after the other.";

/** Why there is no connection, or no credential for it. */
export const connectionCodes = {
  PP2001: {
    title: "An address is missing",
    meaning:
      "Neither the environment nor the stack's configuration has the address of the API, or of the token issuer.",
    look: DOCTOR,
    fix: "Set the variable that the message names, for example `PLATFORM_BASE_URL`. [Settings](settings.md) lists all.",
  },
  PP2002: {
    title: "A setting has a wrong value",
    meaning: "The setting is no address, number, duration or uid of the form that it needs.",
    look: "The message names the setting, and what it must be. [Settings](settings.md) has an example of each.",
    fix: "Correct the value.",
  },
  PP2003: {
    title: "Settings conflict",
    meaning: "Two settings of the same source are set of which only one may be.",
    look: "The message names both.",
    fix: "Unset one of them.",
  },
  PP2004: {
    title: "The credential would go to an unconfirmed address",
    meaning:
      "The address comes from the stack's configuration and the credential from the environment, or the two addresses differ.",
    look: "`pulumi config get platform:baseUrl` and `echo $PLATFORM_BASE_URL` show both addresses.",
    fix: "If you trust the address, set the variable that the message names to the same value. If not, do not run.",
  },
  PP2005: {
    title: "The stack's configuration cannot be read",
    meaning: "`pulumi config` failed for the stack that `--stack` names.",
    look: "Run `pulumi config --stack <stack>` in the same folder.",
    fix: "Log in to the backend, give the passphrase of the stack, or name the folder with `--cwd`.",
  },
  PP2006: {
    title: "No credential",
    meaning: "No setting holds an access token, nor an identity and an OIDC token to exchange.",
    look: DOCTOR,
    fix: "Set `PLATFORM_TOKEN`, or `PLATFORM_IDENTITY` in CI. [Settings](settings.md) lists all sources.",
  },
  PP2007: {
    title: "A credential is malformed or its file cannot be read",
    meaning: "The setting is empty, holds a path instead of a token, or names a file that cannot be read.",
    look: "The message names the setting. It never shows the value.",
    fix: "Put the token itself in the setting, or the path in the setting for files.",
  },
  PP2008: {
    title: "GitHub Actions gave no OIDC token",
    meaning: "The job asked GitHub for its OIDC token and was refused.",
    look: "The message has GitHub's response. The log of the step `Set up job` lists the permissions of the job.",
    fix: "Add `permissions: id-token: write` to the job.",
  },
  PP2009: {
    title: "The token exchange was refused",
    meaning: "The issuer does not accept the OIDC token for this identity.",
    look: "The message shows issuer, subject and audience of the OIDC token. Compare them with the identity.",
    fix: "Change the identity's `claimMatch` or `audience`, or run from the branch or environment that it trusts.",
  },
  PP2010: {
    title: "The address of the token issuer is wrong",
    meaning: "The server at this address does not exchange tokens.",
    look: "`npx --no pulumi-platform doctor` shows the address and where it comes from.",
    fix: "Correct `PLATFORM_ISSUER_URL` (or `platform:issuerUrl`). Where the API itself is the wrong server, see PP2107.",
  },
  PP2011: {
    title: "The backend is not confirmed",
    meaning:
      "Only `backend.url` of the project file names the backend, or its address is plain `http`. A pull request can change that file.",
    look: "`grep -A 1 backend Pulumi.yaml` and `echo $PULUMI_BACKEND_URL` show both addresses. `pulumi whoami -v` shows the login.",
    fix: "If you trust the address, set `PULUMI_BACKEND_URL` to it, or run `pulumi login` with it. If not, do not run.",
  },
  PP2012: {
    title: "A file of the project decides what runs",
    meaning:
      "A stack file sets environment variables by Pulumi ESC (`environment`), or the project file replaces a plugin (`plugins`, `packages`) or the program (`runtime: client`). A pull request can change these files.",
    look: "`grep -nE 'environment|plugins|packages|runtime' Pulumi*.yaml` shows the property that the message names.",
    fix: "Set the variables in the job, and write the configuration as `config`. Remove `plugins`, and name published packages in `packages`.",
  },
  PP2101: {
    title: "The server cannot be reached",
    meaning: "The connection was refused, or there is no way to the host. The request was not sent.",
    look: DOCTOR,
    fix: "Check the address and the port, whether the server runs, and whether a VPN or a proxy is needed.",
  },
  PP2102: {
    title: "The host name cannot be resolved",
    meaning: "There is no host of this name, or the name server does not respond. The request was not sent.",
    look: DOCTOR,
    fix: "Correct the address. If it is right, check the DNS of this machine or of the runner.",
  },
  PP2103: {
    title: "The connection broke",
    meaning:
      "The connection was reset or failed before the response was complete. The request may have been carried out.",
    look: DOCTOR,
    fix: "Run again: a request that may be repeated is repeated, and a lost create is looked for.",
  },
  PP2104: {
    title: "No response in time",
    meaning: "The server did not respond within the time-out. The request may have been carried out.",
    look: "`PLATFORM_LOG=debug` prints each request with its duration.",
    fix: "Run again. Where the server is slow, raise `PLATFORM_TIMEOUT` (or `platform:timeout`).",
  },
  PP2105: {
    title: "The TLS connection failed",
    meaning: "The certificate is unknown, expired or for another host, or the server does not speak TLS.",
    look: DOCTOR,
    fix: "For a certificate authority of your company, set `NODE_EXTRA_CA_CERTS` to its PEM file. Never switch checks off.",
  },
  PP2106: {
    title: "The proxy failed",
    meaning: "The proxy cannot be reached, has a wrong address, or refused the connection.",
    look: "`env | grep -i _proxy` shows the proxy settings. The message names the host that responded.",
    fix: "Correct `HTTPS_PROXY`, give it user name and password, or add the host to `NO_PROXY`. If `pulumi` itself fails with `No connection established`, add 127.0.0.1 to `no_proxy`: Pulumi's library takes `https_proxy` and `http_proxy` for its own calls on this machine too.",
  },
  PP2107: {
    title: "The response is not from the Platform API",
    meaning:
      "Another server responded: a login page, a redirect, JSON of another form, or a response of more than 32 MiB.",
    look: DOCTOR,
    fix: "Correct `PLATFORM_BASE_URL` (or `platform:baseUrl`). If it is right, a proxy is in between. Where the token issuer is the wrong server, see PP2010.",
  },
  PP2108: {
    title: "A response is incomplete",
    meaning: "The response was cut off, is invalid JSON, or lacks what every such response has.",
    look: "`PLATFORM_LOG=debug` prints each request and its status.",
    fix: "Run again. If it stays, report it to the operator of the server.",
  },
} as const satisfies CodeTable;

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
    look: "`npx --no pulumi-platform whoami` shows whose token it is and when it expires.",
    fix: "Set a new `PLATFORM_TOKEN`, or let the job exchange an OIDC token: see [settings](settings.md).",
  },
  PP3403: {
    title: "HTTP 403: the identity lacks a capability",
    meaning:
      "The identity behind the token has no role there that allows this. The parent may also not exist.",
    look: "`npx --no pulumi-platform whoami` shows the identity, `npx --no pulumi-platform access` with `--on` who may do what there.",
    fix: "Bind a role with the capability to the identity. [Least privilege](least-privilege.md) lists what each job needs.",
  },
  PP3404: {
    title: "HTTP 404: no such endpoint",
    meaning: "The server responded, but has no such path: the address is of another server, or lacks a part.",
    look: "`npx --no pulumi-platform doctor` shows the address and where it comes from.",
    fix: "Correct `PLATFORM_BASE_URL` (or `platform:baseUrl`): the address without `/iam/v2`.",
  },
  PP3405: {
    title: "HTTP 404: the object does not exist",
    meaning:
      "The object was deleted, or never existed, or the identity may not see it. A preview warns of a uid that the program writes as text.",
    look: "`pulumi refresh --preview-only` shows what is gone. `npx --no pulumi-platform drift` compares a whole stack.",
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
    look: "`npx --no pulumi-platform inventory --root <group>` lists what exists, with uids.",
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

/** What can happen while resources are created, changed and deleted. */
export const resourceCodes = {
  PP4001: {
    title: "A create had no response, and its outcome is unknown",
    meaning: "The request was sent, the response was lost, and it cannot be told whether the object exists.",
    look: "`npx --no pulumi-platform inventory --root <group>` lists what exists. [Failures](failures.md) has each case.",
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
    fix: "Run again: an invite or a new token is replaced, and a token that was being rotated is rotated once more.",
  },
  PP4004: {
    title: "The server ignored what was written",
    meaning:
      "The server responded without an error, but the object does not have the values of the program. The server ignored them, or somebody changed the object meanwhile.",
    look: "The message names the arguments and the values that the server has.",
    fix: "Run again. If it stays, write the value of the server, or report it to the operator of the server.",
  },
  PP4005: {
    title: "The object to adopt does not exist",
    meaning: "`adopt()` names a uid that does not exist, or that the identity may not see.",
    look: "`npx --no pulumi-platform inventory --root <group>` lists uids.",
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
    look: "`npx --no pulumi-platform doctor` shows the address and where it comes from.",
    fix: "Correct `PLATFORM_BASE_URL` (or `platform:baseUrl`).",
  },
  PP4009: {
    title: "The object belongs to another resource",
    meaning: "Another resource of this program already manages the object that the server responded with.",
    look: "The message names the object. The program or the state has another resource with its uid.",
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
    meaning:
      "The change takes from the identity behind the token its right to manage the bindings of the group.",
    look: "`npx --no pulumi-platform whoami` shows the identity. The message names the bindings.",
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

const HELP = "`npx --no pulumi-platform <command> --help` and [commands](commands.md) show all options.";

/** What is wrong with the arguments of a command, or with what they name. */
export const commandCodes = {
  PP5001: {
    title: "Unknown command, option or argument",
    meaning: "The command line has a word that the command does not know.",
    look: HELP,
    fix: "Correct the word.",
  },
  PP5002: {
    title: "An option has a wrong value",
    meaning: "The value is missing, empty, or not of the form that the option needs.",
    look: HELP,
    fix: "Give a value as the message says.",
  },
  PP5003: {
    title: "Options do not go together",
    meaning: "Two options conflict, or one needs another one that is missing.",
    look: HELP,
    fix: "Add or remove an option as the message says.",
  },
  PP5004: {
    title: "A required option or argument is missing",
    meaning: "The command cannot know what to work on.",
    look: HELP,
    fix: "Give the option or the file that the message names.",
  },
  PP5005: {
    title: "A file cannot be read",
    meaning:
      "The file does not exist, is a folder, or this user may not read it. Or it is a symbolic link to a file outside of its folder. So an artifact or a pull request of others could name any file of the machine.",
    look: "`ls -l` shows the file. Paths are relative to the folder in which the command runs.",
    fix: "Correct the path, or name the file that the link leads to. In CI, check that the step that writes the file ran before.",
  },
  PP5006: {
    title: "A file cannot be written",
    meaning:
      "The folder does not exist, the path is a folder, this user may not write there, or the disk is full. Standard output is such a file too. Or its reader ended too early, as `head` does: the command then ends with 1, or with the code of its findings.",
    look: "`ls -ld` shows the folder, and `df` the space on the disk.",
    fix: "Create the folder, free space, or give another path. Write to a file (`-o text=report.txt`) before you shorten it.",
  },
  PP5007: {
    title: "No file matches a pattern",
    meaning: "The pattern is valid and matches nothing.",
    look: "`ls` with the same pattern in the same folder shows what matches.",
    fix: "Correct the pattern, and quote it so that the shell passes it on.",
  },
  PP5008: {
    title: "A name is not known",
    meaning: "There is no group, stack, kind, rule or code of this name.",
    look: "The message lists what there is, or how to list it.",
    fix: "Correct the name.",
  },
  PP5009: {
    title: "The Pulumi CLI failed",
    meaning: "`pulumi` is not on the PATH, or ended with an error.",
    look: "Run the command that the message names.",
    fix: "Install the CLI, log in to the backend, or correct what it reports.",
  },
  PP5010: {
    title: "An address cannot be listened on",
    meaning: "Another process has the port, or the address is not of this machine.",
    look: "`ss -ltnp` lists the processes that listen.",
    fix: "Give another port, or end the other process.",
  },
  PP5011: {
    title: "The folder is not ready",
    meaning: "The folder of adopt or init holds a file of this name, another project, or no program yet.",
    look: "`ls` shows the folder.",
    fix: "Do as the message says, or give another folder. `adopt --force` replaces a file.",
  },
  PP5012: {
    title: "The stack changed, so nothing was imported",
    meaning: "The stack was updated while adopt ran, or the program shows changes after the import.",
    look: "`pulumi preview --diff` shows what would change. `pulumi stack history` lists updates.",
    fix: "Run again when no other update is running. The state is as it was before.",
  },
  PP5013: {
    title: "The base of a change cannot be read with git",
    meaning: "`--base-ref` names no commit of this clone, or git cannot be run.",
    look: "`git rev-parse --verify <ref>` shows whether the clone has the commit.",
    fix: "Fetch it: in GitHub Actions, `fetch-depth: 0`. Or give the file with `--policy-base`.",
  },
  PP5015: {
    title: "A version is not supported",
    meaning: "Node, the SDK of Pulumi or its CLI is older or newer than this package supports.",
    look: "`npx --no pulumi-platform doctor` shows all versions.",
    fix: "Install the version that the message names.",
  },
  PP5014: {
    title: "A name is ambiguous",
    meaning: "Several groups have this name.",
    look: "The message lists their uids.",
    fix: "Give the uid of one.",
  },
} as const satisfies CodeTable;

/** Why a document that a command reads is refused. */
export const documentCodes = {
  PP6001: {
    title: "A document is empty, truncated or no JSON",
    meaning: "The step that should have written it failed, was cut off, or mixed other text into it.",
    look: "`head -c 200 <file>` and `tail -c 200 <file>` show both ends.",
    fix: "Write it again, with standard output only: `pulumi preview --json > preview.json`.",
  },
  PP6002: {
    title: "A document is of another kind",
    meaning: "The option needs, for example, a preview, and the file is an export of a stack.",
    look: "The message says what the file is, or what the option needs.",
    fix: "Give the file to the option that it belongs to, or write the document that is needed.",
  },
  PP6003: {
    title: "A document does not have the expected form",
    meaning: "A part is missing, has another type, or was written by a version that this one does not know.",
    look: "The message names the first place.",
    fix: "Write it again with the CLI, not by hand. If it was written by a newer version, update this package.",
  },
  PP6004: {
    title: "Documents do not belong together",
    meaning: "They are of different stacks or groups, or one is older than the other needs.",
    look: "The message names what differs.",
    fix: "Give documents of the same stack, group and run.",
  },
  PP6005: {
    title: "This is not the report or plan that was approved",
    meaning: "The digest of the report or of the plan is another one.",
    look: "`sha256sum <file>` and the log of the review show both digests.",
    fix: "Give the file that the review wrote. If the plan was made again, review again.",
  },
  PP6006: {
    title: "The review lacks what verify needs",
    meaning: "The review was made without an inventory or without an update plan.",
    look: "The message names the document that the review lacks.",
    fix: "Review again with that document: `review --inventory … --plan …`.",
  },
  PP6007: {
    title: "The state cannot be merged",
    meaning:
      "The export or the preview has an open operation, a secret that is not set, or resources that do not match.",
    look: "The message has a line for each problem.",
    fix: "Correct each one and run adopt again. Nothing was imported.",
  },
  PP6008: {
    title: "The state of Terraform has nothing to adopt",
    meaning: "It manages no object of the platform, or those of several organisations.",
    look: "`terraform state list` shows what it manages.",
    fix: "Give the state that manages the platform, and the organisation with `--root`.",
  },
  PP6009: {
    title: "A document is over a limit",
    meaning:
      "A name, a key, a list or the whole document is larger than what is read. No program that people write needs it.",
    look: "The message names the place, its size and the limit. [Limits](review.md#limits-of-what-is-read) lists them all.",
    fix: "Write a shorter name, or split the resource or the stack. If a generator made the value, look where it comes from.",
  },
  PP6101: {
    title: "The policy file is wrong",
    meaning:
      "The file is no valid YAML, or does not have the form of its schema. No suppression of it applies.",
    look: "The message has a line for each mistake, with file, line and path. Editors show them by the schema.",
    fix: "Correct each line. [Review](review.md) describes the file.",
  },
  PP6102: {
    title: "A file of own rules is wrong",
    meaning:
      "The file of `--rules` cannot be loaded, a rule of it is not as `defineRule` takes it, or the change that is reviewed edits it.",
    look: "The message names the file, the rule and the property. `npx --no pulumi-platform explain --rules FILE` loads the file alone.",
    fix: "Correct the rule. [Rules of your own](own-rules.md) describes the file.",
  },
} as const satisfies CodeTable;

/** Posting to GitHub and GitLab, events, the emulator, and what nobody expected. */
export const integrationCodes = {
  PP7001: {
    title: "No token to post with",
    meaning: "The job has no token of the host, or the host does not say whose it is.",
    look: "The message names the variable.",
    fix: "Pass the token: `env: GITHUB_TOKEN: ${{ github.token }}`, or `GITLAB_TOKEN`. See [CI](ci.md).",
  },
  PP7002: {
    title: "The job is about no pull or merge request",
    meaning: "The variables of the job name no request to post to.",
    look: "`env | grep -E 'GITHUB_|CI_MERGE'` in the job shows them.",
    fix: "Run the command in a job for `pull_request` or for merge requests, or leave `--post` out.",
  },
  PP7003: {
    title: "A variable of the host has a wrong value",
    meaning: "The repository, or the address of the host's API, has another form than the host sets.",
    look: "The message names the variable.",
    fix: "Unset it, or give the value as the message says.",
  },
  PP7004: {
    title: "The host refused the comment",
    meaning: "GitHub or GitLab responded with an error, or with something that is not its API.",
    look: "The message has the status and the reason of the host.",
    fix: "Give the token the permission to write comments. For pull requests of forks, see [CI](ci.md).",
  },
  PP7005: {
    title: "The step has no summary to write",
    meaning: "`--summary` works only in a step of GitHub Actions, and only while its summary has room.",
    look: "`echo $GITHUB_STEP_SUMMARY` in the step shows the file.",
    fix: "Leave `--summary` out, or run the command in GitHub Actions.",
  },
  PP7006: {
    title: "The review in CI is not set up as its pages ask",
    meaning:
      "`doctor --ci` found a file or a setting that lets a change pass without its review, or lets no job run.",
    look: "The line names what it is. The line below it is the command that mends it.",
    fix: "Run that command, then `npx --no pulumi-platform doctor --ci` again. [GitHub](tasks/review-in-github.md) and [GitLab](tasks/review-in-gitlab.md) say why.",
  },
  PP8001: {
    title: "A request is no event",
    meaning:
      "Its method, headers or body are not those of an event of the platform. The receiver responds with 400, 405, 408 or 413.",
    look: "The message names the header or the part. A gateway in between may have changed the request.",
    fix: "Send events in binary mode, with the headers and the body unchanged.",
  },
  PP8002: {
    title: "An event was refused",
    meaning: "Its signature, issuer, group, body or time does not match. The receiver responds with 401.",
    look: "The message names the part. Compare issuer and group with those of the subscription.",
    fix: "Pass the raw body, and correct issuer or group. Check the clock of this machine.",
  },
  PP8003: {
    title: "The keys of the issuer cannot be fetched",
    meaning: "The event could not be checked. The receiver responds with 503, and it is delivered again.",
    look: "`curl <issuer>/.well-known/openid-configuration` from the same machine.",
    fix: "Correct the issuer, or allow the receiver to reach it.",
  },
  PP8004: {
    title: "verifyEvent was called with wrong arguments",
    meaning:
      "The body, the headers or an option of verifyEvent or createEventHandler has the wrong type or form.",
    look: "The message names the argument. [Events](events.md) has an example.",
    fix: "Correct the call.",
  },
  PP8005: {
    title: "An event could not be handled",
    meaning:
      "The event is verified, and onEvent of createEventHandler threw. The receiver responds with 503, and the event is delivered again.",
    look: "The message is that of the error.",
    fix: "Correct what onEvent does.",
  },
  PP8101: {
    title: "An option of the emulator has a wrong value",
    meaning: "The value is not of the form that the option needs.",
    look: "`npx --no pulumi-platform emulator --help` shows all options.",
    fix: "Give a value as the message says.",
  },
  PP8102: {
    title: "The emulator cannot start or save",
    meaning:
      "The address is taken, or the data file cannot be read or written, or was not written by the emulator.",
    look: "The message names the file or the address. `ss -ltnp` lists the processes that listen.",
    fix: "Give another `--port` or another `--data` file. A broken file is left as it is.",
  },
  PP9001: {
    title: "Unexpected error",
    meaning: "Something failed that this package does not know.",
    look: "Run again with `PLATFORM_LOG=debug`. `npx --no pulumi-platform doctor` checks what it needs.",
    fix: "If it stays, report it with the message, the command and the version: `npx --no pulumi-platform --version`.",
  },
} as const satisfies CodeTable;

/*
 * Every error code. Code names them in strings and imports only types from here: the texts are loaded by `explain` alone.
 * A code never changes its meaning, and the number of a code that is no longer used is never used again.
 */

const families = {
  "Programs and arguments": programCodes,
  "Settings, credentials and the connection": connectionCodes,
  "Responses of the server": serverCodes,
  "Resources that are written": resourceCodes,
  "Arguments of commands": commandCodes,
  "Documents that commands read": documentCodes,
  "Posting, events and the emulator": integrationCodes,
} as const;

type Families = typeof families;

/** The code of an error message. */
export type ErrorCode = { [Family in keyof Families]: keyof Families[Family] }[keyof Families];

/** The codes of each family, in the order of the documents. */
export const codeFamilies: readonly (readonly [string, readonly ErrorCode[]])[] = Object.entries(
  families,
).map(([name, codes]) => [name, Object.keys(codes) as ErrorCode[]]);

export const errorCodes = Object.assign({}, ...Object.values(families)) as Readonly<
  Record<ErrorCode, CodeDescription>
>;
