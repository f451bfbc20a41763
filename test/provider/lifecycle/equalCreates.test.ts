import type { Client } from "../../../provider/http/client";
import { ConnectionError } from "../../../provider/http/errors";
import { KeyedMutex } from "../../../provider/lifecycle/context";
import { ProgramRecord } from "../../../provider/lifecycle/programRecord";
import { handlersAt } from "../support/handlerStack";
import { PartialFailure } from "../../../provider/lifecycle/messages";
import type { Props } from "../../../provider/fields/values";
import { isQuick, spreadOf } from "../../support/properties";
import { playAll } from "../support/schedule";
import type { Schedule } from "../support/schedule";
import { ROOT_UID } from "../support/samples";

/* Equal resources that are created at once, some without a response, in every order of what happens. */

/** What becomes of one send of a create. */
type Fate = "answered" | "lost after its effect" | "lost before its effect" | "never arrives";

interface Creation {
  readonly inputs: Props;
  /** Of its first sends; later ones are answered. */
  readonly fates: readonly Fate[];
}

interface Outcome {
  readonly id: string | undefined;
  readonly message: string;
}

/** The server's side: what it holds, and which of that a create has seen that may have made it. */
class PlayedServer {
  readonly objects = new Map<string, Props>();
  readonly seen = new Set<string>();
  /** How often each create was sent. */
  readonly sends = new Map<string, number>();
  private created = 0;

  create(parent: string, body: Props): Props {
    this.created += 1;
    const uid = `${parent}/${this.created.toString(16).padStart(16, "0")}`;
    const object = { ...body, uid, createTime: new Date().toISOString() };
    this.objects.set(uid, object);
    return object;
  }

  list({ description }: Props): Props[] {
    for (const [uid, object] of this.objects) {
      if (description === undefined || object["description"] === description) this.seen.add(uid);
    }
    return [...this.objects.values()];
  }
}

/** A client whose requests take effect, and get their responses, when it is their turn. */
function clientOf(
  server: PlayedServer,
  schedule: Schedule,
  actor: string,
  { inputs, fates }: Creation,
): Client {
  const open = [...fates];
  const client: Partial<Client> = {
    serverNow: () => Date.now(),
    timeSinceCreation: () => undefined,
    noteCreated: () => undefined,
    create: async (_collection, parent = "", body) => {
      const fate = open.shift() ?? "answered";
      server.sends.set(actor, (server.sends.get(actor) ?? 0) + 1);
      await schedule.turn(actor);
      const isEarly = fate === "answered" || fate === "lost after its effect";
      const object = isEarly ? server.create(parent, body as Props) : {};
      if (fate === "lost before its effect") {
        void schedule.turn(`${actor}, late`).then(() => server.create(parent, body as Props));
      }
      await schedule.turn(actor);
      if (fate === "answered") return object;
      throw new ConnectionError("PP2103", "the connection was reset", "unknown", true);
    },
    list: async function* () {
      await schedule.turn(actor);
      const objects = server.list(inputs);
      await schedule.turn(actor);
      yield* objects;
    },
    delete: (_collection, uid) => {
      server.objects.delete(uid);
      return Promise.resolve();
    },
  };
  return client as Client;
}

async function outcomeOf(creating: Promise<{ id: string }>): Promise<Outcome> {
  try {
    return { id: (await creating).id, message: "" };
  } catch (error) {
    const id = error instanceof PartialFailure ? error.id : undefined;
    return { id, message: error instanceof Error ? error.message : "no error" };
  }
}

/** Plays the creates in one order, and returns what is wrong with how they end. */
async function play(creations: readonly Creation[], schedule: Schedule): Promise<string[]> {
  const server = new PlayedServer();
  const record = new ProgramRecord();
  const mutex = new KeyedMutex();
  const all = creations.map((creation, index) => {
    const client = clientOf(server, schedule, String(index), creation);
    return {
      handlers: handlersAt("Group", client, { mutex, record }),
      // A destroy is a run of its own, which knows nothing of what this one holds.
      later: () => handlersAt("Group", client, { mutex }),
      inputs: creation.inputs,
    };
  });
  const ending = Promise.all(all.map(({ handlers, inputs }) => outcomeOf(handlers.create(inputs))));
  await schedule.play();
  const outcomes = await ending;
  const problems = problemsOf(server, creations, outcomes);
  const [first] = all;
  const ids = outcomes.flatMap(({ id }) => id ?? []);
  if (first && outcomes[0]?.id !== undefined) {
    await first.later().delete(outcomes[0].id, first.inputs);
    const kept = ids.slice(1).filter((id) => server.objects.has(id));
    if (kept.length < ids.length - 1) problems.push("the delete of one took another's object");
  }
  return problems;
}

