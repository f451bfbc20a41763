import { CodedError, errorCodeOf, errorMessage, withCode } from "../errors/codedError";
import type { ErrorCode } from "../errors/registry";
import { ApiError, describeDetails, describeWait } from "../http/errors";
import { logLines, printable, registerCredential } from "../text/printable";
import { adviseOnNames, holdsNames } from "../fields/enumNames";
import { referredKindOf } from "../fields/fieldSpec";
import type { FieldSpec } from "../fields/fieldSpec";
import type { ResourceSpec } from "../fields/resourceSpec";
import type { Props } from "../fields/values";
import { mapSecrets } from "../fields/walk";
import { wireName } from "../fields/wire";

/** For the kinds: they act on what an error means, and never see the client. */
export { ConnectionError, hasUnknownOutcome, isNotFound } from "../http/errors";

/**
 * A sentence for a person; the error behind it is the `cause`. The engine prints stacks, so its stack is a sentence, too.
 * Parts that are harmless alone may be joined to a command to a CI runner, so the whole message is checked again.
 */
export class HandlerError extends CodedError {
  override readonly name = "HandlerError";

  constructor(errorCode: ErrorCode, message: string, cause?: unknown) {
    super(errorCode, logLines(message), { cause });
    this.stack = "see the error of the resource";
  }

  /**
   * The engine's Node process prints this and, after a colon, the stack of a check, diff, read or delete that failed, beside the
   * error of the resource.
   */
  override toString(): string {
    const [what = ""] = this.message.split(/[:\n]/, 1);
    return what;
  }
}

/** The resource exists, but something after its making failed: nothing may lose its uid. */
export class PartialFailure extends HandlerError {
  constructor(
    errorCode: ErrorCode,
    readonly id: string,
    readonly properties: Props,
    /** The engine prints these in place of the message. */
    public reasons: readonly string[],
  ) {
    super(errorCode, reasons.join("\n"));
  }
}

/** Remembers the secrets among the properties of a resource, so that no message repeats one that a server quotes. */
export function registerSecretsOf(spec: ResourceSpec, ...properties: readonly Props[]): void {
  for (const props of properties) {
    mapSecrets({ ...spec.fields, ...spec.outputs }, props, (secret) => {
      if (typeof secret === "string") registerCredential(secret);
      return secret;
    });
  }
}

/** Ends what the engine prints of an error with its code. */
function showCode<E extends HandlerError>(error: E): E {
  error.message = withCode(error.message, error.errorCode);
  if (error instanceof PartialFailure) {
    error.reasons = error.reasons.map((reason, i, all) =>
      i === all.length - 1 ? withCode(reason, error.errorCode) : reason,
    );
  }
  return error;
}

/**
 * Runs an operation of a resource with these properties. Whatever leaves the process as an error is one of ours, with its
 * code: the engine prints stacks, and stores an error that happens to have an `id` as a created resource.
 */
export async function guardErrors<T>(
  spec: ResourceSpec,
  properties: readonly Props[],
  action: () => Promise<T> | T,
): Promise<T> {
  try {
    registerSecretsOf(spec, ...properties);
    return await action();
  } catch (error) {
    throw showCode(error instanceof HandlerError ? error : explain(spec, spec.noun, error, []));
  }
}

/** A resource in the words of messages: `group "team"`. */
export function labelResource(spec: ResourceSpec, inputs: Props): string {
  const name = inputs["name"];
  return typeof name === "string" ? `${spec.noun} "${printable(name, 80)}"` : spec.noun;
}

const camel = (segment: string): string =>
  segment.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** A field of the API, in either spelling, as the property of a program. */
