import type { ResourceSpec } from "../engine/spec";
import { AccountAssociation } from "./accountAssociation";
import { ExternalGroupRoleMapping } from "./externalGroupRoleMapping";
import { Group } from "./group";
import { GroupAccess } from "./groupAccess";
import { GroupInvite } from "./groupInvite";
import { Identity } from "./identity";
import { IdentityProvider } from "./identityProvider";
import { Repo } from "./repo";
import { RepoReadme } from "./repoReadme";
import { Role } from "./role";
import { RoleBinding } from "./roleBinding";
import { ScimToken } from "./scimToken";
import { Subscription } from "./subscription";
import { TermsAcceptance } from "./termsAcceptance";
import { Tag } from "./tag";

/** THE list: one line per kind. The provider process and the tests run over it. */
export const kinds: readonly { readonly spec: ResourceSpec }[] = [
  Group,
  Identity,
  Role,
  RoleBinding,
  GroupAccess,
  Repo,
  RepoReadme,
  Tag,
  Subscription,
  IdentityProvider,
  ScimToken,
  TermsAcceptance,
  AccountAssociation,
  GroupInvite,
  ExternalGroupRoleMapping,
];
