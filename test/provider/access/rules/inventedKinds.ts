import { kind, list, object, secret, shape, string } from "../../../../provider/fields/builders";

const parentUid = string({ format: "groupUid", path: true, required: true });
const access = "subject";

/** A kind of each property that a rule asks for. No rule and no table by kind names any of them. */
export const inventedKinds = {
  relay: kind({
    kind: "Relay",
    noun: "relay",
    collection: "/invented/v2/relays",
    fields: {
      parentUid,
      delivery: object<object>(
        shape({ fields: { url: string({ access, receivesEvents: true }), name: string() } }),
        {},
      ),
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
      pointer: string({ images: "image" }),
      upstream: string({ images: "source" }),
      runsAs: string({ images: "user" }),
      authorities: list(string(), { images: "certificates" }),
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
      claimMatch: object<object>(
        shape({
          fields: { issuer: string({ access }), subjectPattern: string({ access, format: "regex" }) },
        }),
        {},
      ),
      signer: object<object>(
        shape({
          fields: {
            jwks: string({ format: "jwks", access: "keys" }),
            until: string({ format: "timestamp", access: "expiry" }),
          },
        }),
        {},
      ),
    },
  }),
};
