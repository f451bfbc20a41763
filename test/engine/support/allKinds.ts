import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { kinds } from "../../../provider/kinds";
import { Stack } from "../../support/engine";
import type { Declarations } from "../../support/engine";
import { changeField, declared, ownOf, samples as all, surroundings } from "../../support/samples";
import type { FieldCase, WireRequest } from "../../support/samples";
import { call } from "../../support/wire";

/** The one kind that a run is about (`npm run check:kind`); all if not set. */
const onlyKind = process.env["PULUMI_PLATFORM_TEST_KIND"];

/** The samples that live: those of every kind, or of the one that the run is about. */
export const samples = all.filter(({ kind }) => onlyKind === undefined || kind === onlyKind);

/** Where else samples may stand, and what else they may refer to. */
export const otherPlaces: Declarations = {
  elsewhere: { kind: "Group", args: { parentUid: "${org}", name: "elsewhere" } },
  partner: { kind: "Group", args: { parentUid: "${org}", name: "partner" } },
  partners: {
    kind: "AccountAssociation",
    args: { parentUid: "${partner}", name: "partners", amazon: { account: "123456789012" } },
  },
};

/** One of each sample, in a team that can be exchanged. */
function program(
  change: (label: string, args: Record<string, unknown>) => Record<string, unknown>,
): Declarations {
  return {
    ...surroundings,
    ...otherPlaces,
    ...Object.fromEntries(samples.flatMap(({ label, own }) => (own ? [[`${label}-elsewhere`, own]] : []))),
    ...Object.fromEntries(
      samples.flatMap((sample) =>
        Object.entries(declared(sample.label, sample, change(sample.label, structuredClone(sample.args)))),
      ),
    ),
  };
}

export const asIs = program((_label, args) => args);

export const changesAlone = ({ without, whole }: FieldCase): boolean =>
  without === undefined && whole === undefined;

const editOf = (label: string): FieldCase | undefined =>
  samples.find((sample) => sample.label === label)?.fields.find(changesAlone);

/** The program with the first field of each sample changed that changes alone. */
export const edited = program((label, args) => {
  const field = editOf(label);
  return field === undefined ? args : changeField(args, field);
});

export const editedLabels = samples.map(({ label }) => label).filter((label) => editOf(label) !== undefined);

/** What the tests of the life of all kinds do at the server, past the engine, and read of what the engine did. */
export class AllKinds {
  private constructor(
    readonly emulator: Emulator,
    readonly stack: Stack,
  ) {}

  /** A server and a stack after its first update, which may declare more. */
  static async start(
    env: Record<string, string> = {},
    form: "dynamic" | "native" = "dynamic",
    more: Declarations = {},
  ): Promise<AllKinds> {
    const emulator = await startEmulator();
    const stack = await new Stack({ url: emulator.url, token: emulator.token, env }).init();
    stack.useForm(form);
    stack.declare({ ...asIs, ...more });
    await stack.up();
    return new AllKinds(emulator, stack);
  }

  async close(): Promise<void> {
    await this.emulator.close();
    this.stack.dispose();
  }

  uid(name: string): string {
    return this.stack.ids()[name] ?? "";
  }

  private address(label: string): string {
    const kind = asIs[label]?.kind ?? "";
    const collection = kinds.find(({ spec }) => spec.kind === kind)?.spec.collection ?? "";
    return `${collection}/${this.uid(label)}`;
  }

  private async send(
    label: string,
    request: WireRequest | undefined,
    usual: "PATCH" | "DELETE",
    body?: unknown,
  ): Promise<void> {
    const path = request?.address.replace("${own}", this.uid(ownOf(label)));
    const method = request?.method ?? usual;
    await call(this.emulator, method, path ?? this.address(label), body ?? request?.body);
  }

  updateByHand(label: string, body: unknown): Promise<void> {
    return this.send(label, writingOf(label)?.update, "PATCH", body);
  }

  deleteByHand(label: string): Promise<void> {
    return this.send(label, writingOf(label)?.delete, "DELETE");
  }

  writes() {
    return this.emulator.requests.filter(({ method }) => method !== "GET");
  }

  /** The methods of all writes, sorted. */
  methods(): string[] {
    return this.writes()
      .map(({ method }) => method)
      .sort();
  }
}

export const writingOf = (label: string) => samples.find((sample) => sample.label === label)?.writing;

interface Step {
  readonly op: string;
  readonly urn: string;
  readonly replaceReasons?: readonly string[];
  readonly detailedDiff?: Readonly<Record<string, unknown>> | null;
}

/** The steps of a preview, with the names that the program gave the resources. */
export function stepsOf(stdout: string): (Step & { name: string })[] {
  const { steps } = JSON.parse(stdout) as { steps: Step[] };
  return steps.map((step) => ({ ...step, name: step.urn.slice(step.urn.lastIndexOf("::") + 2) }));
}
