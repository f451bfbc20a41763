import type { AccessMeaning } from "../../fields/fieldSpec";
import type { Json, Props } from "../../fields/values";
import type { ChangeWithAfter } from "../review/compare";
import type { Severity } from "../review/finding";
import { memberPath } from "../../fields/walk";
import { isObject } from "../../fields/values";
import { fieldsWhere, listAtPath, textAt, textAtPath, valueAt } from "../graph/describedFields";
import type { DescribedField } from "../graph/describedFields";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { isPulledByName } from "./rule";
import { labelEntity } from "./wording";
import { listFirst } from "../../text/plain";

/** Fields that say which images a name stands for. */
const imageNames = fieldsWhere(({ access }) => access === "images.image" || access === "images.source");

const shortenDigest = (digest: string | undefined): string =>
  digest === undefined ? "another image" : digest.replace(/^(sha256:[0-9a-f]{12})[0-9a-f]+$/, "$1…");

/** Deleted or replaced resources by whose names images are pulled. */
function* findRemovedNames(facts: Facts): Generator<FindingInput> {
  for (const { op, before } of facts.removals()) {
    if (!isPulledByName(before.kind)) continue;
    // A tag names an image, and a repository holds all of its own.
    const holdsImages = !imageNames(before.kind).some(({ field }) => field.access === "images.image");
    const images = holdsImages ? ", with its images" : "";
    yield facts.aboutEntity(before, {
      severity: "high",
      pins: op,
      message: `${facts.label(before)} is ${op}d${images}: pulls of ${op === "delete" ? "it" : "the old one"} fail`,
      advice: "check that nothing pulls it any more, and keep it until then",
    });
  }
}

/** Names that stand for other images after a change. */
function* findOtherImages(facts: Facts, { op, before, after }: ChangeWithAfter): Generator<FindingInput> {
  if (op !== "update" || before === undefined) return;
  for (const { path, field } of imageNames(after.kind)) {
    const [from, to] = [before, after].map(({ inputs }) => textAtPath(inputs, path));
    if (from === to) continue;
    const isMoved = field.access === "images.image";
    yield isMoved
      ? facts.aboutEntity(after, {
          severity: "medium",
          field: path,
          message: `${facts.label(after)} is moved from ${shortenDigest(from)} to ${shortenDigest(to)}`,
          details: [`from ${from ?? "unknown"}`, `to ${to ?? "unknown"}`],
          advice: "name in the pull request how the new image was built; deploy by digest",
        })
      : facts.aboutEntity(after, {
          severity: "high",
          field: path,
          message: `${facts.label(after)} copies its images from ${to ?? "nowhere"} in place of ${from ?? "nowhere"}`,
          advice: "create a second repository for the new source, and point what pulls to it",
        });
  }
}

const namesImages = (kind: string): boolean => isPulledByName(kind) || imageNames(kind).length > 0;

const registryLoss: Rule = {
  id: "R1",
  name: "registry-loss",
  severities: ["high", "medium"],
  when: "medium for a tag that is moved; otherwise high",
  what: "A repository or a tag is deleted or replaced, a tag points to another image, or a repository copies its images from another source. A new tag is not reported, nor is the first source of a new repository. Nor is a tag that only gets another resource in the program. But all of it is written then: if somebody moved it by hand, it moves back, which an inventory with tags shows. Other updates of a tag leave what the program does not change.",
  why: "Deployments pull images by these names. A deleted name stops the next start; a moved name or another source changes what runs without a deployment.",
  fix: "Deploy by digest. Keep a repository until nothing pulls from it. Move a tag in a pull request that names the image and how it was built.",
  except: "For tags that a release moves (`latest`, `1.2`), by the pipeline that releases.",
  exampleMatch: { name: "latest" },
  needsBefore: true,
  about: namesImages,
  *find(facts) {
    yield* findRemovedNames(facts);
    for (const change of facts.writes(namesImages)) yield* findOtherImages(facts, change);
  },
};

/** What every image trusts, takes or is once a field gains a value. */
interface ImageTrust {
  readonly severity: Severity;
  /** Follows "every image of repository api". */
  readonly consequence: string;
  readonly advice?: string;
}

