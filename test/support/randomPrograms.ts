import { startEmulator } from "../../emulator";
import { generateProgram } from "../../provider/access/adopt/program";
import { listedKinds } from "../../provider/access/documents/inventory";
import { takeInventory } from "../../provider/inventory/takeInventory";
import { clientOf } from "./driftMatrix";
import type { Declarations } from "./engine";
import type { Organisation } from "./organisation";
import { changeField, declared, propertyPathOf, samples, surroundings, withMember } from "./samples";

/** All samples and what they refer to, each with random changes of its fields. `random`: numbers from 0 to 1. */
export function randomSamples(random: () => number): Declarations {
  const all: Declarations = { ...surroundings };
  for (const sample of samples) {
    let { args } = sample;
    for (const field of sample.fields) {
      const draw = random();
      // A provider without a secret needs the other proof.
      const isClearable = field.empty !== undefined && field.path !== "oidc.clientSecret";
      if (draw < 0.3) args = changeField(args, field);
      else if (draw < 0.45 && isClearable) args = withMember(args, propertyPathOf(field), undefined);
    }
    if (args["verified"] === true && args["kind"] === undefined) args = sample.args;
    Object.assign(all, declared(sample.label, sample, args));
  }
  return all;
}

/** The same under other names. */
export function apart(declarations: Declarations, prefix: string): Declarations {
  return Object.fromEntries(
    Object.entries(declarations).map(([name, { args, ...rest }]) => {
      const text = JSON.stringify(args).replace(
        /\$\{([^}]+)\}/g,
        (_, other: string) => `\${${prefix}${other}}`,
      );
      return [`${prefix}${name}`, { ...rest, args: JSON.parse(text) as Record<string, unknown> }];
    }),
  );
}

/** Programs that make random organisations from nothing, each as `adopt` would declare it. */
export async function programsOf(organisations: readonly Organisation[]): Promise<Declarations[]> {
  const programs: Declarations[] = [];
  for (const { root, seed } of organisations) {
    const emulator = await startEmulator({ seed });
    const inventory = await takeInventory(clientOf(emulator), { root, now: Date.now });
    await emulator.close();
    const { resources } = generateProgram({ inventory, only: [root, ...listedKinds] });
    const nameOf = ({ kind, name }: { kind: string; name: string }) => `${kind}-${name}`;
    // What stands at a group has its uid.
    const own = resources.filter(({ kind }) => kind !== "AccountAssociation");
    const names = new Map(own.map((resource) => [resource.uid, nameOf(resource)]));
    const program: Declarations = {};
    for (const resource of resources) {
      let args = structuredClone(resource.inputs) as Record<string, unknown>;
      // The server takes it only where two people own the organisation.
      Reflect.deleteProperty(args, "scimEnabled");
      for (const { path } of resource.secrets) args = withMember(args, path, "hush");
      const text = JSON.stringify(args).replace(/"([0-9a-f]{40}(?:\/[0-9a-f]{16})*)"/g, (uid) => {
        const name = names.get(uid.slice(1, -1));
        return name === undefined ? uid : `"\${${name}}"`;
      });
      // Who signed in is in no program, and what is theirs neither.
      if (text.includes(`"${root}/`)) continue;
      program[nameOf(resource)] = { kind: resource.kind, args: JSON.parse(text) as Record<string, unknown> };
    }
    programs.push(program);
  }
  return programs;
}
