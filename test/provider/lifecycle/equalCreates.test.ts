import type { Client } from "../../../provider/http/client";
import { ConnectionError } from "../../../provider/http/errors";
import { KeyedMutex } from "../../../provider/lifecycle/context";
import { PartialFailure } from "../../../provider/lifecycle/messages";
import { ProgramRecord } from "../../../provider/lifecycle/programRecord";
import type { Props } from "../../../provider/fields/values";
import { handlersAt } from "../support/handlerStack";
import { ROOT_UID } from "../support/samples";

/* Equal resources that are created at once, some without a response, and what arrives late at any of the steps. */

const FATES = ["answered", "lost after its effect", "lost before its effect", "never arrives"] as const;
/** What becomes of the first send of a create; later ones are answered. */
type Fate = (typeof FATES)[number];

/** A search takes a step each, and so does a wait: what is lost before its effect arrives within these, or after all. */
const STEPS = 10;

// eslint-disable-next-line @typescript-eslint/require-await -- as the client returns a list
async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** What a server holds, and which of that a create has seen that may have made it. */
class LossyServer {
  readonly objects = new Map<string, Props>();
  readonly seen = new Set<string>();
  readonly sends: number[] = [];
  private readonly late: { readonly step: number; readonly body: Props }[] = [];
  private step = 0;

  /** @param arrivals the step at which the send of each create arrives that is lost before its effect */
  constructor(
    private readonly fates: readonly Fate[],
    private readonly arrivals: readonly number[],
  ) {}

  private make(body: Props): Props {
    const uid = `${ROOT_UID}/${(this.objects.size + 1).toString(16).padStart(16, "0")}`;
    const object = { ...body, uid, createTime: new Date().toISOString() };
    this.objects.set(uid, object);
    return object;
  }

  advance(): void {
    this.step += 1;
    for (const { body } of this.late.filter(({ step }) => step === this.step)) this.make(body);
  }

  create(creator: number, body: Props): Props {
    this.sends[creator] = (this.sends[creator] ?? 0) + 1;
    const fate = this.sends[creator] === 1 ? this.fates[creator] : "answered";
    if (fate === "lost before its effect")
      this.late.push({ step: this.step + (this.arrivals[creator] ?? 0), body });
    const object = fate === "answered" || fate === "lost after its effect" ? this.make(body) : {};
    if (fate === "answered") return object;
    throw new ConnectionError("PP2103", "the connection was reset", "unknown", true);
  }

  list({ description }: Props): Props[] {
    this.advance();
    for (const [uid, object] of this.objects)
      if (description === undefined || object["description"] === description) this.seen.add(uid);
    return [...this.objects.values()];
  }

  clientOf(creator: number, inputs: Props): Client {
    const client: Partial<Client> = {
      serverNow: () => Date.now(),
      timeSinceCreation: () => undefined,
      noteCreated: () => undefined,
      create: (_collection, _parent, body) =>
        Promise.resolve().then(() => this.create(creator, body as Props)),
      list: () => iterate(this.list(inputs)),
    };
    return client as Client;
  }
}

interface Outcome {
  readonly id: string | undefined;
  readonly message: string;
}

/** Creates resources with these inputs at once, and returns what is wrong with how that ends. */
async function problemsOf(
  inputs: readonly Props[],
  fates: readonly Fate[],
  arrivals: readonly number[],
): Promise<string[]> {
  const server = new LossyServer(fates, arrivals);
  const run = {
    record: new ProgramRecord(),
    mutex: new KeyedMutex(),
    sleep: () => {
      server.advance();
      return Promise.resolve();
    },
  };
  const outcomes = await Promise.all(
    inputs.map(async (each, creator): Promise<Outcome> => {
      try {
        const { id } = await handlersAt("Group", server.clientOf(creator, each), run).create(each);
        return { id, message: "" };
      } catch (error) {
        const id = error instanceof PartialFailure ? error.id : undefined;
        return { id, message: error instanceof Error ? error.message : "no error" };
      }
    }),
  );
  const ids = outcomes.flatMap(({ id }) => id ?? []);
  const said = outcomes.map(({ message }) => message).join("\n");
  return [
    ...(new Set(ids).size < ids.length ? ["two resources have one uid"] : []),
    // What arrives after the last look is seen by nobody.
    ...[...server.objects.keys()]
      .filter((uid) => !ids.includes(uid) && !said.includes(uid) && server.seen.has(uid))
      .map((uid) => `${uid} is named by nobody`),
    ...outcomes.flatMap(({ id, message }, creator) => {
      const { description } = inputs[creator] ?? {};
      const isKnown = fates.every((fate) => fate === "answered" || fate === "lost after its effect");
      const isOther =
        description !== undefined && server.objects.get(id ?? "")?.["description"] !== description;
      const others = outcomes.filter((_, other) => other !== creator);
      return [
        ...(id === undefined && message === "" ? ["ended without object and error"] : []),
        ...(isKnown && message !== "" ? [`failed: ${message}`] : []),
        ...(id !== undefined && isOther ? ["has an object that is not what it declares"] : []),
        ...(fates[creator] === "answered" && server.sends[creator] !== 1
          ? ["was answered, and sent again"]
          : []),
        ...(id !== undefined && others.some((other) => other.message.includes(id))
          ? ["has an object that is to be deleted, says another"]
          : []),
      ].map((problem) => `create ${creator} ${problem}`);
    }),
  ];
}

const group: Props = { parentUid: ROOT_UID, name: "team" };
const described: Props = { ...group, description: "A team" };
const pairs = FATES.flatMap((one) => FATES.map((other) => [one, other] as const));

describe.each([
  ["two equal ones", [group, group]],
  // What the inputs of one leave out, the other says: its object fits both.
  ["one with fewer arguments than the other", [group, described]],
  ["one with more arguments than the other", [described, group]],
])("resources created at once never share an object, and leave none unnamed: %s", (_title, inputs) => {
  test.each(pairs)("%s; %s", async (...fates) => {
    const steps = (fate: Fate) =>
      fate === "lost before its effect" ? Array.from({ length: STEPS }, (_, step) => step + 1) : [0];
    for (const first of steps(fates[0]))
      for (const second of steps(fates[1]))
        expect([first, second, await problemsOf(inputs, fates, [first, second])]).toEqual([
          first,
          second,
          [],
        ]);
  });
});