const imageTrusts: Readonly<Partial<Record<AccessMeaning, ImageTrust>>> = {
  "images.certificates": { severity: "high", consequence: "trusts new certificates" },
  "images.packageKeys": { severity: "high", consequence: "accepts packages signed with new keys" },
  "images.certificateProviders": {
    severity: "high",
    consequence: "trusts the certificates of new providers",
  },
  "images.packageRepositories": {
    severity: "medium",
    consequence: "installs packages from new repositories",
  },
  "images.variables": {
    severity: "high",
    consequence: "gets variables that choose what runs in it, or whom it trusts",
    advice: "check what each of them makes the image load, call or trust; set them where the image runs",
  },
  "images.user": {
    severity: "medium",
    consequence: "runs as root",
    advice: "run the image as an unprivileged user",
  },
  "images.users": {
    severity: "medium",
    consequence: "gets users who are root",
    advice: "give each user a number of its own above 0",
  },
};

/**
 * Variables by which a loader, a language or a tool takes code, settings, certificates, a proxy, a server or a source of packages from
 * elsewhere: by what their names end with, and the others as their manuals say. S1 judges all others.
 */
const DANGEROUS_VARIABLES = new RegExp(
  `^(?:${[
    // Where code and settings are, and how a program is started.
    ".*(?:PATHS?|OPTIONS|OPTS?|_ARGS|MODULES?|ASKPASS|INDEX|_HOME|RC|_CONF)|.*(?:CONFIG|TOOLCHAIN)(?:_.*)?|DENO_DIR|NGINX_ENVSUBST_.*|.*ASSEMBLIES|.*EDITOR",
    // Servers that are asked, and get secrets.
    ".*(?:ADDRS?|BROKERS?|DSN|ENDPOINT.*|HOSTS?|MIRRORS?|PROXY|SERVERS?|UR[IL]S?)|GRPC_(?:PROXY|XDS)_.*",
    // Whom a program trusts, and as whom it signs in.
    ".*(?:CREDENTIALS|INSECURE|ISSUER|JWKS|PASSWORD|UNAUTHORIZED|VERIFY).*|.*AUTH_METHOD|.*DISABLE_(?:AUTH|SSL|TLS).*|.*CERT_(?:FILE|DIR)|.*CA_(?:BUNDLE|CERTS?|FILE)",
    "OPENSSL_.*|SSLKEYLOGFILE|GNUPGHOME|HOSTALIASES|LOCALDOMAIN|PGSERVICEFILE|TNS_ADMIN|NODE_EXTRA_CA_CERTS|DENO_CERT|.*_TOKEN_FILE",
    // Loaders, shells, and the programs that others start.
    "LD_.*|DYLD_.*|GLIBC_TUNABLES|(?:BASH_)?ENV|PS4|SHELLOPTS|ZDOTDIR|PROMPT_COMMAND|IFS|TERMINFO|LESS(?:OPEN|CLOSE)|EDITOR|VISUAL|BROWSER|(?:MAN)?PAGER|VIMINIT",
    // Languages.
    "PYTHON(?:HOME|STARTUP|USERBASE|INSPECT|BREAKPOINT|WARNINGS)|PERL5?(?:LIB|DB)|RUBYLIB|PHP_INI_SCAN_DIR|LUA_(?:INIT|PATH|CPATH).*",
    "DOTNET_(?:STARTUP_HOOKS|ADDITIONAL_DEPS)|(?:CORECLR|COR)_.*|(?:ELIXIR_)?ERL_.*|R_(?:PROFILE|ENVIRON|LIBS).*|JULIA_.*",
    "RUSTC(?:_.*)?|(?:MAKE|GO|RUST)FLAGS|OCAMLRUNPARAM|FLASK_APP|SPRING_APPLICATION_JSON",
    // Sources of packages and tools.
    "PIP_.*|BUNDLE_.*|COMPOSER_.*|YARN_.*|GOSUMDB|GONOSUM.*|CARGO_.*|GIT_.*|SSH_.*|NUGET_.*|CONDA_CHANNELS",
  ].join("|")})$`,
  "i",
);

const trustFields = fieldsWhere(({ access }) => access !== undefined && imageTrusts[access] !== undefined);

const changesImageTrust = (kind: string): boolean => trustFields(kind).length > 0;

/** Options that only limit memory. */
const MEMORY_LIMITS =
  /^(?:(?:^| +)(?:--max-[a-z-]+=\d+|-X(?:m[nsx]|ss)\d+[kmg]?|-XX:(?:Max|Min|Initial)\w+=[\d.]+[kmg]?))+$/i;

