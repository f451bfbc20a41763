import { CodedError } from "../errors/codedError";
import { printable } from "../text/printable";
import { resource } from "../program/resource";
import type { Api, Failure, Host } from "../fields/resourceSpec";
import { isObject, stringsIn } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { kind, list, map, object, shape, string, times, word } from "../fields/builders";
import type { ArgsOf, OfKind, Resolved, ResultOf } from "../fields/builders";
import { adviseOnName, description, forPeople, nameOnly, parentGroup } from "./common";

const COLLECTION = "/iam/v2/accountAssociations";
const CHECKED = ["amazon", "google", "azure"] as const;
const READY_WITHIN_MS = 60_000;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 10_000;

const account = string({ required: true, access: "account.id" });

const amazon = shape({
  fields: {
    /** The number of the account. */
    account,
  },
});

const google = shape({
  fields: {
    /** The id of the project, as in `acme-production`. */
    projectId: account,
    /** The number of the project, as text. */
    projectNumber: account,
  },
});

const azure = shape({
  fields: {
    /** The id of the tenant. */
    tenantId: account,
    /** Client ids, by what they are for. */
    clientIds: map(string(), { required: true, access: "account.clients" }),
  },
});

const chainguard = shape({
  fields: {
    /** The uid of the identity that each service acts as, by the name of the service. */
    serviceBindings: map(string({ format: "uid", refersTo: "Identity" }), {
      required: true,
      access: "permission",
    }),
  },
});

const installation = shape({
  fields: {
    /** The id of the installation: a number, as text. */
    installationId: string({ format: "int64", required: true }),
    /** Where it is installed: for people, so a difference at the server is not drift. */
    name: string({ ignoreDrift: true, ...forPeople }),
  },
});

/** Where one GitHub app is installed. */
export interface GithubInstallationArgs extends ArgsOf<typeof installation> {}

/** One installation of an app of GitHub. */
export interface GithubInstallation extends ResultOf<typeof installation> {}

const app = shape({
  fields: {
    /** The installations. Order means nothing. */
    installations: list(object<GithubInstallationArgs, GithubInstallation>(installation), {
      required: true,
      unordered: true,
    }),
  },
});

/** Where a GitHub app is installed. */
export interface GithubAppArgs extends ArgsOf<typeof app> {}

/** Where one app of GitHub is installed. */
export interface GithubInstallations extends ResultOf<typeof app> {}

const github = shape({
  fields: {
    /** The installations of each app, by the id of the app. */
    appInstallations: map(object<GithubAppArgs, GithubInstallations>(app), {
      access: "account.clients",
      keys: { regex: /^(0|[1-9]\d{0,18})$/, must: "a whole number, as in 12345" },
    }),
  },
});

/** An account of Amazon Web Services. */
export interface AmazonAccountArgs extends ArgsOf<typeof amazon> {}

/** A project of Google Cloud. */
export interface GoogleProjectArgs extends ArgsOf<typeof google> {}

/** A tenant of Azure. */
export interface AzureTenantArgs extends ArgsOf<typeof azure> {}

/** Services of the platform itself that act for the group. */
export interface ChainguardServicesArgs extends ArgsOf<typeof chainguard> {}

/** Apps on GitHub. */
export interface GithubAppsArgs extends ArgsOf<typeof github> {}

/** An account of Amazon. */
export interface AssociatedAmazon extends ResultOf<typeof amazon> {}

/** A project of Google. */
export interface AssociatedGoogle extends ResultOf<typeof google> {}

/** A tenant of Azure. */
export interface AssociatedAzure extends ResultOf<typeof azure> {}

/** Identities of the platform's own services. */
export interface AssociatedChainguard extends ResultOf<typeof chainguard> {}

/** Installations of apps of GitHub. */
export interface AssociatedGithub extends ResultOf<typeof github> {}

const providersToAwait = (inputs: Props): string[] => [...new Set(stringsIn(inputs["awaitReady"]))];

/** Waiting for an account that is not there would only end in a failure. */
function checkAwaited(inputs: Props, unknown: ReadonlySet<string>): Failure[] {
  return providersToAwait(inputs)
    .filter((name) => CHECKED.some((checked) => checked === name))
    .filter((name) => inputs[name] === undefined && !unknown.has(name))
    .map((name) => ({
      property: "awaitReady",
      reason: `names ${name}, but ${name} is not set: set it, or remove it here`,
      code: "PP1011",
    }));
}

