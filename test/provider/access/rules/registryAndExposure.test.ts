import type { Entity } from "../../../../provider/access/model";
import type { Props } from "../../../../provider/engine/spec";
import {
  binding,
  comparison,
  entity,
  groups,
  identity,
  payments,
  pinned,
  viewer,
} from "../../../support/access";
import { found, severitiesOf } from "./support";

const base = [...groups, viewer];
const digest = (char: string): string => `sha256:${char.repeat(64)}`;
const repo = (more: Props = {}): Entity => entity("Repo", "api", { parentUid: payments, ...more });
const tag = (to: string, more: Props = {}): Entity =>
  entity("Tag", "latest", { parentUid: repo().key, digest: digest(to), ...more });
const change = (before: Entity[], after: Entity[], given = {}) =>
  comparison([...base, ...before], [...base, ...after], given);

describe("R1 registry-loss", () => {
  it.each([
    ["a repository that is deleted", [repo()], [], "high"],
    ["a tag that is deleted", [repo(), tag("a")], [repo()], "high"],
    ["a tag that is moved", [repo(), tag("a")], [repo(), tag("b")], "medium"],
    [
      "another source",
      [repo({ syncConfig: { source: "a" } })],
      [repo({ syncConfig: { source: "b" } })],
      "high",
    ],
    ["a source that is set", [repo()], [repo({ syncConfig: { source: "b" } })], "high"],
  ])("finds %s", (_, before, after, severity) => {
    expect(severitiesOf("R1", change(before, after))).toEqual([severity]);
  });

  it("finds a repository that is replaced", () => {
    expect(severitiesOf("R1", change([repo()], [repo()], { replaced: [] }))).toEqual([]);
    const replaced = repo();
    expect(severitiesOf("R1", change([repo()], [replaced], { replaced: [replaced] }))).toEqual(["high"]);
  });

  it("says nothing of what is new, nor of a tag's other fields", () => {
    expect(found("R1", change([], [repo({ syncConfig: { source: "a" } }), tag("a")]))).toEqual([]);
    expect(found("R1", change([tag("a")], [tag("a", { deprecated: true })]))).toEqual([]);
    expect(found("R1", change([repo()], [repo({ description: "new" })]))).toEqual([]);
  });

  it("says from where to where", () => {
    expect(found("R1", change([tag("a")], [tag("b")]))[0]?.message).toBe(
      "tag latest is moved from sha256:aaaaaaaaaaaa… to sha256:bbbbbbbbbbbb…",
    );
  });
});

describe("R2 image-trust", () => {
  const overlay = (customOverlay: Props): Entity => repo({ customOverlay });
  const certificate = { name: "corp-ca", content: "PEM" };

  it.each([
    ["a certificate", { certificates: { additional: [certificate] } }, ["high"]],
    ["a key", { contents: { runtimeKeyring: [{ name: "k.pub", content: "PEM" }] } }, ["high"]],
    ["a provider of certificates", { certificates: { providers: ["corp"] } }, ["high"]],
    ["a package repository", { contents: { runtimeRepositories: ["https://apk.example"] } }, ["medium"]],
    ["root by name", { accounts: { runAs: "root" } }, ["medium"]],
    ["root by number", { accounts: { runAs: "0:0" } }, ["medium"]],
    ["another user", { accounts: { runAs: "nonroot" } }, []],
    ["a user whose number begins with 0", { accounts: { runAs: "0123" } }, []],
    ["a package", { contents: { packages: ["curl"] } }, []],
    ["a variable", { environment: { TZ: "UTC" } }, []],
  ])("%s", (_, customOverlay, severities) => {
    expect(severitiesOf("R2", change([repo()], [overlay(customOverlay)]))).toEqual(severities);
  });

  it("counts what is added, also where a name stays and its content changes", () => {
    const before = overlay({ certificates: { additional: [certificate] } });
    expect(
      found(
        "R2",
        change(
          [before],
          [repo({ description: "x", customOverlay: { certificates: { additional: [certificate] } } })],
        ),
      ),
    ).toEqual([]);
    const other = overlay({ certificates: { additional: [{ ...certificate, content: "OTHER" }] } });
    expect(found("R2", change([before], [other]))[0]?.message).toBe(
      "every image of repo api trusts further certificates: corp-ca",
    );
    expect(found("R2", change([before], [repo()]))).toEqual([]);
  });
});

describe("X1 exposure", () => {
  const to = (name: string, sink: string): Entity =>
    entity("Subscription", name, { parentUid: payments, sink });

  it("finds a new host, and neither one that is known nor one that is allowed", () => {
    const before = [to("a", "https://events.acme.example/a")];
    expect(found("X1", change(before, [...before, to("b", "https://elsewhere.example/x")]))).toMatchObject([
      {
        severity: "medium",
        message: "the events of acme / payments and everything below it go to a new host, elsewhere.example",
      },
    ]);
    expect(found("X1", change(before, [...before, to("b", "https://events.acme.example/b")]))).toEqual([]);
    const allowed = { sinkAllow: ["*.acme.example"] };
    expect(found("X1", change([], [to("b", "https://new.acme.example")]), allowed)).toEqual([]);
    expect(found("X1", change([], [to("b", "https://acme.example.evil")]), allowed)).toHaveLength(1);
    expect(found("X1", change(before, before))).toEqual([]);
  });
});

describe("X2 unresolved", () => {
  const who = identity("ci", pinned);
  const lookup = entity("Role", "lookup", {}, { external: true });

  it("finds a role whose capabilities are not known: low, and high with --strict", () => {
    const given = change([who, lookup], [who, lookup, binding(who, lookup, payments)]);
    expect(found("X2", given)).toMatchObject([
      { severity: "low", message: "what lookup allows is not known: ci gains it on acme / payments" },
    ]);
    expect(severitiesOf("X2", given, { strict: true })).toEqual(["high"]);
  });

  it("finds somebody who is not known, and a property that is not known", () => {
    const somebody = change(
      [],
      [entity("RoleBinding", "b", { parentUid: payments, identityUid: "?", roleUid: viewer.key })],
    );
    expect(severitiesOf("X2", somebody)).toEqual(["low"]);
    const unknown = change([], [identity("ci", pinned, { unresolved: ["claimMatch.subject"] })]);
    expect(found("X2", unknown)[0]?.message).toBe(
      "claimMatch.subject of identity ci is not known before the update",
    );
  });

  it("finds a secret that may have changed", () => {
    const idp = entity("IdentityProvider", "sso", {}, { hidden: ["oidc.clientSecret"] });
    const fields = { op: "update", kind: idp.kind, before: idp, after: idp, fields: [] } as const;
    const given = change([idp], [idp], {
      changes: [{ ...fields, secretsMayHaveChanged: ["oidc.clientSecret"] }],
    });
    expect(found("X2", given)[0]?.message).toContain("whether it changes cannot be seen");
  });

  it("tells of lines that belong to no resource once", () => {
    const given = change([], [], { unresolved: ["a", "b"] });
    expect(found("X2", given)).toMatchObject([
      { message: "2 things could not be resolved", details: ["a", "b"] },
    ]);
  });

  it("says nothing where all is known", () => {
    expect(found("X2", change([who], [who, binding(who, viewer, payments)]))).toEqual([]);
  });
});
