import { printable } from "../api/errors";
import { isObject } from "../engine/values";
import type { Entity } from "./model";

/** Who can be a subject, told to people. */
export interface Described {
  readonly words: string;
  /** More than one outsider can be it. */
  readonly open: boolean;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const shown = (value: unknown, limit = 120): string => printable(text(value), limit);
const quoted = (value: unknown): string => `“${shown(value)}”`;

/** `refs/heads/main` as "branch main". */
function refWords(ref: string): string {
  const [, kind = "", name = ""] = /^refs\/(heads|tags|pull)\/(.+)$/.exec(ref) ?? [];
  if (kind === "") return `ref ${ref}`;
  return `${{ heads: "branch", tags: "tag", pull: "pull request" }[kind] ?? "ref"} ${name}`;
}

/** Issuers of CI systems and clouds: who a subject of theirs is. Undefined where the subject has another form. */
interface KnownIssuer {
  readonly matches: (issuer: URL) => boolean;
  readonly name: string;
  readonly subject: (subject: string) => string | undefined;
}

const issuers: readonly KnownIssuer[] = [
  {
    matches: ({ hostname }) => hostname === "token.actions.githubusercontent.com",
    name: "GitHub Actions",
    subject: (subject) => {
      const [, repository = "", rest = ""] = /^repo:([^:]+):(.+)$/.exec(subject) ?? [];
      if (repository === "") return undefined;
      const [, key = "", value = ""] = /^(ref|environment):(.+)$/.exec(rest) ?? [];
      const where =
        key === "ref"
          ? refWords(value)
          : key === "environment"
            ? `environment ${value}`
            : rest === "pull_request"
              ? "any pull request"
              : rest;
      return `GitHub Actions of ${repository}, ${where}`;
    },
  },
  {
    matches: ({ hostname }) => hostname === "gitlab.com" || hostname.startsWith("gitlab."),
    name: "GitLab CI",
    subject: (subject) => {
      const [, project = "", type = "", ref = ""] =
        /^project_path:([^:]+):ref_type:([^:]+):ref:(.+)$/.exec(subject) ?? [];
      return project === "" ? undefined : `GitLab CI of ${project}, ${type} ${ref}`;
    },
  },
  {
    matches: ({ hostname }) => hostname === "agent.buildkite.com",
    name: "Buildkite",
    subject: (subject) => {
      const [, organization = "", pipeline = "", ref = ""] =
        /^organization:([^:]+):pipeline:([^:]+):ref:([^:]+)(?::.*)?$/.exec(subject) ?? [];
      return pipeline === "" ? undefined : `Buildkite of ${organization}/${pipeline}, ${refWords(ref)}`;
    },
  },
  {
    matches: ({ hostname }) => hostname === "accounts.google.com",
    name: "Google",
    subject: (subject) => `Google account ${subject}`,
  },
  {
    matches: ({ hostname }) => hostname === "oidc.circleci.com",
    name: "CircleCI",
    subject: (subject) => {
      const [, organization = "", project = ""] = /^org\/([^/]+)\/project\/([^/]+)/.exec(subject) ?? [];
      return project === "" ? undefined : `CircleCI of organization ${organization}, project ${project}`;
    },
  },
  {
    matches: ({ hostname }) => hostname === "login.microsoftonline.com" || hostname === "sts.windows.net",
    name: "Azure",
    subject: (subject) => `Azure principal ${subject}`,
  },
];

function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer;
}

/** A pattern that one text alone matches is no pattern: `^repo:acme/pay$`. */
function isLiteral(pattern: string): boolean {
  return /^\^(?:[^\\^$.|?*+()[\]{}]|\\[^a-zA-Z0-9])*\$$/.test(pattern);
}

/** Further conditions narrow who it is; without them a reader would take the subject for more than it is. */
function conditions(match: Record<string, unknown>): string {
  const parts = (["claims", "claimPatterns"] as const).flatMap((key) => {
    const claims = match[key];
    if (!isObject(claims)) return [];
    const sign = key === "claims" ? "is" : "matches";
    return Object.entries(claims).map(([claim, value]) => `${shown(claim, 40)} ${sign} ${shown(value, 60)}`);
  });
  return parts.length === 0 ? "" : `, if ${parts.join(" and ")}`;
}

