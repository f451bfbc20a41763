import { withCode, hasCode } from "../errors/codedError";
import type { CodedError } from "../errors/codedError";
import { checkInputs, describeWrongArgument } from "../fields/check";
import { diffInputs } from "../fields/diff";
import { identityKey, createOnlyOutputs, aggregatedKind } from "../fields/resourceSpec";
import { mergeLive, outputsFor } from "../fields/mergeLive";
import { applyUpdate, buildPatch, changedSubresources, writesInputOnly } from "../fields/patch";
import type { Patch } from "../fields/patch";
import type { Failure, ResourceSpec, WrongArguments, Dependents } from "../fields/resourceSpec";
import { isRefreshed, REFRESHED } from "../fields/refreshed";
import { isObject, UNCONFIRMED, WRONG_ARGUMENTS } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { readOutputs } from "../fields/wire";
import { ApiError, isNotFound } from "../http/errors";
import { tryParseJson } from "../text/plain";
import { printable } from "../text/printable";
import { createKindContext } from "./context";
import type { HandlerContext, KindContext } from "./context";
import { createResource } from "./create";
import type { CreateResult } from "./create";
import {
  adviseOnRefusal,
  explainFailure,
  labelResource,
  explain,
  HandlerError,
  PartialFailure,
} from "./messages";
import { readResource } from "./read";
import type { ReadResult } from "./read";
import { confirm, finishWrite } from "./verifyWrite";
import type { Write, WriteComparison } from "./verifyWrite";

export interface DiffResult {
  /**
   * False: no difference. Undefined: the engine compares the inputs and shows each property. True: the recorded inputs
   * are not the real ones after a failure, so the engine would find no difference.
   */
  readonly changes: boolean | undefined;
  readonly replaces: string[];
  readonly deleteBeforeReplace?: true;
}

/** The operations of one kind over plain values. No I/O in `check` and `diff`: the engine calls those one at a time. */
class KindHandlers {
  constructor(private readonly kind: KindContext) {}

  check(olds: Props, news: Props): Failure[] {
    const { spec, record, now } = this.kind;
    const failures = [...record.recordCheck(spec, news), ...checkInputs(spec, news, { olds, now: now() })];
    // A message may quote a key or a pattern of the program, and the engine prints it unchanged.
    return failures.map(({ property, reason, code }) => ({
      property: printable(property),
      reason: printable(reason, 2000),
      code,
    }));
  }

  /** `id`: of the resource that the engine compares. */
  diff(olds: Props, news: Props, id?: string): DiffResult {
    const { spec, record } = this.kind;
    const { changed, replaces } = diffInputs(spec, olds, news);
    // What is returned only at creation, and was lost then, comes with another object only.
    const missing = createOnlyOutputs(spec).filter((key) => olds[key] === undefined);
    const difference = { changed: changed || missing.length > 0, replaces: [...replaces, ...missing] };
    if (id !== undefined) record.recordDiff(spec, id, olds, news, difference);
    const isConfirmed = olds[UNCONFIRMED] !== true;
    const deletesFirst = spec.deletion?.beforeReplace && !difference.replaces.includes("parentUid");
    return {
      // The update of what is only marked sends nothing. It makes a change of the program, in a review too, of what it takes over.
      changes: difference.changed ? missing.length > 0 || !isConfirmed || undefined : isRefreshed(olds),
      replaces: difference.replaces,
      ...(deletesFirst ? { deleteBeforeReplace: true } : {}),
    };
  }

  async create(inputs: Props): Promise<CreateResult> {
    const { spec, record } = this.kind;
    const created = await this.recordFailure(() => createResource(this.kind, inputs));
    record.recordCreate(spec, created.id, inputs);
    return created;
  }

  read(id: string, olds: Props): Promise<ReadResult> {
    return readResource(this.kind.reader, id, olds);
  }

