import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs, Rules } from "./arguments";
import { ask, askLater, found, listing, listRules, noneWith, selecting } from "./lookup";
import type { ListArgs, Lookup } from "./lookup";

/** Selects one account association: by `uid`, or by `name`. */
export interface GetAccountAssociationArgs {
  /** The uid: that of its group. */
  uid?: string;
  /** The exact name. */
  name?: string;
}

/** An account of Amazon. */
export interface AssociatedAmazon {
  /** The account: 12 digits. */
  account: string;
}

/** A project of Google. */
export interface AssociatedGoogle {
  /** The id of the project. */
  projectId: string;
  /** The number of the project, in decimal digits. */
  projectNumber: string;
}

/** A tenant of Azure. */
export interface AssociatedAzure {
  /** The id of the tenant. */
  tenantId: string;
  /** The ids of clients by what they are for. */
  clientIds: Record<string, string>;
}

/** Identities of the platform's own services. */
export interface AssociatedChainguard {
  /** The uid of an identity by the name of its service. */
  serviceBindings: Record<string, string>;
}

/** One installation of an app of GitHub. */
export interface GithubInstallation {
  /** The id of the installation: an exact whole number, in decimal digits. */
  installationId: string;
  /** The account that it is installed in; only for people to read. */
  name: string;
}

/** Where one app of GitHub is installed. */
export interface GithubInstallations {
  /** The installations; their order means nothing. */
  installations: GithubInstallation[];
}

/** Installations of apps of GitHub. */
export interface AssociatedGithub {
  /** Installations by the id of the app, in decimal digits. */
  appInstallations: Record<string, GithubInstallations>;
}

/** An account association: the accounts at clouds and services that belong to a group. Contract, section 5. */
export interface GetAccountAssociationResult {
  /** The uid: that of its group. */
  uid: string;
  /** The uid of its group: the same as `uid`. */
  parentUid: string;
  /** The name. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
  /** The account of Amazon, where there is one. */
  amazon?: AssociatedAmazon;
  /** The project of Google, where there is one. */
  google?: AssociatedGoogle;
  /** The tenant of Azure, where there is one. */
  azure?: AssociatedAzure;
  /** The identities of the platform's own services, where there are any. */
  chainguard?: AssociatedChainguard;
  /** The installations of apps of GitHub, where there are any. */
  github?: AssociatedGithub;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime?: string;
}

/** Which account associations to list. All by default, ordered by their group. */
export interface GetAccountAssociationsArgs extends ListArgs {
  /** The exact name. */
  name?: string;
}

/** Selects an account association and the side of it to check. */
export interface CheckAccountAssociationArgs {
  /** The uid: that of its group. */
  uid: string;
  /** `ACCOUNT_PROVIDER_TYPE_GOOGLE`, `ACCOUNT_PROVIDER_TYPE_AMAZON` or `ACCOUNT_PROVIDER_TYPE_AZURE`. */
  provider: string;
}

/** What `checkAccountAssociation` answers. */
export interface CheckAccountAssociationResult {
  /** Whether the platform can use the account. */
  ready: boolean;
  /** `CHECK_STATUS_…`; left out where the answer does not say. */
  status?: string;
  /** Why, in a word for programs; empty where there is nothing to say. */
  reason: string;
  /** Why, for people; empty where there is nothing to say. */
  message: string;
}

const COLLECTION = "/iam/v2/accountAssociations";

const readAssociation = read.object<GetAccountAssociationResult>({
  uid: read.text,
  parentUid: (_value, { uid }) => read.text(uid),
  name: read.text,
  description: read.text,
  amazon: read.optional<AssociatedAmazon>({ account: read.text }),
  google: read.optional<AssociatedGoogle>({ projectId: read.text, projectNumber: read.text }),
  azure: read.optional<AssociatedAzure>({ tenantId: read.text, clientIds: read.textMap }),
  chainguard: read.optional<AssociatedChainguard>({ serviceBindings: read.textMap }),
  github: read.optional<AssociatedGithub>({
    appInstallations: read.objectMap(
      read.object<GithubInstallations>({
        installations: read.objects(
          read.object<GithubInstallation>({ installationId: read.decimal, name: read.text }),
        ),
      }),
    ),
  }),
  createTime: read.time,
  updateTime: read.time,
});

const rules: Rules<GetAccountAssociationArgs> = { uid: take.uid, name: take.text };
const oneAssociation = selecting("getAccountAssociation", COLLECTION, rules, readAssociation);

const associations = listing<GetAccountAssociationsArgs, GetAccountAssociationResult>({
  call: "getAccountAssociations",
  collection: COLLECTION,
  rules: { ...listRules, name: take.sentAs("name", take.text) },
  read: readAssociation,
});

const readCheck = read.object<CheckAccountAssociationResult>({
  ready: (_value, { status }) => status === "CHECK_STATUS_READY",
  status: read.enumName,
  reason: read.text,
  message: read.text,
});

const check: Lookup<CheckAccountAssociationArgs, CheckAccountAssociationResult> = {
  call: "checkAccountAssociation",
  rules: {
    uid: take.required(take.uid),
    provider: take.required(
      take.oneName(["GOOGLE", "AMAZON", "AZURE"].map((name) => `ACCOUNT_PROVIDER_TYPE_${name}`)),
    ),
  },
  run: async (client, { uid, provider }) => {
    const path = client.address(COLLECTION, uid, ":checkAccountAssociation");
    const answer = client.post(path, { providerType: provider }, { repeatable: true });
    return readCheck(await found(answer, noneWith(uid)));
  },
};

/** Finds exactly one account association. Throws where there is none, and where there are several, with their uids. */
export function getAccountAssociation(args: GetAccountAssociationArgs): Promise<GetAccountAssociationResult> {
  return ask(oneAssociation, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getAccountAssociationOutput(
  args: LookupInputs<GetAccountAssociationArgs>,
): pulumi.Output<GetAccountAssociationResult> {
  return askLater(oneAssociation, args);
}

/** Lists the account associations that match and that the token may see. */
export function getAccountAssociations(
  args: GetAccountAssociationsArgs = {},
): Promise<GetAccountAssociationResult[]> {
  return ask(associations, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getAccountAssociationsOutput(
  args: LookupInputs<GetAccountAssociationsArgs> = {},
): pulumi.Output<GetAccountAssociationResult[]> {
  return askLater(associations, args);
}

/** Whether the platform can use the account of one provider; it changes nothing (contract, section 6). */
export function checkAccountAssociation(
  args: CheckAccountAssociationArgs,
): Promise<CheckAccountAssociationResult> {
  return ask(check, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function checkAccountAssociationOutput(
  args: LookupInputs<CheckAccountAssociationArgs>,
): pulumi.Output<CheckAccountAssociationResult> {
  return askLater(check, args);
}
