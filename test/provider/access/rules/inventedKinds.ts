import { kind, list, map, object, secret, shape, string } from "../../../../provider/fields/builders";

const parentUid = string({ format: "groupUid", path: true, required: true });
const federation = shape({
  fields: {
    authority: string({ access: "trust.issuer" }),
    authorities: string({ access: "trust.issuer", format: "regex" }),
    workload: string({ access: "trust.subject" }),
    workloads: string({ access: "trust.subject", format: "regex" }),
    meantFor: string({ access: "trust.audience" }),
    meantForAny: string({ access: "trust.audience", format: "regex" }),
    also: map(string(), { access: "trust.claims" }),
    alsoLike: map(string({ format: "regex" }), { access: "trust.claims" }),
  },
});

/** A kind of each property that a rule asks for. No rule and no table by kind names any of them. */
export const inventedKinds = {
  relay: kind({
    kind: "Relay",
    noun: "relay",
    collection: "/invented/v2/relays",
    fields: {
      parentUid,
      delivery: object<object>(shape({ fields: { url: string({ access: "events.receiver" }) } }), {}),
      token: secret(),
    },
  }),
  mirror: kind({
    kind: "Mirror",
    noun: "mirror",
    collection: "/invented/v2/mirrors",
    usedBy: "imageName",
    fields: {
      parentUid,
      pointer: string({ access: "images.image" }),
      upstream: string({ access: "images.source" }),
      runsAs: string({ access: "images.user" }),
      authorities: list(string(), { access: "images.certificates" }),
    },
  }),
  shelf: kind({
    kind: "Shelf",
    noun: "shelf",
    collection: "/invented/v2/shelves",
    usedBy: "uid",
    deletion: {
      blockedBy: "children",
      dependents: [
        { collection: "/registry/v2/repos", noun: "repositories in it", parameter: "uidp.children_of" },
      ],
    },
    fields: { parentUid },
  }),
  robot: kind({
    kind: "Robot",
    noun: "robot",
    collection: "/invented/v2/robots",
    fields: {
      parentUid,
      federation: object<object>(federation, {}),
      delegates: list(object<object>(federation, {}), { unordered: false }),
      cloud: object<object>(
        shape({
          fields: {
            tenant: string({ access: "trust.account" }),
            actor: string({ access: "trust.arn" }),
            actors: string({ access: "trust.arn", format: "regex" }),
          },
        }),
        {},
      ),
      signer: object<object>(
        shape({
          fields: {
            authority: string({ access: "trust.issuer" }),
            workload: string({ access: "trust.subject" }),
            jwks: string({ format: "jwks", access: "trust.keys" }),
            until: string({ format: "timestamp", access: "trust.keysEnd" }),
          },
        }),
        {},
      ),
    },
  }),
};