function isDangerous(name: string, value: string | undefined): boolean {
  return DANGEROUS_VARIABLES.test(name) && !MEMORY_LIMITS.test(value ?? "");
}

/** What cannot be root, with or without a group: a number above 0, or another name. `+0` and `0x0` may be read as 0. */
const UNPRIVILEGED = /^(?:0*[1-9][0-9]*|(?!root(?::|$))[A-Za-z_][\w.-]*)(?::|$)/;

function isRootUser(user: string | undefined): boolean {
  return user !== undefined && !UNPRIVILEGED.test(user.trim());
}

/** Whether an added user has the number of root, which is also that of a user without one, or a number that could not be read. */
const isRootItem = (user: Json): boolean => isObject(user) && !(Number(user["uid"] ?? 0) > 0);

const nameOfItem = (item: Json): string =>
  typeof item === "string" ? item : (textAt(item, "name") ?? textAt(item, "username") ?? "an unnamed one");

/** What a field adds to what images trust: new items of a list, by name, or a user who is root. */
function addedTrust({ path, field }: DescribedField, before: Props | undefined, after: Props): string[] {
  if (field.access === "images.user") {
    const [old, now] = [textAtPath(before, path), textAtPath(after, path)];
    return now !== undefined && isRootUser(now) && !isRootUser(old) ? [now] : [];
  }
  if (field.access === "images.variables") {
    const [old, now] = [before, after].map((inputs) => valueAt(inputs, path));
    return isObject(now)
      ? Object.keys(now).filter(
          (key) => isDangerous(key, textAt(now, key)) && textAt(now, key) !== textAt(old, key),
        )
      : [];
  }
  if (field.access === "images.users") {
    const [old, now] = [before, after].map((inputs) =>
      listAtPath(inputs, path).filter(isRootItem).map(nameOfItem),
    );
    return now?.filter((name) => old?.includes(name) !== true) ?? [];
  }
  const known = new Set(listAtPath(before, path).map((item) => JSON.stringify(item)));
  return listAtPath(after, path)
    .filter((item) => !known.has(JSON.stringify(item)))
    .map(nameOfItem);
}

function* findAddedTrust(facts: Facts, { before, after }: ChangeWithAfter): Generator<FindingInput> {
  for (const trustField of trustFields(after.kind)) {
    const { path, field } = trustField;
    const trust = field.access && imageTrusts[field.access];
    if (trust === undefined) continue;
    const added = addedTrust(trustField, before?.inputs, after.inputs);
    if (added.length === 0) continue;
    yield facts.aboutEntity(after, {
      severity: trust.severity,
      // S1 judges the variables that are not named here.
      field:
        field.access === "images.variables" ? added.map((key) => memberPath(path, key)).join(", ") : path,
      message: `every image of ${labelEntity(after)} ${trust.consequence}: ${listFirst(added, 4)}`,
      advice:
        trust.advice ??
        "check who controls it; prefer a mirror and a key of your own, and certificates given at run time",
    });
  }
}

const imageTrust: Rule = {
  id: "R2",
  name: "image-trust",
  severities: ["high", "medium"],
  when: "high for certificates, keys and variables; medium for package repositories and root",
  what: "The overlay of a repository's images adds a certificate, a certificate provider, a package key or a package repository, or runs the image as root. Or it adds a user with the number of root, which a user without `uid` has too. Or it sets a variable that chooses what an image loads, trusts or connects to, as `PATH`, `LD_PRELOAD`, `HTTPS_PROXY`, `PIP_INDEX_URL` and `DATABASE_URL` do. What existed before is not reported, nor are packages, annotations and other variables.",
  why: "Every image of the repository then trusts whoever holds that key or certificate, or runs that repository.",
  fix: "Add the certificate where it is needed, at run time. Mirror the packages into a repository of your own that is signed with your key. Run as an unprivileged user.",
  except: "For the certificate authority and the mirror of your own company.",
  exampleMatch: { name: "base-*" },
  exampleFields: ["customOverlay.certificates.additional"],
  about: changesImageTrust,
  *find(facts) {
    for (const change of facts.writes(changesImageTrust)) yield* findAddedTrust(facts, change);
  },
};

export const registryRules: readonly Rule[] = [registryLoss, imageTrust];
