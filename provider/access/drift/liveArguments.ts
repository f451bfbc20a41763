import { aggregatedKind } from "../../fields/resourceSpec";
import type { Props } from "../../fields/values";
import type { Directory } from "../graph/directory";
import type { ManagedResource } from "./difference";
import { revealedArguments } from "./secretValues";
import { createSnapshotApi } from "./snapshot";

/** Reads the live arguments of managed resources from inventories. */
export class LiveArguments {
  private readonly api;

  constructor(private readonly directory: Directory) {
    this.api = createSnapshotApi(directory);
  }

  /** The live arguments of a resource; undefined if no inventory contains its object. */
  async read({ spec, uid, resource }: ManagedResource): Promise<Props | undefined> {
    if (aggregatedKind(spec) !== undefined) {
      if (this.directory.byUid(uid) === undefined) return undefined;
      const olds = { ...resource.outputs, ...revealedArguments(resource) };
      const response = await spec.operations?.get?.(this.api, uid, olds);
      return response && { ...(response as Props), parentUid: uid };
    }
    const live = this.directory.find(spec.kind, uid)?.inputs;
    return live && (spec.operations?.selectRelevant?.(live, resource.inputs) ?? live);
  }
}
