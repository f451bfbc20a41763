import type * as pulumi from "@pulumi/pulumi";
import { printable } from "../engine/messages";
import { PlatformResource } from "../engine/resource";
import type { Resolved } from "../engine/resource";
import { defineFields, defineResource, description, parentGroup } from "../engine/spec";
import type { Api, Clock, Failure, Json, ObjectSpec, Pattern, Props, StringSpec } from "../engine/spec";

/** An account of Amazon Web Services. */
export interface AmazonAccountArgs {
  /** The number of the account. */
  account: pulumi.Input<string>;
}

/** A project of Google Cloud. */
export interface GoogleProjectArgs {
  /** The id of the project, as in `acme-production`. */
  projectId: pulumi.Input<string>;
  /** The number of the project, as text. */
  projectNumber: pulumi.Input<string>;
}

/** A tenant of Azure. */
export interface AzureTenantArgs {
  /** The id of the tenant. */
  tenantId: pulumi.Input<string>;
  /** Client ids, by what they are for. */
  clientIds: pulumi.Input<Record<string, pulumi.Input<string>>>;
}

/** Services of the platform itself that act for the group. */
export interface ChainguardServicesArgs {
  /** The uid of the identity that each service acts as, by the name of the service. */
  serviceBindings: pulumi.Input<Record<string, pulumi.Input<string>>>;
}

/** Where one GitHub app is installed. */
export interface GithubInstallationArgs {
  /** The id of the installation: a number, as text. */
  installationId: pulumi.Input<string>;
  /** Where it is installed: for people, so a difference at the server is not drift. */
  name?: pulumi.Input<string>;
}

/** Where a GitHub app is installed. */
export interface GithubAppArgs {
  /** The installations. Order means nothing. */
  installations: pulumi.Input<pulumi.Input<GithubInstallationArgs>[]>;
}

/** Apps on GitHub. */
export interface GithubAppsArgs {
  /** The installations of each app, by the id of the app. */
  appInstallations?: pulumi.Input<Record<string, pulumi.Input<GithubAppArgs>>>;
}

/** The arguments of an AccountAssociation. */
export interface AccountAssociationArgs {
  /** The uid of the group, which has at most one association. Changing it replaces the association. */
  parentUid: pulumi.Input<string>;
  /** The name: lower-case letters, digits, blank, dot, underscore, dash. */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters. */
  description?: pulumi.Input<string>;
  /** The account of Amazon Web Services. */
  amazon?: pulumi.Input<AmazonAccountArgs>;
  /** The project of Google Cloud. */
  google?: pulumi.Input<GoogleProjectArgs>;
  /** The tenant of Azure. */
  azure?: pulumi.Input<AzureTenantArgs>;
  /** Services of the platform itself. */
  chainguard?: pulumi.Input<ChainguardServicesArgs>;
  /** Apps on GitHub. */
  github?: pulumi.Input<GithubAppsArgs>;
  /**
   * After a create or an update, waits up to a minute until the platform can use these accounts. Still not
   * then: the run fails with the platform's reason, the association stays, and the next run waits again.
   */
  awaitReady?: pulumi.Input<pulumi.Input<"amazon" | "google" | "azure">[]>;
}

const COLLECTION = "/iam/v2/accountAssociations";
const CHECKED = ["amazon", "google", "azure"] as const;
const READY_WITHIN_MS = 60_000;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 10_000;

const text: StringSpec = { type: "string", required: true, security: true, access: "match" };

const number: Pattern = { regex: /^(0|[1-9]\d{0,18})$/, must: "a whole number, as in 12345" };

const amazon: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<AmazonAccountArgs>({ account: text }),
};

const google: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<GoogleProjectArgs>({ projectId: text, projectNumber: text }),
};

const azure: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<AzureTenantArgs>({
    tenantId: text,
    clientIds: { type: "map", required: true, security: true, access: "powers", values: { type: "string" } },
  }),
};

const chainguard: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<ChainguardServicesArgs>({
    serviceBindings: {
      type: "map",
      required: true,
      security: true,
      access: "powers",
      values: { type: "string", format: "uid" },
    },
  }),
};

const github: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<GithubAppsArgs>({
    appInstallations: {
      type: "map",
      security: true,
      access: "powers",
      keys: number,
      values: {
        type: "object",
        fields: defineFields<GithubAppArgs>({
          installations: {
            type: "list",
            required: true,
            unordered: true,
            items: {
              type: "object",
              fields: defineFields<GithubInstallationArgs>({
                installationId: { type: "string", required: true, pattern: number },
                name: { type: "string", informative: true },
              }),
            },
          },
        }),
      },
    },
  }),
};

