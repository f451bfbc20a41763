import { CERTIFICATE, GROUP_UID, PUBLIC_KEY, ROLE_UID } from "../../support/samples";
import { UID_WANTED, DIGEST_WANTED, SANITISED } from "./support";
import type { Refusals } from "./support";

export const registry: Refusals = {
  Repo: [
    {
      name: "what the source gives, set beside it",
      inputs: {
        parentUid: GROUP_UID,
        name: "nginx",
        catalogTier: "CATALOG_TIER_BASE",
        bundles: ["base"],
        aliases: ["a:b"],
        activeTags: ["latest"],
        syncConfig: { source: "" },
      },
      failures: [
        "syncConfig.source is missing: give a string that is not empty",
        ...["catalogTier", "bundles", "aliases", "activeTags"].map(
          (key) => `${key} conflicts with syncConfig, whose source provides it: remove it`,
        ),
      ],
    },
    {
      name: "every part of customOverlay, each wrong",
      inputs: {
        parentUid: GROUP_UID,
        name: "nginx",
        customOverlay: {
          contents: {
            runtimeKeyring: [
              { name: ".hidden", content: "no key" },
              { name: "a/b" },
              { name: "acme.rsa.pub", content: PUBLIC_KEY },
            ],
          },
          environment: { CHAINGUARD_X: "1" },
          annotations: {
            "dev.chainguard.x": "1",
            "org.opencontainers.image.title": "1",
          },
          accounts: {
            users: [
              { uid: 1.5, gid: 2147483648 },
              { username: "web", uid: -2147483648 },
            ],
            groups: [{ groupName: "web" }],
          },
          certificates: {
            additional: [{ name: "acme", content: "MIIB" }, { content: CERTIFICATE }, { name: "acme" }],
          },
        },
      },
      failures: [
        "customOverlay.contents.runtimeKeyring[0].name must be a plain file name: letters, digits and _ . @ + -, without a leading dot or a slash",
        'customOverlay.contents.runtimeKeyring[0].content must be an RSA public key in PEM, beginning "-----BEGIN PUBLIC KEY-----"',
        "customOverlay.contents.runtimeKeyring[1].name must be a plain file name: letters, digits and _ . @ + -, without a leading dot or a slash",
        "customOverlay.contents.runtimeKeyring[1].content is missing: give a string that is not empty",
        "customOverlay.environment.CHAINGUARD_X is reserved: keys that begin with CHAINGUARD_ are refused",
        'customOverlay.annotations["dev.chainguard.x"] is reserved: keys that begin with dev.chainguard. or org.opencontainers. are refused',
        'customOverlay.annotations["org.opencontainers.image.title"] is reserved: keys that begin with dev.chainguard. or org.opencontainers. are refused',
        "customOverlay.accounts.users[0].username is missing: give a string that is not empty",
        "customOverlay.accounts.users[0].uid must be a whole number, not the number 1.5",
        "customOverlay.accounts.users[0].gid must be a whole number, not the number 2147483648",
        'customOverlay.accounts.groups[0].groupName is not an argument; did you mean "groupname"?',
        'customOverlay.certificates.additional[0].content must be a certificate in PEM, beginning "-----BEGIN CERTIFICATE-----"',
        "customOverlay.certificates.additional[1].name is missing: give a string that is not empty",
        "customOverlay.certificates.additional[2].content is missing: give a string that is not empty",
      ],
    },
  ],
  RepoReadme: [
    {
      name: "a text of blanks in a repository without a uid",
      inputs: { parentUid: "nginx", content: " \n", readme: "# nginx" },
      failures: [
        "readme is not an argument",
        `parentUid ${UID_WANTED}`,
        "content is missing: give a string that is not empty",
      ],
    },
    {
      name: "all that runs a script",
      inputs: {
        parentUid: GROUP_UID,
        content: '# a\n<SCRIPT src="x"></SCRIPT>\n<img src="x" onError = "y">\n[b](javascript:y)\n',
      },
      failures: [
        `content must not contain <script>: ${SANITISED}`,
        `content must not contain an attribute that runs a script, as in onclick=: ${SANITISED}`,
        `content must not contain a link to javascript:: ${SANITISED}`,
      ],
    },
    ...["<a href=JavaScript:y>b</a>", "[b]( <javascript:y>)", "[b]: javascript:y"].map((content) => ({
      name: content,
      inputs: { parentUid: GROUP_UID, content },
      failures: [`content must not contain a link to javascript:: ${SANITISED}`],
    })),
    {
      name: "more than a message may hold",
      inputs: { parentUid: GROUP_UID, content: "é".repeat(2 ** 21) },
      failures: ["content must be smaller than 4 MiB"],
    },
  ],
  Tag: [
    ...["nginx", "6b3f".repeat(16), `sha512:${"a".repeat(128)}`, `nginx@sha256:${"a".repeat(64)}`].map(
      (digest) => ({
        name: `the digest ${digest.slice(0, 20)}`,
        inputs: { parentUid: GROUP_UID, name: "a".repeat(128), digest },
        failures: [`digest ${DIGEST_WANTED}`],
      }),
    ),
  ],
  Subscription: [
    {
      name: "a sink with a password",
      inputs: { parentUid: ROLE_UID, sink: "https://user:secret@events.example.com" },
      failures: [" sink must not contain a user name or a password"],
    },
  ],
};