export function propertyOf(spec: ResourceSpec, field: string): string {
  let fields: Readonly<Record<string, FieldSpec>> = spec.fields;
  const singular = camel(spec.kind.charAt(0).toLowerCase() + spec.kind.slice(1));
  const segments = field.split(".");
  if (segments.length > 1 && camel(segments[0] ?? "") === singular) segments.shift();
  let isKey = false;
  return segments
    .map((segment) => {
      if (isKey) return segment;
      const [, word = segment, index = ""] = /^([^[]*)(.*)$/s.exec(segment) ?? [];
      const key = Object.keys(fields).find((name) => {
        const inner = fields[name];
        return inner !== undefined && camel(wireName(name, inner)) === camel(word);
      });
      const inner = key === undefined ? undefined : fields[key];
      fields = inner?.type === "object" ? inner.fields : {};
      isKey = inner?.type === "map";
      return `${key ?? camel(word)}${index}`;
    })
    .join(".");
}

function hintFor(spec: ResourceSpec, error: ApiError): string | undefined {
  if (error.details.missingTerms.length > 0) {
    const ids = error.details.missingTerms.map(({ id }) => id);
    return `read these documents, accept them with a TermsAcceptance with documentIds ${JSON.stringify(ids)}, and add it to dependsOn of this resource`;
  }
  if (error.advice !== undefined && error.code !== "RESOURCE_EXHAUSTED") return error.advice;
  switch (error.code) {
    case "PERMISSION_DENIED":
      return (
        spec.refusalHint ??
        "the identity behind the token lacks a role there that grants this, or the parent does not exist; docs/least-privilege.md of the package says what each kind needs"
      );
    case "RESOURCE_EXHAUSTED":
      return `the server limits requests: lower platform:maxConcurrency, or run again later${describeWait(error)}`;
    case "FAILED_PRECONDITION":
      return error.details.preconditions.some(({ type }) => type === "RESOURCE_NOT_EMPTY")
        ? "delete what is below it first"
        : spec.preconditionHint;
    default:
      return undefined;
  }
}

const withIndented = (head: string, lines: readonly string[]): string =>
  [head, ...lines.map((line) => `  ${line}`)].join("\n");

/**
 * A complete error: what failed, code and status, a line for each detail, one line of advice.
 * @param listsBlockers whether the notes name all that keeps a resource from being deleted
 */
export function explain(
  spec: ResourceSpec,
  what: string,
  error: unknown,
  notes: readonly string[],
  listsBlockers = false,
): HandlerError {
  if (error instanceof HandlerError) return error;
  if (!(error instanceof ApiError)) {
    return new HandlerError(
      errorCodeOf(error),
      withIndented(`${what}: ${errorMessage(error)}`, notes),
      error,
    );
  }
  const { reason } = error.details;
  // The server's message says them as well.
  const repeated = error.details.preconditions.filter(
    ({ description }) => description !== "" && error.serverMessage.includes(description),
  );
  const isListed = listsBlockers && repeated.some(({ type }) => type === "RESOURCE_NOT_EMPTY");
  // The violations say the same as the server's message, in the program's words.
  const hasViolations = error.details.fieldViolations.length > 0;
  const isRepeated = (line: string): boolean =>
    (isListed || !hasViolations) && repeated.some(({ description }) => line.endsWith(`: ${description}`));
  const ofServer = [
    ...describeDetails(error, (field) => propertyOf(spec, field)).filter((line) => !isRepeated(line)),
    ...(reason === "" || reason === error.code ? [] : [`reason: ${reason}`]),
  ];
  // What is known of wrong arguments comes first: the server only saw what was left of them.
  const lines = error.code === "INVALID_ARGUMENT" ? [...notes, ...ofServer] : [...ofServer, ...notes];
  const hint = hintFor(spec, error);
  if (hint !== undefined) lines.push(hint);
  if (error.requestId !== "") lines.push(`request id: ${printable(error.requestId)}`);
  const said = hasViolations ? "" : error.serverMessage;
  const summary = isListed ? "it is not empty" : said;
  const message = summary === "" ? "" : `: ${summary}`;
  const head = `${what}: ${error.code} (HTTP ${error.status})${message}`;
  return new HandlerError(error.errorCode, withIndented(head, lines), error);
}

/** What a program's own values say of a refusal, a line each: names that nobody knows, and a parent that is not there. */
export function adviseOnRefusal(spec: ResourceSpec, inputs: Props, error: unknown): string[] {
  if (!(error instanceof ApiError)) return [];
  if (error.code === "INVALID_ARGUMENT") {
    return Object.entries(spec.fields).flatMap(([key, field]) =>
      holdsNames(field) ? adviseOnNames(field, inputs[key]).map((advice) => `${key}: ${advice}`) : [],
    );
  }
  const { resourceName } = error.details.resource ?? {};
  const isParent = error.code === "NOT_FOUND" && resourceName === inputs["parentUid"];
  if (!isParent || !("parentUid" in inputs)) return [];
  const parent = (spec.fields["parentUid"] && referredKindOf(spec.fields["parentUid"])) ?? "Group";
  const root = parent === "Group" ? "; doctor prints those of the root groups" : "";
  return [
    `parentUid: no ${parent} that the token may see has this uid; if this program made it, it was deleted since: run pulumi up --refresh${root}`,
  ];
}

/** Runs an action; its error names what was being done. */
export async function explainFailure<T>(
  spec: ResourceSpec,
  what: string,
  action: () => Promise<T>,
  notesOn: (error: unknown) => readonly string[] = () => [],
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw explain(spec, what, error, notesOn(error));
  }
}
