import type { ResourceSpec } from "../engine/spec";
import { Group } from "./group";
import { Identity } from "./identity";
import { Repo } from "./repo";
import { Role } from "./role";
import { RoleBinding } from "./roleBinding";
import { Subscription } from "./subscription";

/** THE list: one line per kind. The provider process and the tests run over it. */
export const kinds: readonly { readonly spec: ResourceSpec }[] = [
  Group,
  Identity,
  Role,
  RoleBinding,
  Repo,
  Subscription,
];