  update(id: string, olds: Props, news: Props): Promise<Props> {
    const { spec, record, mutex } = this.kind;
    record.recordUpdate(spec, id);
    return this.recordFailure(() =>
      mutex.runExclusive(id, () => updateResource(this.kind, id, olds, news)),
    ).catch((error: unknown) => {
      // What is left as it was is still what a refresh has recorded.
      if (error instanceof PartialFailure && isRefreshed(olds))
        Object.assign(error.properties, { [REFRESHED]: olds[REFRESHED] });
      throw error;
    });
  }

  delete(id: string, olds: Props): Promise<void> {
    return deleteResource(this.kind, id, olds);
  }

  private async recordFailure<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      this.kind.record.hasFailure = true;
      throw error;
    }
  }
}

/** What the engine prints of an argument that is wrong; the reason ends with its code. */
export interface EngineFailure {
  readonly property: string;
  readonly reason: string;
}

/** So short a text is no secret, and may be a part of any word. */
const MIN_SECRET = 4;

/** The texts in a value that may be secret. */
function textsIn(value: Json | undefined): string[] {
  if (isObject(value) || Array.isArray(value)) return Object.values(value).flatMap(textsIn);
  return typeof value === "string" && value.length >= MIN_SECRET ? [value] : [];
}

/** What a reason quotes: JSON texts, and what a parser of patterns puts between backquotes. Its end may be cut. */
const QUOTED = /"(?:[^"\\]|\\.)*(?:"|$)|`[^]*`|`[^]*$/gs;

/** A reason without what it quotes of a value, whole or in part. */
function withoutValue(reason: string, value: Json | undefined): string {
  const texts = textsIn(value);
  const isOfValue = (quoted: string): boolean =>
    quoted !== "" && texts.some((text) => text.includes(quoted) || quoted.includes(text));
  return reason.replace(QUOTED, (part) => {
    const [mark = ""] = part;
    const quoted = mark === "`" ? part.slice(1).replace(/`$/, "") : tryParseJson(part);
    // What was cut, or escaped once more, may be of any value.
    const isHidden = typeof quoted === "string" ? isOfValue(quoted.replace(/…$/, "")) : texts.length > 0;
    return isHidden ? `${mark}…${mark}` : part;
  });
}

/**
 * Failures as the engine prints them. Beside a property it would print the value, also of what a program calls a secret.
 * @param hidden the values of properties that may be secret
 */
const toEngineFailures = (failures: readonly Failure[], hidden: Props): EngineFailure[] =>
  failures.map(({ property, reason, code }) => ({
    property: "",
    reason: withCode(
      `${property} ${withoutValue(reason, hidden[property.replace(/[.[].*$/s, "")])}`.trimStart(),
      code,
    ),
  }));

/**
 * Checks the arguments that the engine sends, which a program may have checked before. The engine ends it at the first
 * resource that is refused, so that one says what the program found: about all its resources, each with its line. It
 * also says which setting is wrong, without which no request can be sent.
 *
 * @param isHidden whether the value of a property may be a secret, which no reason quotes
 */
export function checkProgramArguments(
  handlers: Handlers,
  olds: Props,
  { [WRONG_ARGUMENTS]: found, ...inputs }: Props,
  wrongSetting: CodedError | undefined,
  isHidden: (property: string) => boolean,
): { inputs: Props; failures: EngineFailure[] } {
  if (wrongSetting !== undefined) {
    const { message, errorCode } = wrongSetting;
    // The error of a lookup ends the program; what comes after a caught one needs a request, and fails with the same words.
    if ((found as WrongArguments | undefined)?.wrongSetting === errorCode) return { inputs, failures: [] };
    return { inputs, failures: [{ property: "", reason: withCode(printable(message, 2000), errorCode) }] };
  }
  const failures = handlers.check(olds, inputs);
  const hidden = Object.fromEntries(Object.entries(inputs).filter(([property]) => isHidden(property)));
  if (found === undefined) return { inputs, failures: toEngineFailures(failures, hidden) };
  const { own, lines, said = [] } = found as unknown as WrongArguments;
  // The program decides nothing that the provider can check, which also knows what the state records.
  if (failures.length === 0 && own.length === 0) return { inputs, failures: [] };
  const unsaid = failures.filter(
    (failure) =>
      !lines.some((line) => line.includes(describeWrongArgument(failure))) &&
      ![...own, ...said].some(
        ({ property, code }) => printable(property) === failure.property && code === failure.code,
      ),
  );
  const reason =
    lines.length === 1 ? (lines[0] ?? "") : ["wrong arguments of this program:", ...lines].join("\n  ");
  return { inputs, failures: [{ property: "", reason }, ...toEngineFailures(unsaid, hidden)] };
}

export type Handlers = Pick<KindHandlers, keyof KindHandlers>;

export function handlersFor(spec: ResourceSpec, context: HandlerContext): Handlers {
  return new KindHandlers(createKindContext(spec, context));
}

/** What was removed at the server is created again once a refresh has found that out. */
function hintOnGone(error: unknown, addressAdvice: string): string[] {
  return isNotFound(error) ? [`if it was removed, run pulumi up --refresh; otherwise ${addressAdvice}`] : [];
}

/** Changes a resource, and returns its outputs. @throws PartialFailure where the server did not apply the change */
async function updateResource(kind: KindContext, id: string, recorded: Props, news: Props): Promise<Props> {
  const { spec, client, host } = kind;
  const olds = recorded[UNCONFIRMED] === true ? await readUnconfirmed(kind, id, recorded) : recorded;
  const patch = buildPatch(spec, olds, news);
  const subresources = changedSubresources(spec, olds, news);
  if (patch.mask.length === 0 && subresources.length === 0) {
    return { ...outputsFor(spec, news, {}, olds), ...readOutputs(spec, {}, id, olds) };
  }
  const write = { id, olds, news };
  const what = `updating ${labelResource(spec, news)} ${id} (${[...patch.mask, ...subresources].join(", ")})`;
  return explainFailure(
    spec,
    what,
    async () => {
      if (patch.mask.length === 0) return finishWrite(kind, write, undefined, olds);
      const { update, writeWhole } = spec.operations ?? {};
      const response = update
        ? await update(client(), id, olds, news, host)
        : await writeWhole?.(client(), applyUpdate(spec, await readLive(kind, id, news), olds, news));
      const comparison =
        response === undefined ? await sendPatch(kind, write, patch) : await confirm(kind, write, response);
      const known = readOutputs(spec, (response ?? comparison.response) as Props, id, olds);
      return finishWrite(kind, write, comparison, known);
    },
    (error) => [...hintOnGone(error, client().addressAdvice), ...adviseOnRefusal(spec, news, error)],
  );
}

/** The properties of a resource that was created, and could not be read then. */
async function readUnconfirmed({ spec, reader }: KindContext, id: string, recorded: Props): Promise<Props> {
  return explainFailure(spec, `reading ${labelResource(spec, recorded)} ${id}`, async () => {
    const response = await reader.get(id, recorded);
    const { outs } = mergeLive(spec, recorded, reader.parseInputs(response, id));
    return { ...outs, ...readOutputs(spec, response as Props, id, recorded) };
  });
}

/** The inputs that the server has: a write of the whole object keeps those that the program does not change. */
async function readLive({ reader }: KindContext, id: string, news: Props): Promise<Props> {
  return reader.parseInputs(await reader.get(id, news), id);
}

/**
 * Sends a PATCH with its mask; without the mask where the server refuses, or ignores, masks in camelCase, and where no
 * response would show that it did.
 */
async function sendPatch(kind: KindContext, write: Write, { body, mask }: Patch): Promise<WriteComparison> {
  const { id, olds = {}, news } = write;
  const client = kind.client();
  const address = client.resourcePath(kind.spec.collection, id);
  const send = async (sent?: readonly string[]) =>
    confirm(kind, write, await client.patchAt(address, body, sent));
  const isMultiWord = mask.some((path) => /[A-Z]/.test(path));
  if (isMultiWord && (client.infersMasks || writesInputOnly(kind.spec, olds, news))) return send();
  let refusal: unknown;
  try {
    const comparison = await send(mask);
    if (!isMultiWord || comparison.unapplied.length === 0) return comparison;
  } catch (error) {
    // The usual field-mask library refuses camelCase.
    if (!isMultiWord || !hasCode(error, "INVALID_ARGUMENT")) throw error;
    refusal = error;
  }
  // The same body implies the same mask.
  const comparison = await send().catch((second: unknown) => {
    const isLessPrecise = second instanceof ApiError && second.details.fieldViolations.length === 0;
    throw refusal !== undefined && isLessPrecise && hasCode(second, "INVALID_ARGUMENT") ? refusal : second;
  });
  client.infersMasks ||= comparison.unapplied.length === 0;
  return comparison;
}

/** Most names that a message lists. */
const MAX_NAMES = 10;

/** Deletes the object of a resource, unless another resource of the program owns it by now. */
async function deleteResource(kind: KindContext, id: string, olds: Props): Promise<void> {
  const { spec, record, host, mutex, client, reader } = kind;
  const name = `${labelResource(spec, olds)} ${id}`;
  if (record.hasFailure) {
    throw new HandlerError(
      "PP4010",
      `${name} is not deleted, because another step of this run failed and may be about the same object: fix that step and run again`,
    );
  }
  if (isRetained(kind, id, olds)) {
    host.warn(
      `${name} stays: another resource of this program manages it now, so it is only removed from the state`,
    );
    return;
  }
  // A delete of what is not there may succeed, so a server without the organisation would look like success.
  await explainFailure(spec, `deleting ${name}`, () => reader.requireOrganisation(id, `deleting ${name}`));
  try {
    const ownDelete = spec.operations?.delete;
    await mutex.runExclusive(id, () =>
      ownDelete ? ownDelete(client(), id, olds, host) : client().delete(spec.collection, id),
    );
  } catch (error) {
    if (!isNotFound(error)) {
      const isBlocked = hasCode(error, "FAILED_PRECONDITION");
      const dependents = isBlocked ? await describeDependents(kind, id) : undefined;
      throw explain(spec, `deleting ${name}`, error, dependents?.notes ?? [], dependents?.areAllListed);
    }
  }
}

/** Whether another resource of the program owns the same object. */
function isRetained({ spec, record }: KindContext, id: string, olds: Props): boolean {
  if (spec.retainedBy?.(olds).some((key) => record.isDeclared(key))) return true;
  // The delete of an aggregate keeps the parts that another resource declares.
  if (aggregatedKind(spec) !== undefined) return false;
  const identity = identityKey(spec, olds);
  return (identity !== undefined && record.isDeclared(identity)) || record.isOwned(spec.kind, id, olds);
}

/** What a refused delete would leave without a parent. */
interface DependentNotes {
  /** A line for each list. */
  readonly notes: readonly string[];
  /** Whether there are some, and every list was read. */
  readonly areAllListed: boolean;
}

async function describeDependents(kind: KindContext, id: string): Promise<DependentNotes> {
  const notes: string[] = [];
  let isRefused = false;
  for (const dependents of kind.spec.deletion?.dependents ?? []) {
    try {
      const names = await listDependents(kind, id, dependents);
      if (names.length > 0) notes.push(`${dependents.noun}: ${names.join(", ")}`);
    } catch {
      isRefused = true;
      notes.push(`${dependents.noun}: could not be listed`);
    }
  }
  return { notes, areAllListed: notes.length > 0 && !isRefused };
}

async function listDependents(
  { client }: KindContext,
  id: string,
  { collection, parameter }: Dependents,
): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, uid } of client().list(collection, { [parameter]: id })) {
    if (names.length === MAX_NAMES) return [...names, "…"];
    const quoted = typeof name === "string" && name !== "" ? `"${printable(name, 80)}" ` : "";
    names.push(`${quoted}${printable(String(uid))}`);
  }
  return names;
}
