import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { globSync } from "tinyglobby";
import { specs } from "../../../access/documents/specs";
import { acceptUnverified, effectiveAccess } from "../../../access/graph/effectiveAccess";
import { buildGraphs, joinSteps } from "../../../access/graph/graphBuilder";
import { familyOf } from "../../../access/rules/capabilityEffects";
import { errorMessage } from "../../../errors/codedError";
import { readTextFile } from "../../../text/files";
import { printable } from "../../../text/printable";
import { takeInventory } from "../../../inventory/takeInventory";
import { readEnvironment } from "../../../settings/environment";
import { UsageError } from "../../framework/exitCodes";
import { printableAddress } from "../../../text/address";
import { findBackend } from "../../input/backend";
import type { Connection } from "../../input/connection";
import { failed, missing, ok, unchecked } from "../checkResult";
import type { CheckResult } from "../checkResult";
import { listFirst, quoteForShell } from "../../../text/plain";
import { listManaged } from "../../../access/documents/stateExport";
import type { Grant } from "../../../access/graph/grant";
import { addTo, compareTexts, isObject } from "../../../fields/values";
import { PROJECT_FILES, stackFiles } from "../../input/projectFiles";
import { runPulumi } from "../../input/pulumi";
import { readStates } from "../../input/states";
import { describeForCi, findMissingInCi, inspectFolder, moveCommands, readStackFile } from "../init/folder";
import type { CiBackend, CiHost, ProjectFolder } from "../init/folder";
import { STAND_IN, ciCommands, ciFiles, findFurtherProject } from "../init/workflows";
import type { CiSettings } from "../init/workflows";
import { checkOwners } from "./codeOwners";
import {
  checkContents,
  checkImages,
  checkPins,
  checkPlaceholders,
  checkWorkflows,
  isOfReview,
  readPipelines,
  readWorkflows,
} from "./files";
import { checkGithub } from "./github";
import { checkGitlab } from "./gitlab";

/*
 * `doctor --ci`: whether the review of this folder's program is set up as its pages ask.
 */

/** @throws UsageError in a folder without a program, where there are programs below it. */
function checkFolder({ folder, project }: ProjectFolder): void {
  if (project !== undefined) return;
  const files = globSync(`*/**/{${PROJECT_FILES.join()}}`, { cwd: folder, ignore: "**/node_modules/**" });
  if (files.length === 0) return;
  const folders = files.map((file) => `${dirname(file)}/`).sort(compareTexts);
  throw new UsageError(
    "PP5011",
    `--ci checks the folder of a program: run it in ${printable(listFirst(folders), 300)}, where the program is`,
  );
}

/** The lockfile from which the jobs install. */
function checkLockfile(found: ProjectFolder): CheckResult {
  const { folders, packageManager } = found;
  const { lockfile, name, add } = packageManager;
  const folder = folders.find((one) => existsSync(join(one, lockfile)));
  if (folder === undefined)
    return missing("lockfile", `there is no ${lockfile}, from which the jobs install`, `${name} install`);
  return readTextFile(join(folder, lockfile)).includes("pulumi-platform")
    ? ok("lockfile", lockfile)
    : missing(
        "lockfile",
        `${lockfile} does not name pulumi-platform: no job would install it`,
        `${add} pulumi-platform`,
      );
}

/** Corepack, by which the jobs start pnpm and Yarn, takes a version without a hash from any server that answers. */
function checkPackageManager({ manifest, above, packageManager: { name } }: ProjectFolder): CheckResult[] {
  if (name === "npm") return [];
  const pinned = [manifest, ...above.map((one) => one.manifest)]
    .map((one) => one?.packageManager)
    .find((one) => one !== undefined);
  const check = "package manager";
  if (typeof pinned === "string" && /\+sha\d+\.\w/.test(pinned))
    return [ok(check, pinned.replace(/\+.*/, ""))];
  const text = "package.json pins no packageManager with its hash: the jobs run whichever version is served";
  return [missing(check, text, `corepack use ${name}@latest`)];
}