function awaited(inputs: Props): string[] {
  const names = inputs["awaitReady"];
  return Array.isArray(names) ? [...new Set(names)].filter((name) => typeof name === "string") : [];
}

/** Waiting for an account that is not there would only end in a failure. */
function checkAwaited(inputs: Props, unknown: ReadonlySet<string>): Failure[] {
  return awaited(inputs)
    .filter((name) => CHECKED.some((checked) => checked === name))
    .filter((name) => inputs[name] === undefined && !unknown.has(name))
    .map((name) => ({
      property: "awaitReady",
      reason: `names ${name}, but ${name} is not given: give it, or do not wait for it`,
    }));
}

async function awaitReady(api: Api, uid: string, news: Props, clock: Clock): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  let open = awaited(news);
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    const reasons: string[] = [];
    const still: string[] = [];
    for (const name of open) {
      const answer = await api.post(
        api.address(COLLECTION, uid, ":checkAccountAssociation"),
        { providerType: `ACCOUNT_PROVIDER_TYPE_${name.toUpperCase()}` },
        { repeatable: true },
      );
      if (answer["status"] === "CHECK_STATUS_READY") continue;
      still.push(name);
      const told = [answer["reason"], answer["message"]].filter(
        (part): part is string => typeof part === "string" && part !== "",
      );
      reasons.push([name, ...told.map((part) => printable(part))].join(": "));
    }
    if (still.length === 0) return;
    open = still;
    const left = until - performance.now();
    if (left <= 0) throw new Error(`not ready after ${READY_WITHIN_MS / 1000} s: ${reasons.join("; ")}`);
    await clock.sleep(Math.min(wait, left));
  }
}

/** A warning about a member of a block that does not look as it usually does. */
const advice =
  (key: string, usual: RegExp, warning: string) =>
  (block: Json | undefined): string[] => {
    const value =
      block !== null && typeof block === "object" && !Array.isArray(block) ? block[key] : undefined;
    return typeof value === "string" && !usual.test(value) ? [warning] : [];
  };

/** Names the accounts, at clouds and elsewhere, that belong to a group. Contract, section 5. */
export class AccountAssociation extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<AccountAssociationArgs>({
    kind: "AccountAssociation",
    noun: "account association",
    collection: COLLECTION,
    events: "iam.account_associations",
    listsByName: true,
    sharesParentUid: true,
    fields: {
      parentUid: parentGroup({ required: true }),
      name: { type: "string", required: true },
      description,
      amazon,
      google,
      azure,
      chainguard,
      github,
      awaitReady: {
        type: "list",
        unordered: true,
        apart: true,
        inputOnly: true,
        items: {
          type: "string",
          pattern: { regex: /^(amazon|google|azure)$/, must: "amazon, google or azure" },
        },
      },
    },
    deletesBeforeReplace: "belowSameParent",
    operations: { afterWrite: awaitReady },
    gives: "always",
    rules: checkAwaited,
    advise: {
      amazon: advice("account", /^\d{12}$/, "account is usually the 12 digits of an AWS account"),
      google: advice(
        "projectNumber",
        /^\d+$/,
        "projectNumber is usually a number: is this the project's id?",
      ),
    },
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly description: pulumi.Output<string | undefined>;
  declare readonly amazon: pulumi.Output<Resolved<AmazonAccountArgs> | undefined>;
  declare readonly google: pulumi.Output<Resolved<GoogleProjectArgs> | undefined>;
  declare readonly azure: pulumi.Output<Resolved<AzureTenantArgs> | undefined>;
  declare readonly chainguard: pulumi.Output<Resolved<ChainguardServicesArgs> | undefined>;
  declare readonly github: pulumi.Output<Resolved<GithubAppsArgs> | undefined>;
  declare readonly awaitReady: pulumi.Output<("amazon" | "google" | "azure")[] | undefined>;

  constructor(name: string, args: AccountAssociationArgs, opts?: pulumi.CustomResourceOptions) {
    super(AccountAssociation.spec, name, args, opts);
  }

  /** Reads the association of a group that this program does not manage: `uid` is the group's. */
  static get(
    name: string,
    uid: pulumi.Input<string>,
    opts?: pulumi.CustomResourceOptions,
  ): AccountAssociation {
    return new AccountAssociation(name, undefined as unknown as AccountAssociationArgs, { ...opts, id: uid });
  }
}