async function awaitReady(api: Api, uid: string, _olds: Props, news: Props, host: Host): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  let open = providersToAwait(news);
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    const reasons: string[] = [];
    const still: string[] = [];
    for (const name of open) {
      const response = await api.post(
        api.resourcePath(COLLECTION, uid, ":checkAccountAssociation"),
        { providerType: `ACCOUNT_PROVIDER_TYPE_${name.toUpperCase()}` },
        { isIdempotent: true },
      );
      if (response["status"] === "CHECK_STATUS_READY") continue;
      still.push(name);
      const told = [response["reason"], response["message"]].filter(
        (part): part is string => typeof part === "string" && part !== "",
      );
      reasons.push([name, ...told.map((part) => printable(part))].join(": "));
    }
    if (still.length === 0) return;
    open = still;
    const left = until - performance.now();
    if (left <= 0)
      throw new CodedError("PP4013", `not ready after ${READY_WITHIN_MS / 1000} s: ${reasons.join("; ")}`);
    await host.sleep(Math.min(wait, left));
  }
}

/** A warning about a member of a block that does not look as it usually does. */
const warnUnless =
  (key: string, usual: RegExp, warning: string) =>
  (block: Json | undefined): string[] => {
    const value = isObject(block) ? block[key] : undefined;
    return typeof value === "string" && !usual.test(value) ? [warning] : [];
  };

const accountAssociation = kind({
  kind: "AccountAssociation",
  collection: COLLECTION,
  capabilities: "IAM_ACCOUNT_ASSOCIATIONS",
  eventPrefix: "iam.account_associations",
  listsByName: true,
  sharesParentUid: true,
  deletion: { beforeReplace: "belowSameParent" },
  grantsAccess: "always",
  fields: {
    /** The uid of the group, which has at most one association. Changing it replaces the association. */
    parentUid: parentGroup,
    /** The name: lower-case letters, digits, blank, dot, underscore, dash. */
    name: string({ required: true, ...nameOnly }),
    /** One line, at most 512 characters. */
    description,
    /** The account of Amazon Web Services. */
    amazon: object<AmazonAccountArgs, AssociatedAmazon>(amazon, { security: true }),
    /** The project of Google Cloud. */
    google: object<GoogleProjectArgs, AssociatedGoogle>(google, { security: true }),
    /** The tenant of Azure. */
    azure: object<AzureTenantArgs, AssociatedAzure>(azure, { security: true }),
    /** Services of the platform itself. */
    chainguard: object<ChainguardServicesArgs, AssociatedChainguard>(chainguard, { security: true }),
    /** Apps on GitHub. */
    github: object<GithubAppsArgs, AssociatedGithub>(github, { security: true }),
    /**
     * After a create or an update, waits up to a minute until the platform can use these accounts. Still not
     * then: the run fails with the platform's reason, the association stays, and the next run waits again.
     */
    awaitReady: list(word(...CHECKED), {
      unordered: true,
      subresource: true,
      inputOnly: true,
      harmless: "how long the run waits",
    }),
  },
  reads: {
    ...times,
  },
  operations: { afterWrite: awaitReady },
  validate: checkAwaited,
  inputWarnings: {
    name: adviseOnName,
    amazon: warnUnless("account", /^\d{12}$/, "account is usually the 12 digits of an AWS account"),
    google: warnUnless(
      "projectNumber",
      /^\d+$/,
      "projectNumber is usually a number: is this the project's id?",
    ),
  },
});

/** The arguments of an AccountAssociation. */
export interface AccountAssociationArgs extends ArgsOf<typeof accountAssociation>, OfKind {}
/** An account association: the accounts at clouds and services that belong to a group. Its uid is that of its group. */
export interface GetAccountAssociationResult extends ResultOf<typeof accountAssociation> {}
/** Names the accounts, at clouds and elsewhere, that belong to a group. */
export class AccountAssociation extends resource<AccountAssociationArgs>(accountAssociation) {}
export interface AccountAssociation extends Resolved<AccountAssociationArgs> {}