function problemsOf(
  server: PlayedServer,
  creations: readonly Creation[],
  outcomes: readonly Outcome[],
): string[] {
  const problems: string[] = [];
  const ids = outcomes.flatMap(({ id }) => id ?? []);
  if (new Set(ids).size < ids.length) problems.push("two resources have one uid");
  outcomes.forEach(({ id, message }, index) => {
    if (id === undefined && message === "") problems.push(`create ${index} ended without object and error`);
    const object = id === undefined ? undefined : server.objects.get(id);
    const description = creations[index]?.inputs["description"];
    if (object && description !== undefined && object["description"] !== description)
      problems.push(`create ${index} has an object that is not what it declares`);
    if (creations[index]?.fates[0] === "answered" && server.sends.get(String(index)) !== 1)
      problems.push(`create ${index} was answered, and sent again`);
    const others = outcomes.filter((_, other) => other !== index);
    if (id !== undefined && others.some((other) => other.message.includes(id)))
      problems.push(`the object of create ${index} is to be deleted, says another`);
  });
  const said = outcomes.map(({ message }) => message).join("\n");
  for (const [uid] of server.objects) {
    // What arrives after the last look is seen by nobody.
    if (!ids.includes(uid) && !said.includes(uid) && server.seen.has(uid))
      problems.push(`${uid} is named by nobody`);
  }
  return problems;
}

const group: Props = { parentUid: ROOT_UID, name: "team" };
const FATES: readonly Fate[] = [
  "answered",
  "lost after its effect",
  "lost before its effect",
  "never arrives",
];

/** All multisets of fates for so many equal creates. */
function fatesOf(count: number, from = 0): Fate[][] {
  if (count === 0) return [[]];
  return FATES.slice(from).flatMap((fate, index) =>
    fatesOf(count - 1, from + index).map((more) => [fate, ...more]),
  );
}

const countOf = (fates: readonly Fate[], wanted: Fate) => fates.filter((fate) => fate === wanted).length;

/**
 * How often one of two creates is interrupted. A late effect may fall between any two steps, and what never arrives only
 * looks for long: such orders are many, and leave room for one interruption less.
 */
function interruptionsOf(fates: readonly Fate[]): number {
  const late = countOf(fates, "lost before its effect");
  return late === 2 || (late === 1 && countOf(fates, "never arrives") === 1) ? 1 : 2;
}

async function expectNoProblem(creations: readonly Creation[], interruptions: number): Promise<void> {
  const found = new Map<string, string>();
  await playAll(isQuick ? 1 : interruptions, async (schedule) => {
    for (const problem of await play(creations, schedule)) {
      if (!found.has(problem)) found.set(problem, schedule.log.join(" | "));
    }
  });
  expect([...found]).toEqual([]);
}

const described: Props = { ...group, description: "A team" };
const titled = (all: Fate[][]) => all.map((fates) => [fates.join("; "), fates] as const);
const equal = (fates: readonly Fate[]): Creation[] => fates.map((fate) => ({ inputs: group, fates: [fate] }));

describe("resources created at once never share an object, and leave none unnamed", () => {
  test.each(titled(fatesOf(2)))("two equal ones: %s", (_title, fates) =>
    expectNoProblem(equal(fates), interruptionsOf(fates)),
  );

  test.each(titled(FATES.map((fate) => [fate, "lost after its effect"])))(
    "lost again when sent again: %s",
    (_title, fates) =>
      expectNoProblem(
        [
          { inputs: group, fates },
          { inputs: group, fates: ["lost before its effect"] },
        ],
        1,
      ),
  );

  // What the inputs of one leave out, the other says: its object fits both.
  const pairs = FATES.flatMap((one) => FATES.map((other) => [one, other]));
  test.each(titled([...spreadOf(pairs, 5, 0)]))(
    "one with fewer arguments than the other: %s",
    (_title, [one = "answered", other = "answered"]) =>
      expectNoProblem(
        [
          { inputs: group, fates: [one] },
          { inputs: described, fates: [other] },
        ],
        interruptionsOf([one, other]),
      ),
  );
});
