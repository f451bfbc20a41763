import { parentOf } from "../../text/uid";
import { compareTexts } from "../../fields/values";
import { specOf } from "../graph/directory";
import type { Directory } from "../graph/directory";
import { entityOfObject } from "../graph/entities";
import { bindingKeys } from "../graph/accessKinds";
import type { Coverage, ManagedCount } from "../report/report";
import type { ComparisonScope } from "./comparisonScope";
import type { ComparedResource } from "./difference";
import type { ManagedResources } from "./managedResources";
import { bindingKeysOfCollections } from "./driftGraphs";
import { isUndeclarable } from "./unmanagedObjects";

/** What coverage is measured from. */
interface CoverageSources {
  readonly directory: Directory;
  readonly managed: ManagedResources;
  readonly resources: readonly ComparedResource[];
  readonly scope: ComparisonScope;
}

class Counter {
  private readonly counts = new Map<string, { managed: number; total: number }>();

  add(key: string, isManaged: boolean): void {
    const count = this.counts.get(key) ?? { managed: 0, total: 0 };
    this.counts.set(key, count);
    count.total += 1;
    if (isManaged) count.managed += 1;
  }

  entries(): [string, ManagedCount][] {
    return [...this.counts].sort(([a], [b]) => compareTexts(a, b));
  }
}

/** Measures what share of the live organisation its programs declare, of all that a program can declare. */
export function measureCoverage({ directory, managed, resources, scope }: CoverageSources): Coverage {
  const declared = bindingKeysOfCollections(resources, "before");
  const [all, kinds, groups] = [new Counter(), new Counter(), new Counter()];
  for (const object of directory.all()) {
    const { kind, uid } = object;
    const spec = specOf(kind);
    if (spec === undefined || isUndeclarable(spec, object, scope)) continue;
    const keys = bindingKeys(entityOfObject(object));
    const isManaged =
      managed.ownersOf(kind, uid).length > 0 || (keys.length > 0 && keys.every((key) => declared.has(key)));
    all.add("", isManaged);
    kinds.add(kind, isManaged);
    groups.add((spec.sharesParentUid ? uid : parentOf(uid)) ?? "", isManaged);
  }
  const [[, total] = ["", { managed: 0, total: 0 }]] = all.entries();
  return {
    ...total,
    byKind: kinds.entries().map(([kind, count]) => ({ kind, ...count })),
    byGroup: groups.entries().map(([uid, count]) => ({ uid, path: directory.pathOf(uid), ...count })),
  };
}
