import { Group, Identity } from "pulumi-platform";
import { Team } from "./team";
import type { TeamArgs } from "./team";

// A new organisation. In one that exists, take its uid in place of this group: const organisation = { id: "<uid>" };
const organisation = new Group("organisation", { name: "acme", description: "Acme's organisation" });

const identity = (name: string, subject: string) =>
  new Identity(name, {
    parentUid: organisation.id,
    name,
    claimMatch: { issuer: "https://login.acme.example.com", subject },
  }).id;
// Of those that are new in the same change a review names every grant that is possible: add people first, their access later.
const people = {
  ada: identity("ada", "ada@acme.example.com"),
  grace: identity("grace", "grace@acme.example.com"),
  "ci-payments": identity("ci-payments", "ci:payments"),
};

const teams: Record<string, Omit<TeamArgs, "parentUid">> = {
  payments: {
    description: "Takes the money",
    roles: { "image pusher": ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_TAG_CREATE", "CAP_TAG_UPDATE"] },
    access: { editor: ["ada"], viewer: ["grace"], "image pusher": ["ci-payments"] },
    repos: { api: "The payment service", worker: "Settles the day" },
  },
  search: {
    description: "Finds things",
    access: { editor: ["grace"], viewer: ["ada"] },
    repos: { indexer: "Builds the index" },
  },
};

export const groups = Object.fromEntries(
  Object.entries(teams).map(([name, team]) => [
    name,
    new Team(name, { ...team, parentUid: organisation.id }, people).group.id,
  ]),
);
