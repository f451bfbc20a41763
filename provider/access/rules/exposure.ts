import { globMatches } from "../glob";
import type { Entity, World } from "../model";
import { bounded, called, textAt } from "./facts";
import type { Facts } from "./facts";
import type { Draft, Rule } from "./rule";

function hostOf(sink: string | undefined): string | undefined {
  return sink !== undefined && URL.canParse(sink) ? new URL(sink).host : undefined;
}

function sinkHosts({ entities }: World): Set<string> {
  const hosts = new Set<string>();
  for (const { kind, inputs } of entities.values()) {
    const host = kind === "Subscription" ? hostOf(textAt(inputs, "sink")) : undefined;
    if (host !== undefined) hosts.add(host);
  }
  return hosts;
}

const exposure: Rule = {
  id: "X1",
  name: "exposure",
  severities: ["medium"],
  when: "always",
  what: "A subscription delivers events to a host that no subscription delivered to before, and that `--sink-allow` does not name.",
  why: "Events tell who did what to which identity, role and repository, of the group and everything below it, as it happens.",
  fix: "Deliver to a host of your own, that verifies the signature of each event. Name it with `--sink-allow`.",
  except: "Better than an exception is `--sink-allow`.",
  exampleMatch: { group: "acme / security" },
  needsBefore: false,
  find: (facts) => {
    const known = sinkHosts(facts.comparison.before);
    const drafts: Draft[] = [];
    for (const { after } of facts.written("Subscription")) {
      const host = hostOf(textAt(after.inputs, "sink"));
      if (host === undefined || known.has(host)) continue;
      if (facts.options.sinkAllow.some((glob) => globMatches(glob, host))) continue;
      const group = facts.groupOf(after);
      drafts.push(
        facts.aboutEntity(after, {
          severity: "medium",
          field: "sink",
          message: `the events of ${group?.path ?? "a group"} and everything below it go to a new host, ${host}`,
          advice: `see that ${host} is yours; then name it with --sink-allow`,
        }),
      );
    }
    return drafts;
  },
};

const isOpen = (entity: Entity): boolean => entity.unresolved.length > 0;

function unresolvedGrants(facts: Facts, say: (about: Draft) => void): void {
  for (const { grant } of facts.broughtIn()) {
    const { subject, role, group } = grant;
    if (subject.type === "unknown") {
      say(
        facts.aboutGrant(grant, {
          severity: "low",
          field: "subject",
          message: `somebody who is not known yet gains ${role.name ?? role.key} on ${group.path}`,
          advice: "give --inventory, or apply in two steps, so that the preview knows the identity",
        }),
      );
    }
    if (role.capabilities === undefined && !facts.isOwner(role)) {
      say(
        facts.aboutGrant(grant, {
          severity: "low",
          field: "role",
          message: `what ${role.name ?? role.uid ?? "a role"} allows is not known: ${subject.words} gains it on ${group.path}`,
          advice: "give --inventory, so that the capabilities of roles outside of this program are known",
        }),
      );
    }
  }
}

const unresolved: Rule = {
  id: "X2",
  name: "unresolved",
  severities: ["high", "low"],
  when: "high with --strict; low else",
  what: "Something cannot be judged: a reference is not known before the update, the capabilities of a role are not known, or a secret value may have changed without its being visible.",
  why: "No other rule could look at it. It may be harmless; it was not reviewed.",
  fix: "Give `--inventory` (it knows roles, groups and identities outside of the program) and `--before` (the state). Make what others refer to in an update of its own.",
  except: "For a lookup that is never known in a preview.",
  exampleMatch: { role: "team-*" },
  needsBefore: false,
  find: (facts) => {
    const drafts: Draft[] = [];
    const say = (draft: Draft): void => {
      drafts.push(facts.options.strict ? { ...draft, severity: "high" } : draft);
    };
    unresolvedGrants(facts, say);
    for (const { op, after, secretsMayHaveChanged } of facts.comparison.changes) {
      if (after === undefined || op === "read" || op === "same") continue;
      if (isOpen(after)) {
        say(
          facts.aboutEntity(after, {
            severity: "low",
            field: after.unresolved.join(", "),
            message: `${after.unresolved.join(", ")} of ${called(after)} is not known before the update`,
            advice: "give --inventory, or apply in two steps, so that the preview knows the value",
          }),
        );
      }
      if (secretsMayHaveChanged.length > 0) {
        say(
          facts.aboutEntity(after, {
            severity: "low",
            field: secretsMayHaveChanged.join(", "),
            message: `${secretsMayHaveChanged.join(", ")} of ${called(after)} is secret before and after: whether it changes cannot be seen`,
            advice: "ask the author whether the secret changes",
          }),
        );
      }
    }
    const lines = facts.comparison.unresolved;
    if (drafts.length === 0 && lines.length > 0) {
      say({
        severity: "low",
        name: "unresolved",
        field: "unresolved",
        message: `${lines.length === 1 ? "one thing" : `${lines.length} things`} could not be resolved`,
        details: bounded(lines),
        advice: "give --inventory and --before, so that they are known",
      });
    }
    return drafts;
  },
};

export const exposureRules: readonly Rule[] = [exposure, unresolved];
