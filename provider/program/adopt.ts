import type * as pulumi from "@pulumi/pulumi";
import { ADOPT } from "../fields/values";

/**
 * Arguments with which a resource takes over what exists, in place of making a new one:
 *
 * ```ts
 * new Role("reader", adopt("<uid>", { parentUid, name: "reader", capabilities: ["CAP_REPO_LIST"] }));
 * ```
 *
 * The run compares the arguments with what the platform holds, and refuses with a list of the differences where they
 * are not the same; it writes nothing. From then on the resource is like any other, and `adopt` may stay or go: neither
 * is a change. A secret that the platform never returns is taken as it is given. Deleting the resource deletes what
 * was taken over.
 *
 * @param uid the uid of what exists; undefined takes nothing over, and the resource is created. A review cannot judge one that a
 *   preview does not show: X4.
 * @param args the arguments that describe it as it is.
 */
export function adopt<A extends object>(uid: pulumi.Input<string> | undefined, args: A): A {
  return { ...args, [ADOPT]: uid };
}
