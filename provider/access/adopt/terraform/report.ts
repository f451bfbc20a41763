import { objectKey } from "../../graph/directory";
import type { Adoption } from "../program";
import { quoteForShell } from "../../../text/plain";
import { formatBlockAddress } from "./address";
import { compareAttributes } from "./compareAttributes";
import type { AttributeDifference, UnmappedAttribute } from "./compareAttributes";
import { isPlatformProvider } from "./mapping";
import { isOwnManaged } from "./planAdoption";
import type { MappedInstance, RemainingInstance, TerraformPlan } from "./planAdoption";

/** What becomes of a Terraform state: the member `terraform` of the JSON of `adopt`. */
export interface TerraformReport {
  readonly adopted: readonly {
    readonly address: string;
    readonly kind: string;
    readonly uid: string;
    /** The name of the resource in the program. */
    readonly name: string;
    readonly isTainted?: true;
  }[];
  /** Terraform's last known value and the live one, which the program has. */
  readonly differences: readonly ({ readonly address: string } & AttributeDifference)[];
  readonly unmapped: readonly ({ readonly address: string } & UnmappedAttribute)[];
  readonly missing: readonly { readonly address: string; readonly kind: string; readonly uid: string }[];
  readonly remaining: readonly RemainingInstance[];
  readonly dataSources: readonly string[];
  readonly otherProviders: readonly { readonly provider: string; readonly resources: number }[];
  /** The addresses that Terraform is to forget. */
  readonly forget: readonly string[];
  /** The same as blocks of the configuration, for resources of which Terraform is to forget every instance. */
  readonly removedBlocks: string;
}

function countOtherProviders({ state }: TerraformPlan): TerraformReport["otherProviders"] {
  const counts = new Map<string, number>();
  for (const { address, provider } of state.instances) {
    if (address.mode !== "managed" || isPlatformProvider(provider)) continue;
    counts.set(provider, (counts.get(provider) ?? 0) + 1);
  }
  return [...counts].map(([provider, resources]) => ({ provider, resources }));
}

/** A `removed` block of Terraform applies to all instances of a resource. */
function printRemovedBlocks({ state }: TerraformPlan, forget: ReadonlySet<string>): string {
  const blocks = new Map<string, boolean>();
  for (const { address, path } of state.instances.filter(isOwnManaged)) {
    const block = formatBlockAddress(address);
    blocks.set(block, (blocks.get(block) ?? true) && forget.has(path));
  }
  return [...blocks]
    .filter(([, isWhole]) => isWhole)
    .map(([from]) => `removed {\n  from = ${from}\n  lifecycle {\n    destroy = false\n  }\n}\n`)
    .join("\n");
}

/** What the program and the stack do with the mapped instances of a state. */
interface Outcome {
  /** The name that the program gives the object. */
  readonly nameOf: (one: MappedInstance) => string | undefined;
  /** Whether the program declares the object, or the stack manages it already. */
  readonly isTaken: (one: MappedInstance) => boolean;
  readonly skipReason: (one: MappedInstance) => string;
}

function judgeOutcome({ resources, skipped }: Adoption, managedKeys: ReadonlySet<string>): Outcome {
  const names = new Map(resources.map(({ kind, uid, name }) => [objectKey(kind, uid), name]));
  const reasons = new Map(skipped.map(({ kind, uid, reason }) => [objectKey(kind, uid), reason]));
  const key = ({ mapping, uid }: MappedInstance): string => objectKey(mapping.kind, uid);
  return {
    nameOf: (one) => names.get(key(one)),
    isTaken: (one) => names.has(key(one)) || managedKeys.has(key(one)),
    skipReason: (one) => reasons.get(key(one)) ?? "it is not declared",
  };
}

const instanceAddress = ({ instance }: MappedInstance): string => instance.path;

function listAdopted({ mapped }: TerraformPlan, { nameOf }: Outcome): TerraformReport["adopted"] {
  return mapped.flatMap((one) => {
    const name = nameOf(one);
    const isTainted = one.instance.status === "tainted";
    const { kind } = one.mapping;
    return name === undefined
      ? []
      : [
          {
            address: instanceAddress(one),
            kind,
            uid: one.uid,
            name,
            ...(isTainted ? { isTainted: true as const } : {}),
          },
        ];
  });
}

function compareAdopted(
  { mapped, liveOf }: TerraformPlan,
  { nameOf }: Outcome,
): Pick<TerraformReport, "differences" | "unmapped"> {
  const compared = mapped
    .filter((one) => nameOf(one) !== undefined)
    .map((one) => ({
      address: instanceAddress(one),
      ...compareAttributes(one.instance, one.mapping, liveOf(one.uid)),
    }));
  return {
    differences: compared.flatMap(({ address, differences }) =>
      differences.map((one) => ({ address, ...one })),
    ),
    unmapped: compared.flatMap(({ address, unmapped }) => unmapped.map((one) => ({ address, ...one }))),
  };
}

/** Says of each instance of a state what becomes of it. */
export function reportAdoption(
  plan: TerraformPlan,
  adoption: Adoption,
  managedKeys: ReadonlySet<string>,
): TerraformReport {
  const outcome = judgeOutcome(adoption, managedKeys);
  const { mapped, missing, remaining, state } = plan;
  const forget = mapped.filter(outcome.isTaken).map(instanceAddress);
  const left = mapped.filter((one) => !outcome.isTaken(one));
  return {
    adopted: listAdopted(plan, outcome),
    ...compareAdopted(plan, outcome),
    missing: missing.map((one) => ({ address: instanceAddress(one), kind: one.mapping.kind, uid: one.uid })),
    remaining: [
      ...left.map((one) => ({ address: instanceAddress(one), reason: outcome.skipReason(one) })),
      ...remaining,
    ],
    dataSources: state.instances.filter(({ address }) => address.mode === "data").map(({ path }) => path),
    otherProviders: countOtherProviders(plan),
    forget,
    removedBlocks: printRemovedBlocks(plan, new Set(forget)),
  };
}

/** The command that makes Terraform forget instances without deleting their objects. */
export function printForgetCommand({ forget }: TerraformReport): string[] {
  return ["terraform state rm", ...forget.map((address) => `  ${quoteForShell(address)}`)].map((line, i) =>
    i === forget.length ? line : `${line} \\`,
  );
}