function describeClaims(match: Record<string, unknown>): Described {
  const [issuer, subject] = [text(match["issuer"]), text(match["subject"])];
  const [issuerPattern, subjectPattern] = [text(match["issuerPattern"]), text(match["subjectPattern"])];
  const open = (issuer === "" && !isLiteral(issuerPattern)) || (subject === "" && !isLiteral(subjectPattern));
  const suffix = conditions(match);
  if (issuer === "") {
    const who = subject === "" ? `any subject that matches ${quoted(subjectPattern)}` : shown(subject);
    return { words: `${who} of any issuer that matches ${quoted(issuerPattern)}${suffix}`, open };
  }
  const known = URL.canParse(issuer) ? issuers.find(({ matches }) => matches(new URL(issuer))) : undefined;
  const name = known?.name ?? shown(hostOf(issuer));
  if (subject === "")
    return { words: `${name}, any subject that matches ${quoted(subjectPattern)}${suffix}`, open };
  const [, namespace = "", account = ""] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(subject) ?? [];
  const words =
    account === ""
      ? (known?.subject(subject) ?? `${subject} of ${name}`)
      : `Kubernetes service account ${namespace}/${account} of ${hostOf(issuer)}`;
  return { words: `${printable(words, 200)}${suffix}`, open };
}

function describeAws(aws: Record<string, unknown>): Described {
  const account = shown(aws["awsAccount"], 40);
  const [arn, pattern] = [text(aws["arn"]), text(aws["arnPattern"])];
  const open =
    (arn === "" && !isLiteral(pattern)) ||
    (text(aws["userId"]) === "" &&
      text(aws["userIdPattern"]) !== "" &&
      arn === "" &&
      !isLiteral(text(aws["userIdPattern"])));
  if (arn === "") {
    return { words: `AWS account ${account}, any principal that matches ${quoted(pattern)}`, open };
  }
  const [, type = "", name = ""] = /^arn:[^:]*:(?:iam|sts):[^:]*:[^:]*:([^/]+)\/(.+)$/.exec(arn) ?? [];
  const what = { role: "role", user: "user", "assumed-role": "session" }[type];
  const words = what === undefined ? arn : `${what} ${name}`;
  return { words: `AWS ${printable(words, 160)} of account ${account}`, open };
}

/** Who can be an identity. */
export function describeIdentity({ inputs, unresolved, name }: Entity): Described {
  const { claimMatch, staticKeys, awsIdentity, servicePrincipal } = inputs;
  if (unresolved.some((path) => /^(claimMatch|staticKeys|awsIdentity|servicePrincipal)\b/.test(path))) {
    return { words: `identity ${quoted(name)}, whose trust is not known yet`, open: true };
  }
  if (isObject(claimMatch)) return describeClaims(claimMatch);
  if (isObject(staticKeys)) {
    const [issuer, subject] = [shown(staticKeys["issuer"]), shown(staticKeys["subject"])];
    return { words: `holder of the static keys of ${hostOf(issuer)}, subject ${subject}`, open: false };
  }
  if (isObject(awsIdentity)) return describeAws(awsIdentity);
  if (typeof servicePrincipal === "string" && servicePrincipal !== "") {
    return {
      words: `the platform's service ${printable(servicePrincipal.replace(/^SERVICE_PRINCIPAL_/, ""), 60)}`,
      open: false,
    };
  }
  return { words: name === undefined ? "an identity" : `signed-in user ${quoted(name)}`, open: false };
}

/** Who can redeem an invite. */
export function describeInvite({ inputs, unresolved }: Entity): Described {
  const email = text(inputs["email"]);
  if (unresolved.includes("email")) return { words: "whoever an invite not known yet is for", open: true };
  if (email !== "") return { words: `${shown(email)}, by invite`, open: false };
  const times = inputs["singleUse"] === true ? "the first" : "anyone";
  return { words: `${times} with the invite's code`, open: true };
}

/** Who signs in by an identity provider. */
export function describeProvider({ inputs, name }: Entity): Described {
  const issuer = isObject(inputs["oidc"]) ? text(inputs["oidc"]["issuer"]) : "";
  const from = issuer === "" ? "" : ` (${shown(hostOf(issuer))})`;
  return { words: `anyone who signs in by ${quoted(name)}${from}`, open: false };
}
