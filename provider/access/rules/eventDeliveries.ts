import { printableAddress } from "../../text/address";
import { addressMatches, hostMatches, hostOf } from "../trust/glob";
import { pathIn } from "../graph/grant";
import type { Scope } from "../graph/grant";
import type { Entity } from "../graph/model";
import type { ResourceChange } from "../review/compare";
import { pathsMeant, textAtPath } from "../graph/describedFields";
import type { Facts } from "./facts";
import { KnownBefore } from "./trustedOwners";
import type { FindingInput, Rule } from "./rule";

const eventReceivers = (kind: string): readonly string[] => pathsMeant(kind, "events.receiver");

const receivesEvents = (kind: string): boolean => eventReceivers(kind).length > 0;

/** Where the events of a group and everything below it are sent; the address and its host where they are known. */
interface Delivery {
  readonly path: string;
  readonly address: string | undefined;
  readonly host: string | undefined;
  readonly group: Scope | undefined;
}

function deliveriesOf(facts: Facts, entity: Entity): Delivery[] {
  return eventReceivers(entity.kind).map((path) => {
    const address = textAtPath(entity.inputs, path);
    const host = address === undefined ? undefined : hostOf(address);
    return { path, address, host, group: facts.groupOf(entity) };
  });
}

/** The addresses, and their hosts, that receive the events of a group by some subscriptions. */
function receiversOf(
  facts: Facts,
  entities: Iterable<Entity>,
): { readonly addresses: KnownBefore; readonly hosts: KnownBefore } {
  const [addresses, hosts] = [new KnownBefore(facts), new KnownBefore(facts)];
  for (const entity of entities) {
    for (const { address, host, group } of deliveriesOf(facts, entity)) {
      if (address === undefined || group === undefined) continue;
      addresses.add(address, [group.key]);
      if (host !== undefined) hosts.add(host, [group.key]);
    }
  }
  return { addresses, hosts };
}

/** Whether `--sink-allow` names an address or its host. */
const isAllowed = (
  { options }: Facts,
  { address = "", host = "" }: Partial<Pick<Delivery, "address" | "host">>,
): boolean =>
  options.sinkAllow.some((glob) =>
    glob.startsWith("https://") ? addressMatches(glob, address) : hostMatches(glob, host),
  );

function* findNewReceivers(facts: Facts): Generator<FindingInput> {
  const { before, inventories, drift } = facts.comparison;
  const known = receiversOf(facts, before.entities.values());
  // Without an inventory only the stack is known, and drift reports what no stack manages.
  const recorded =
    inventories.length === 0 || drift !== undefined ? known : receiversOf(facts, facts.recorded.all());
  for (const { after } of facts.writes(receivesEvents)) {
    for (const { path, address, host, group } of deliveriesOf(facts, after)) {
      // An address that is not known is reported by X3.
      if (address === undefined || isAllowed(facts, { address, host })) continue;
      const isKnown = host !== undefined && known.addresses.isKnownAt(address, group?.key ?? "");
      if (isKnown && recorded.addresses.has(address)) continue;
      yield facts.aboutEntity(after, {
        // A stranger at a root group learns of all that happens in the organisation, and may be another customer of a host.
        severity: group?.isRoot === true && group.uid !== undefined ? "high" : "medium",
        field: path,
        message: `events of ${group === undefined ? "a group" : pathIn(group.path)} and everything below it are sent to an address to which no reviewed subscription sends them: ${printableAddress(address)}`,
        advice:
          "check that the address is yours, and write it without a user name; then allow its host with --sink-allow or settings.sinkAllow, or at a host of many customers the address",
      });
    }
  }
}

export const exposure: Rule = {
  id: "X1",
  name: "exposure",
  severities: ["high", "medium"],
  when: "high at a root group that exists; otherwise medium",
  what: "Events of a group are sent to an address that received none of them before. `--sink-allow` names neither it nor its host. An address that received those of a group above is known. What was made by hand, or in a stack that `--state` does not name, makes none known.",
  why: "Events show who does what to which identity, role and repository of the group and everything below it, as it happens.",
  fix: "Send events to a host of your own that verifies their signatures. Allow it with `--sink-allow`, or `settings.sinkAllow` in the policy file. At a host of many customers, such as `hooks.slack.com`, allow the address.",
  except: "Use `--sink-allow` or `settings.sinkAllow` instead of a suppression.",
  exampleMatch: { group: "acme / security" },
  needsBefore: "object",
  about: receivesEvents,
  find: findNewReceivers,
};

