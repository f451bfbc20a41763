import * as pulumi from "@pulumi/pulumi";
import { parentOf } from "../api/uid";
import { connect } from "./connection";
import { checkSelection, lookup, one, only, text } from "./lookup";

/** Selects one group: by `uid`, or by `name`. */
export interface GetGroupArgs {
  uid?: string;
  /** The exact name. */
  name?: string;
  /** Only a group directly below this one. */
  parentUid?: string;
}

export interface GetGroupResult {
  uid: string;
  name: string;
  description: string;
  /** `ORG_KIND_…`; inherited from the root. */
  kind: string;
  verified: boolean;
  /** The uid of its parent; absent on a root group. */
  parentUid?: string;
}

const COLLECTION = "/iam/v2/groups";

/** Finds exactly one group. Throws where there is none, and where there are several, with their uids and parents. */
export function getGroup(args: GetGroupArgs): Promise<GetGroupResult> {
  return lookup("getGroup", async () => {
    checkSelection({ ...args }, ["uid", "name", "parentUid"]);
    const client = connect();
    const group =
      args.uid === undefined
        ? await only(client, COLLECTION, { name: args.name ?? "", parentUid: args.parentUid })
        : await one(client, COLLECTION, args.uid);
    const uid = text(group["uid"]);
    const parentUid = parentOf(uid);
    return {
      uid,
      name: text(group["name"]),
      description: text(group["description"]),
      kind: text(group["kind"]),
      verified: group["verified"] === true,
      ...(parentUid === undefined ? {} : { parentUid }),
    };
  });
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getGroupOutput(args: {
  [K in keyof GetGroupArgs]: pulumi.Input<GetGroupArgs[K]>;
}): pulumi.Output<GetGroupResult> {
  return pulumi.output(args).apply((resolved) => getGroup(resolved));
}