/** The dependencies that the jobs cannot install, though this machine can. */
function checkDependencies(found: ProjectFolder): CheckResult[] {
  return findMissingInCi(found).map(({ name, why, command }) =>
    missing("dependencies", `${printable(name, 300)} ${why}, and CI does not have it`, command),
  );
}

/** A state that no job can reach. @param next The backend that the files for CI name. */
function checkBackend(
  { kind, named }: CiBackend,
  { stacks, stack = "<stack>" }: ProjectFolder,
  next = "<backend>",
): CheckResult[] {
  if (kind !== "local") return [];
  if (stackFiles(stacks, undefined).length === 0) {
    const text = `the first stack would be at ${printableAddress(named.url)}, which CI cannot reach: name another backend before you create it, as state-for-ci.md says`;
    return [missing("backend", text, `export PULUMI_BACKEND_URL=${quoteForShell(next)}`)];
  }
  const text = `the stacks of this folder are at ${printableAddress(named.url)}, which CI cannot reach: move them as state-for-ci.md says`;
  return [missing("backend", text, moveCommands(stack, next).join(" && "))];
}

/** The address of the backend that files for CI name. */
function backendIn(texts: readonly string[]): string | undefined {
  const line =
    /^ *PULUMI_BACKEND_URL: (?:\{ value: |\$\{\{ vars\.PULUMI_BACKEND_URL \|\| )?["']?([a-z0-9]+:\/\/[^"'\s,]+)/m;
  return line.exec(texts.join("\n"))?.[1];
}

/** The settings with which `init` would write for this folder. */
function settingsOf(found: ProjectFolder, host: CiHost, backend: CiBackend): CiSettings {
  const { path, defaultBranch, packageManager, runtime, project = "" } = found;
  const further = findFurtherProject(found, project, host);
  const stack = found.stack ?? "prod";
  const { organization } = STAND_IN;
  return {
    ...{ organization, project, stack, path, defaultBranch, packageManager, runtime, backend },
    ...(further && { further }),
    baseUrl: readEnvironment()["PLATFORM_BASE_URL"],
    issuerUrl: readEnvironment()["PLATFORM_ISSUER_URL"],
  };
}

const IDENTITIES = ["PREVIEW", "REVIEW", "DEPLOY"] as const;
const variableOf = (name: string): string => `PLATFORM_${name}_IDENTITY`;
const checkOf = (name: string): string => `identity ${name.toLowerCase()}`;

/** What the checks of the jobs' identities are made from. */
interface IdentityChecks {
  readonly variables: ReadonlyMap<string, string>;
  readonly commands: readonly string[];
  /** Whose resources the deployment must be able to change. */
  readonly stack: string | undefined;
}

/** The capabilities that the resources of a stack take, to be read too, each with the kinds that need it. */
async function neededBy(stack: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const kinds = new Set(
    (await readStates([], [stack], undefined)).flatMap(listManaged).map(({ kind }) => kind),
  );
  const needed = new Map<string, string[]>();
  for (const kind of [...kinds].sort()) {
    const { read = [], create = [], update = [], delete: deleting = [] } = specs[kind]?.capabilities ?? {};
    const all = new Set([...read, ...create, ...update, ...deleting]);
    for (const capability of all) addTo(needed, capability, kind);
  }
  return needed;
}

/** What the jobs' identities may do: that of the deployment writes, and those that review only read. */
async function checkCredentials(
  { client }: Connection,
  { variables, commands, stack }: IdentityChecks,
): Promise<CheckResult[]> {
  const needed = stack === undefined ? undefined : await neededBy(stack);
  const root = variables.get("PLATFORM_ROOT_GROUP") ?? "";
  const inventory = await takeInventory(client, { root, now: Date.now });
  const graph = acceptUnverified(buildGraphs(joinSteps([], undefined), inventory).after);
  const isAbsent = (uid: string): boolean =>
    inventory.complete && !inventory.objects.some((one) => one.kind === "Identity" && one.uid === uid);
  return IDENTITIES.map((name) => {
    const [variable, check, isDeploy] = [variableOf(name), checkOf(name), name === "DEPLOY"];
    const uid = variables.get(variable);
    if (!uid) return unchecked(check, `${variable} is not set`);
    const set = commands.find((line) => line.includes(` set ${variable} `)) ?? "";
    const command = set.startsWith("glab") ? set.replace(" set ", " update ") : set;
    if (isAbsent(uid)) return missing(check, `${uid} is the uid of no identity below ${root}`, command);
    // A job is one identity: what takes its tokens is another one.
    const access = effectiveAccess(graph, { who: uid }).access.filter(
      (each) => each.byTokensOf === undefined,
    );
    const writing = access.flatMap(({ grant }) =>
      (grant.role.capabilities ?? [])
        .filter((capability) => familyOf(capability).effect !== "reads")
        .map((capability) => ({ capability, grant })),
    );
    const [first] = writing;
    if (first !== undefined) {
      const role = printable(first.grant.role.name ?? first.grant.role.uid ?? "", 80);
      const capabilities = writing.map(({ capability }) => capability);
      const may = `${listFirst(capabilities, 1)}, by the role ${role} at ${printable(first.grant.group.path, 200)}`;
      if (isDeploy) return checkDeployment(check, { uid, may, role }, access, needed);
      const { sourceKind, uid: source = "" } = first.grant;
      // A command that deletes it would take the access of the deployment where the variable has the uid of that one.
      return missing(
        check,
        `${uid} may also ${may} (${sourceKind} ${source}): it must only read; set ${variable} if it is the uid of another identity, else take the grant out of the program that declares it, or delete what no program does`,
        command,
      );
    }
    if (!inventory.complete) return unchecked(check, "the token may not list the whole organisation");
    if (access.some(({ grant }) => grant.role.capabilities === undefined))
      return unchecked(check, `what a role of ${uid} allows is not known`);
    if (isDeploy)
      return missing(
        check,
        `${uid} may write nothing: no update would pass; bind owner, or less, or set ${variable} if it is the uid of another identity`,
        "pulumi up --refresh",
      );
    return access.length === 0
      ? missing(
          check,
          `${uid} has no role: the review would see nothing; bind viewer at the root group`,
          "pulumi up --refresh",
        )
      : ok(check, `${uid} only reads`);
  });
}

/** Whether the identity of the deployment may do what the stack's resources need. */
function checkDeployment(
  check: string,
  { uid, may, role }: Record<"uid" | "may" | "role", string>,
  access: readonly { readonly grant: Grant }[],
  needed: ReadonlyMap<string, readonly string[]> | undefined,
): CheckResult {
  if (needed === undefined)
    return ok(check, `${uid} may ${may}; --stack compares that with what the stack's resources need`);
  const held = new Set(access.flatMap(({ grant }) => grant.role.capabilities ?? []));
  const lacking = [...needed].filter(([capability]) => !held.has(capability));
  if (lacking.length === 0) return ok(check, `${uid} may ${may}: all that the stack's resources need`);
  const names = lacking.map(([capability]) => capability).join(", ");
  const kinds = [...new Set(lacking.flatMap(([, each]) => each))].sort().join(", ");
  return missing(
    check,
    `${uid} lacks ${names}, for ${kinds} of the stack: an update of these would fail; add them to the capabilities of the role ${role} in the program that makes it, then run this`,
    "pulumi up",
  );
}

/** What the variables of CI should name: the outputs of the program that `init` writes, and the group of its configuration. */
async function readIdentityOutputs(
  stack: string,
  { rootUid = "" }: Connection,
): Promise<ReadonlyMap<string, string>> {
  const outputs: unknown = JSON.parse(await runPulumi(["stack", "output", "--json"], stack));
  const named = IDENTITIES.flatMap((name) => {
    const uid = isObject(outputs) ? outputs[`${name.toLowerCase()}Identity`] : undefined;
    return typeof uid === "string" ? [[variableOf(name), uid] as const] : [];
  });
  return new Map([["PLATFORM_ROOT_GROUP", rootUid], ...named]);
}

async function checkIdentities(
  connect: () => Promise<Connection>,
  checks: IdentityChecks,
): Promise<CheckResult[]> {
  const { stack } = checks;
  const all = (reason: string) => IDENTITIES.map((name) => unchecked(checkOf(name), reason));
  const notRead = "the variables that name it and the root group were not read";
  const isRead = (variables: IdentityChecks["variables"]) => Boolean(variables.get("PLATFORM_ROOT_GROUP"));
  if (stack === undefined && !isRead(checks.variables)) return all(notRead);
  try {
    const connection = await connect();
    const outputs =
      stack === undefined || isRead(checks.variables) ? [] : await readIdentityOutputs(stack, connection);
    const variables = new Map([...outputs, ...checks.variables]);
    return isRead(variables) ? await checkCredentials(connection, { ...checks, variables }) : all(notRead);
  } catch (error) {
    return all(printable(errorMessage(error), 300));
  }
}

/** Checks what the pages of the review ask for, in the folder of a program. */
export async function checkCi(
  connect: () => Promise<Connection>,
  stack: string | undefined,
): Promise<CheckResult[]> {
  try {
    return await checkRepository(connect, stack);
  } catch (error) {
    return [failed("repository", error)];
  }
}

async function checkRepository(
  connect: () => Promise<Connection>,
  stack: string | undefined,
): Promise<CheckResult[]> {
  const env = readEnvironment();
  const found = inspectFolder(".");
  checkFolder(found);
  const { host, root, folder, packageManager } = found;
  if (host === undefined) {
    throw new UsageError(
      "PP5011",
      "--ci needs a repository whose remote origin, or whose files, name GitHub or GitLab: git remote add origin <address>",
    );
  }
  const stackFile = readStackFile(found, found.stack ?? "prod");
  const ofShell = describeForCi(findBackend(found.folder, env), stackFile);
  const files = host === "github" ? readWorkflows(root) : readPipelines(root);
  const shown = host === "github" ? files.filter(isOfReview) : files;
  // The files are judged for the backend that they name, also where the state of this shell is elsewhere.
  const named = backendIn(shown.map(({ text }) => text));
  const other = named === (ofShell.url ?? ofShell.named.url.replace(/\/$/, "")) ? undefined : named;
  const backend =
    other === undefined ? ofShell : describeForCi({ url: other, source: "environment" }, stackFile);
  const settings = settingsOf(found, host, backend);
  const commands = ciCommands(host, settings);
  const written = ciFiles(host, settings);
  const name = ["ci.ts", "ci.js"].find((one) => existsSync(join(folder, one)));
  const identities = name === undefined ? undefined : { path: name, text: readTextFile(join(folder, name)) };
  const common = [
    checkLockfile(found),
    ...checkPackageManager(found),
    ...checkDependencies(found),
    ...checkBackend(ofShell, found, other),
    ...(other === undefined || ofShell.kind === "local"
      ? []
      : [
          unchecked(
            "backend",
            `${shown[0]?.path ?? ""} names ${printableAddress(other)}, and this shell ${printableAddress(ofShell.named.url)}: the files are judged for the first`,
            `export PULUMI_BACKEND_URL=${quoteForShell(other)}`,
          ),
        ]),
    ...(identities === undefined ? [] : checkPlaceholders("identities", [identities])),
    checkOwners(found, host),
  ];
  if (host === "gitlab") {
    const { results, variables } = await checkGitlab(found, env, commands);
    // The file that was not moved yet; else that of the other project, which GitLab shows.
    const ofFile =
      results.some(({ check }) => check === "pins") || files.length === 0
        ? []
        : [
            ...checkPlaceholders("pipeline", files),
            checkImages(files),
            ...checkContents("pipeline", files, written),
          ];
    return [
      ...common,
      ...ofFile,
      ...results,
      ...(await checkIdentities(connect, { variables, commands, stack })),
    ];
  }
  const { results, variables } = await checkGithub(found, env, {
    files,
    commands,
    ...(identities && { identities }),
  });
  return [
    checkWorkflows(files, packageManager.run),
    ...checkContents("workflows", shown, written),
    checkPins(files),
    ...common,
    ...results,
    ...(await checkIdentities(connect, { variables, commands, stack })),
  ];
}
