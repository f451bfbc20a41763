import { withCode } from "../errors/codedError";
import type { CodedError } from "../errors/codedError";
import { printable } from "../text/printable";
import { checkInputs, describeWrongArgument } from "../fields/check";
import { diffInputs } from "../fields/diff";
import { createOnlyOutputs } from "../fields/resourceSpec";
import type { Failure, ResourceSpec, WrongArguments } from "../fields/resourceSpec";
import { UNCONFIRMED, WRONG_ARGUMENTS } from "../fields/values";
import type { Props } from "../fields/values";
import { createKindContext } from "./context";
import type { HandlerContext, KindContext } from "./context";
import { createResource } from "./create";
import type { CreateResult } from "./create";
import { deleteResource } from "./delete";
import { readResource } from "./read";
import type { ReadResult } from "./read";
import { updateResource } from "./update";

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
  constructor(
    private readonly kind: KindContext,
    private readonly now: () => number,
  ) {}

  check(olds: Props, news: Props): Failure[] {
    const { spec, program } = this.kind;
    const failures = [
      ...program.recordCheck(spec, news),
      ...checkInputs(spec, news, { olds, now: this.now() }),
    ];
    // A message may quote a key or a pattern of the program, and the engine prints it unchanged.
    return failures.map(({ property, reason, code }) => ({
      property: printable(property),
      reason: printable(reason, 2000),
      code,
    }));
  }

  /** `id`: of the resource that the engine compares. */
  diff(olds: Props, news: Props, id?: string): DiffResult {
    const { spec, program } = this.kind;
    const { changed, replaces } = diffInputs(spec, olds, news);
    // What is returned only at creation, and was lost then, comes with another object only.
    const lost = createOnlyOutputs(spec).filter((key) => olds[key] === undefined);
    const difference = { changed: changed || lost.length > 0, replaces: [...replaces, ...lost] };
    if (id !== undefined) program.recordDiff(spec, id, olds, news, difference);
    const isConfirmed = olds[UNCONFIRMED] !== true;
    const deletesFirst = spec.deletion?.beforeReplace && !difference.replaces.includes("parentUid");
    return {
      changes: difference.changed ? lost.length > 0 || !isConfirmed || undefined : false,
      replaces: difference.replaces,
      ...(deletesFirst ? { deleteBeforeReplace: true } : {}),
    };
  }

  async create(inputs: Props): Promise<CreateResult> {
    const { spec, program } = this.kind;
    const created = await this.recordFailure(() => createResource(this.kind, inputs));
    program.recordCreate(spec, created.id, inputs);
    return created;
  }

  read(id: string, olds: Props): Promise<ReadResult> {
    return readResource(this.kind.reader, id, olds);
  }

  update(id: string, olds: Props, news: Props): Promise<Props> {
    const { spec, program, mutex } = this.kind;
    program.recordUpdate(spec, id);
    return this.recordFailure(() => mutex.runExclusive(id, () => updateResource(this.kind, id, olds, news)));
  }

  delete(id: string, olds: Props): Promise<void> {
    return deleteResource(this.kind, id, olds);
  }

  private async recordFailure<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      this.kind.program.hasFailure = true;
      throw error;
    }
  }
}

/** What the engine prints of an argument that is wrong; the reason ends with its code. */
export interface EngineFailure {
  readonly property: string;
  readonly reason: string;
}

/** Failures as the engine prints them: beside a property that has no value of its own it would print `{<nil>}`. */
function toEngineFailures(failures: readonly Failure[], inputs: Props): EngineFailure[] {
  return failures.map(({ property, reason, code }) =>
    property === "" || Object.hasOwn(inputs, property)
      ? { property, reason: withCode(reason, code) }
      : { property: "", reason: withCode(`${property} ${reason}`, code) },
  );
}

/**
 * Checks the arguments that the engine sends, which a program may have checked before. The engine ends it at the first
 * resource that is refused, so that one says what the program found: about all its resources, each with its line. It
 * also says which setting is wrong, without which no request can be sent.
 */
export function checkProgramArguments(
  handlers: Handlers,
  olds: Props,
  { [WRONG_ARGUMENTS]: found, ...inputs }: Props,
  wrongSetting?: CodedError,
): { inputs: Props; failures: EngineFailure[] } {
  if (wrongSetting !== undefined) {
    const { message, errorCode } = wrongSetting;
    return { inputs, failures: [{ property: "", reason: withCode(printable(message, 2000), errorCode) }] };
  }
  const failures = handlers.check(olds, inputs);
  if (found === undefined) return { inputs, failures: toEngineFailures(failures, inputs) };
  const { absent = [], lines, ...ofProgram } = found as unknown as WrongArguments;
  const recorded = JSON.stringify(olds);
  const own = [...ofProgram.own, ...absent.filter(({ uid }) => !recorded.includes(JSON.stringify(uid)))];
  // The program decides nothing that the provider can check, which also knows what the state records.
  if (failures.length === 0 && own.length === 0) return { inputs, failures: [] };
  const unsaid = failures.filter(
    (failure) =>
      !lines.some((line) => line.includes(describeWrongArgument(failure))) &&
      !own.some(({ property, code }) => property === failure.property && code === failure.code),
  );
  const reason =
    lines.length === 1 ? (lines[0] ?? "") : ["wrong arguments of this program:", ...lines].join("\n  ");
  return { inputs, failures: [{ property: "", reason }, ...toEngineFailures(unsaid, inputs)] };
}

export type Handlers = Pick<KindHandlers, keyof KindHandlers>;

export function handlersFor(spec: ResourceSpec, context: HandlerContext): Handlers {
  return new KindHandlers(createKindContext(spec, context), context.now);
}
