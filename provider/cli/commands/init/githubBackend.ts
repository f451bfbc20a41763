import { isMap, isScalar } from "yaml";
import type { Document, Node, YAMLMap, YAMLSeq } from "yaml";
import { isSelfManaged } from "./ciBackend";
import type { BackendKind, CiBackend } from "./ciBackend";

/*
 * The examples read the state from Pulumi Cloud. Here the workflows get the address of another backend, and the step that
 * opens it with the OIDC token of the job.
 */

/** Whose credential a job gets: the one that may read the state, or the one that may write it. */
type Access = "PREVIEW" | "DEPLOY";

interface Login {
  readonly action: string;
  readonly version: string;
  readonly inputs: (access: Access, url: string) => Readonly<Record<string, string>>;
}

const variable = (name: string): string => `\${{ vars.${name} }}`;

const parameterOf = (url: string, name: string): string | undefined =>
  (URL.canParse(url) ? new URL(url).searchParams.get(name) : null) ?? undefined;

const LOGINS: Readonly<Partial<Record<BackendKind, Login>>> = {
  s3: {
    action: "aws-actions/configure-aws-credentials@e3dd6a429d7300a6a4c196c26e071d42e0343502",
    version: "v4.0.2",
    inputs: (access, url) => ({
      "role-to-assume": variable(`AWS_${access}_ROLE`),
      "aws-region": parameterOf(url, "region") ?? variable("AWS_REGION"),
    }),
  },
  gs: {
    action: "google-github-actions/auth@71fee32a0bb7e97b4d33d548e7d957010649d8fa",
    version: "v2.1.3",
    inputs: (access) => ({
      workload_identity_provider: variable("GCP_WORKLOAD_IDENTITY_PROVIDER"),
      service_account: variable(`GCP_${access}_SERVICE_ACCOUNT`),
    }),
  },
  azblob: {
    action: "azure/login@a457da9ea143d694b1b9c7c869ebb04ebe844ef5",
    version: "v2.3.0",
    inputs: (access) => ({
      "client-id": variable(`AZURE_${access}_CLIENT_ID`),
      "tenant-id": variable("AZURE_TENANT_ID"),
      "subscription-id": variable("AZURE_SUBSCRIPTION_ID"),
    }),
  },
};

function isStepOf(step: YAMLMap, action: string): boolean {
  const uses = step.get("uses");
  return typeof uses === "string" && uses.startsWith(`${action}@`);
}

function createLogin(
  document: Document,
  { action, version, inputs }: Login,
  access: Access,
  url: string,
): Node {
  const step = document.createNode({ uses: action, with: inputs(access, url) });
  const uses = step.get("uses", true);
  if (isScalar(uses)) uses.comment = ` ${version}`;
  return step;
}

/** Gives a job that uses the state what opens the backend. */
function openBackend(document: Document, job: YAMLMap, backend: CiBackend): void {
  const steps = job.get("steps") as YAMLSeq<YAMLMap>;
  const cloud = steps.items.find((step) => isStepOf(step, "pulumi/auth-actions"));
  if (cloud === undefined) return;
  if (backend.hasPassphrase) {
    const env = job.get("env") as YAMLMap;
    env.set("PULUMI_CONFIG_PASSPHRASE", "${{ secrets.PULUMI_CONFIG_PASSPHRASE }}");
  }
  const url = backend.url ?? variable("PULUMI_BACKEND_URL");
  if (backend.kind === "selfHosted") cloud.setIn(["with", "cloud-url"], url);
  if (!isSelfManaged(backend.kind)) return;
  const access = String(cloud.getIn(["with", "scope"])).endsWith("deploy") ? "DEPLOY" : "PREVIEW";
  const login = LOGINS[backend.kind];
  steps.items.splice(steps.items.indexOf(cloud), 1);
  // A checkout removes the file of credentials that an action has written before it.
  const place = steps.items.findIndex((step) => isStepOf(step, "actions/checkout")) + 1;
  if (login !== undefined) steps.items.splice(place, 0, createLogin(document, login, access, url) as YAMLMap);
}

/** Replaces Pulumi Cloud by another backend in a workflow. */
export function fillBackend(document: Document, backend: CiBackend): void {
  const { kind, url } = backend;
  if (kind !== "cloud" && kind !== "local")
    document.setIn(["env", "PULUMI_BACKEND_URL"], url ?? variable("PULUMI_BACKEND_URL"));
  if (kind === "azblob" && parameterOf(url ?? "", "storage_account") === undefined)
    document.setIn(["env", "AZURE_STORAGE_ACCOUNT"], variable("AZURE_STORAGE_ACCOUNT"));
  const jobs = document.get("jobs") as YAMLMap;
  for (const { value } of jobs.items) if (isMap(value)) openBackend(document, value, backend);
}
