import * as pulumi from "@pulumi/pulumi";
import { parentOf } from "../api/uid";
import { connect } from "./connection";
import { checkSelection, lookup, one, only, text, texts } from "./lookup";

/** Selects one role: by `uid`, or by `name`. */
export interface GetRoleArgs {
  uid?: string;
  /** The exact name. */
  name?: string;
  /** Only a custom role of this group. */
  parentUid?: string;
  /** True: only a built-in role. False: only custom ones. */
  builtIn?: boolean;
}

export interface GetRoleResult {
  uid: string;
  name: string;
  description: string;
  /** Full names, as in `CAP_REPO_LIST`. */
  capabilities: string[];
  builtIn: boolean;
  /** The uid of its group; absent on a built-in role. */
  parentUid?: string;
}

const COLLECTION = "/iam/v2/roles";

/**
 * Finds exactly one role. Role lists mix custom roles with built-in ones (contract, section 12): give
 * `builtIn: true` for a built-in role. Throws where there is none, and where there are several, with
 * their uids and parents.
 */
export function getRole(args: GetRoleArgs): Promise<GetRoleResult> {
  return lookup("getRole", async () => {
    checkSelection({ ...args }, ["uid", "name", "parentUid", "builtIn"]);
    const client = connect();
    const role =
      args.uid === undefined
        ? await only(client, COLLECTION, {
            name: args.name ?? "",
            parentUid: args.parentUid,
            root: args.builtIn,
          })
        : await one(client, COLLECTION, args.uid);
    const uid = text(role["uid"]);
    const parentUid = parentOf(uid);
    return {
      uid,
      name: text(role["name"]),
      description: text(role["description"]),
      capabilities: texts(role["capabilities"]),
      builtIn: parentUid === undefined,
      ...(parentUid === undefined ? {} : { parentUid }),
    };
  });
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getRoleOutput(args: {
  [K in keyof GetRoleArgs]: pulumi.Input<GetRoleArgs[K]>;
}): pulumi.Output<GetRoleResult> {
  return pulumi.output(args).apply((resolved) => getRole(resolved));
}