/** The changes after which a resource may send no events to where it sent them. */
function* changedDeliveries(facts: Facts): Generator<ResourceChange & { readonly before: Entity }> {
  for (const change of facts.comparison.changes) {
    const { op, before, kind, isLeftOnServer } = change;
    if (before === undefined || isLeftOnServer === true || !receivesEvents(kind)) continue;
    if (op === "delete" || op === "replace" || op === "update") yield { ...change, before };
  }
}

function* findLostDeliveries(facts: Facts): Generator<FindingInput> {
  const changed = [...changedDeliveries(facts)];
  if (changed.length === 0) return;
  const { after: graph, inventories, drift, recordedElsewhere } = facts.comparison;
  // Who made a subscription by hand may end it by hand, and no stack misses it.
  const isMissed = ({ key, urn, external }: Entity): boolean =>
    inventories.length === 0 ||
    drift !== undefined ||
    (urn !== undefined && external !== true) ||
    recordedElsewhere?.has(key) === true;
  const entities = [...graph.entities.values()].filter(isMissed);
  const remaining = receiversOf(facts, entities);
  const written = new Set(Array.from(facts.writes(receivesEvents), ({ after }) => after.key));
  const unwritten = entities.filter(({ key }) => !written.has(key));
  const lasting = receiversOf(facts, unwritten);
  for (const { op, before, after } of changed) {
    const own = receiversOf(facts, after === undefined ? [] : [after]);
    for (const old of deliveriesOf(facts, before)) {
      const { groups } = facts.comparison;
      const place = old.group?.key;
      // A group that goes too has no events, but a new one may have what was in it.
      const isGone = groups.some(({ key, change }) => change === "removed" && key === place);
      if (isGone && !groups.some(({ change }) => change === "added")) continue;
      const isReceived = (known: KnownBefore, value: string | undefined): boolean =>
        value !== undefined && place !== undefined && known.isKnownAt(value, place);
      // What only goes is deleted last. Otherwise what is written beside it may come after it is gone.
      const isBrief =
        op !== "delete" && ![lasting, own].some(({ addresses }) => isReceived(addresses, old.address));
      const isSent = isReceived(remaining.addresses, old.address);
      if (isSent && !isBrief) continue;
      // Another address at a host may be that of a stranger, unless the organisation has called the host its own.
      const isSameHost = isReceived(remaining.hosts, old.host) && isAllowed(facts, { host: old.host });
      const events = `events of ${old.group === undefined ? "a group" : pathIn(old.group.path)} and everything below it`;
      const address = old.address ?? "an address that is not known";
      yield facts.aboutEntity(before, {
        severity: isSameHost || isSent ? "medium" : "high",
        field: old.path,
        pins: op,
        message: isSent
          ? `${events} may not be sent to ${address} for a time: another subscription is written for it in this change`
          : `${events} are no longer sent to ${address} by any subscription of a given stack`,
        advice:
          "keep the subscription until those who read these events agree, and say that a new address is theirs; to move it, create the new one first, in a separate change",
      });
    }
  }
}

export const lostEvents: Rule = {
  id: "D5",
  name: "lost-events",
  severities: ["high", "medium"],
  when: "medium if another address at a host that `--sink-allow` names receives the events, or another written subscription sends them there; otherwise high",
  what: "The events of a group are no longer sent to an address that received them. A subscription is deleted, moves to another group, or gets another address. Not reported: the same address still receives them, through a subscription of this group or of one above it. Nor is it where the group is deleted too, and the change makes no other one. A subscription that no given stack records does not count: who made it by hand may end it by hand.",
  why: "Whoever wants to do something unseen first stops the alerts.",
  fix: "Keep the subscription, or allow the host of your own receiver with `--sink-allow`. To replace one, create the new one first, and delete the old one in a second change.",
  except: "When a receiver is shut down, for its subscription.",
  exampleMatch: { group: "acme / security" },
  needsBefore: true,
  driftAdvice: "restore the subscription, and find out who removed it",
  about: receivesEvents,
  find: findLostDeliveries,
};
