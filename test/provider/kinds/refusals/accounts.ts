import { GROUP_UID, ROLE_UID, ROOT_UID } from "../../support/samples";
import { GROUP_UID_WANTED, UID_WANTED } from "./support";
import type { Refusals } from "./support";

export const accounts: Refusals = {
  IdentityProvider: [
    {
      name: "a secret in every wrong place: no failure at a property whose value would be printed",
      inputs: {
        parentUid: ROOT_UID,
        name: "directory",
        defaultRole: ROLE_UID,
        clientSecret: "canary",
        oidc: { issuer: "https://login.example.com", clientId: "platform", clientSceret: "canary" },
      },
      failures: [
        " clientSecret is not an argument",
        'oidc.clientSceret is not an argument; did you mean "clientSecret"?',
        "oidc.clientSecret is missing: give clientSecret, pkceEnabled or both",
      ],
    },
    {
      name: "a list in place of the object that holds the secret",
      inputs: { parentUid: ROOT_UID, name: "directory", defaultRole: ROLE_UID, oidc: ["canary"] },
      failures: [" oidc is missing: give an object"],
    },
  ],
  ScimToken: [
    {
      name: "an end in the past, and a negative overlap",
      inputs: { parentUid: GROUP_UID, expireTime: "2026-01-01T00:00:00Z", overlap: "-1s" },
      failures: [
        'expireTime must be in the future, at most 731 days ahead, not "2026-01-01T00:00:00Z"',
        'overlap must be between "0s" and "24h"',
      ],
    },
    {
      name: "an end too far ahead, and an overlap too long",
      inputs: { parentUid: GROUP_UID, expireTime: "2028-03-03T00:00:00Z", overlap: "24h1s" },
      failures: ["expireTime must be at most two years ahead", 'overlap must be between "0s" and "24h"'],
    },
  ],
  AccountAssociation: [
    {
      name: "every member wrong",
      inputs: {
        parentUid: "acme",
        name: "a",
        amazon: { account: " " },
        google: { projectId: " ", projectNumber: " " },
        azure: { tenantId: " ", clientIds: { "": "x", pull: null } },
        chainguard: { serviceBindings: { INGESTER: "ingester" } },
        github: {
          appInstallations: {
            app: { installations: [{ installationId: "1" }] },
            "012": { installations: [] },
            "12": { installations: [{ name: "acme" }, { installationId: 7 }] },
            "13": { installations: [{ installationId: "1.5" }] },
          },
        },
        awaitReady: ["aws", "github", ""],
      },
      failures: [
        `parentUid ${GROUP_UID_WANTED}`,
        ...["amazon.account", "google.projectId", "google.projectNumber", "azure.tenantId"].map(
          (path) => `${path} is missing: give a string that is not empty`,
        ),
        'azure.clientIds[""] must have a key that is not empty',
        "azure.clientIds.pull must have a value",
        `chainguard.serviceBindings.INGESTER ${UID_WANTED}`,
        'github.appInstallations["12"].installations[0].installationId is missing: give a string that is not empty',
        'github.appInstallations["12"].installations[1].installationId must be a string, as in "12345", not the number 7',
        'github.appInstallations["13"].installations[0].installationId must be a whole number up to 9223372036854775807, as in 12345',
        "github.appInstallations.app key must be a whole number, as in 12345",
        'github.appInstallations["012"] key must be a whole number, as in 12345',
        'github.appInstallations["012"].installations is missing: give at least one',
        "awaitReady[0] must be amazon, google or azure",
        "awaitReady[1] must be amazon, google or azure",
        "awaitReady[2] must not be empty",
      ],
    },
    {
      name: "waiting for accounts that are not given",
      inputs: {
        parentUid: GROUP_UID,
        name: "a",
        amazon: { account: "123456789012" },
        google: null,
        awaitReady: ["amazon", "google", "azure", "azure"],
      },
      failures: ["google", "azure"].map(
        (name) => `awaitReady names ${name}, but ${name} is not set: set it, or remove it here`,
      ),
    },
  ],
};
