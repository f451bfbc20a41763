import type { CodeTable } from "./description";

const DOCTOR =
  "`npx pulumi-platform doctor` checks settings, credential and connection, one after the other.";

/** Why there is no connection, or no credential for it. */
export const connectionCodes = {
  PP2001: {
    title: "An address is missing",
    meaning:
      "Neither the environment nor the stack's configuration has the address of the API, or of the token issuer.",
    look: DOCTOR,
    fix: "Set the variable that the message names, for example `PLATFORM_BASE_URL`. [Settings](settings.md) lists all.",
  },
  PP2002: {
    title: "A setting has a wrong value",
    meaning: "The setting is no address, number, duration or uid of the form that it needs.",
    look: "The message names the setting, and what it must be. [Settings](settings.md) has an example of each.",
    fix: "Correct the value.",
  },
  PP2003: {
    title: "Settings conflict",
    meaning: "Two settings of the same source are set of which only one may be.",
    look: "The message names both.",
    fix: "Unset one of them.",
  },
  PP2004: {
    title: "The credential would go to an unconfirmed address",
    meaning:
      "The address comes from the stack's configuration and the credential from the environment, or the two addresses differ.",
    look: "`pulumi config get platform:baseUrl` and `echo $PLATFORM_BASE_URL` show both addresses.",
    fix: "If you trust the address, set the variable that the message names to the same value. If not, do not run.",
  },
  PP2005: {
    title: "The stack's configuration cannot be read",
    meaning: "`pulumi config` failed for the stack that `--stack` names.",
    look: "Run `pulumi config --stack <stack>` in the same folder.",
    fix: "Log in to the backend, give the passphrase of the stack, or name the folder with `--cwd`.",
  },
  PP2006: {
    title: "No credential",
    meaning: "No setting holds an access token, nor an identity and an OIDC token to exchange.",
    look: DOCTOR,
    fix: "Set `PLATFORM_TOKEN`, or `PLATFORM_IDENTITY` in CI. [Settings](settings.md) lists all sources.",
  },
  PP2007: {
    title: "A credential is malformed or its file cannot be read",
    meaning: "The setting is empty, holds a path instead of a token, or names a file that cannot be read.",
    look: "The message names the setting. It never shows the value.",
    fix: "Put the token itself in the setting, or the path in the setting for files.",
  },
  PP2008: {
    title: "GitHub Actions gave no OIDC token",
    meaning: "The job asked GitHub for its OIDC token and was refused.",
    look: "The message has GitHub's response. The log of the step `Set up job` lists the permissions of the job.",
    fix: "Add `permissions: id-token: write` to the job.",
  },
  PP2009: {
    title: "The token exchange was refused",
    meaning: "The issuer does not accept the OIDC token for this identity.",
    look: "The message shows issuer, subject and audience of the OIDC token. Compare them with the identity.",
    fix: "Change the identity's `claimMatch` or `audience`, or run from the branch or environment that it trusts.",
  },
  PP2010: {
    title: "The address of the token issuer is wrong",
    meaning: "The server at this address does not exchange tokens.",
    look: "`npx pulumi-platform doctor` shows the address and where it comes from.",
    fix: "Correct `PLATFORM_ISSUER_URL` (or `platform:issuerUrl`). Where the API itself is the wrong server, see PP2107.",
  },
  PP2011: {
    title: "The backend is not confirmed",
    meaning:
      "Only `backend.url` of the project file names the backend, or its address is plain `http`. A pull request can change that file.",
    look: "`grep -A 1 backend Pulumi.yaml` and `echo $PULUMI_BACKEND_URL` show both addresses. `pulumi whoami -v` shows the login.",
    fix: "If you trust the address, set `PULUMI_BACKEND_URL` to it, or run `pulumi login` with it. If not, do not run.",
  },
  PP2012: {
    title: "A file of the project decides what runs",
    meaning:
      "A stack file sets environment variables by Pulumi ESC (`environment`), or the project file replaces a plugin (`plugins`, `packages`) or the program (`runtime: client`). A pull request can change these files.",
    look: "`grep -nE 'environment|plugins|packages|runtime' Pulumi*.yaml` shows the property that the message names.",
    fix: "Set the variables in the job, and write the configuration as `config`. Remove `plugins`, and name published packages in `packages`.",
  },
  PP2101: {
    title: "The server cannot be reached",
    meaning: "The connection was refused, or there is no way to the host. The request was not sent.",
    look: DOCTOR,
    fix: "Check the address and the port, whether the server runs, and whether a VPN or a proxy is needed.",
  },
  PP2102: {
    title: "The host name cannot be resolved",
    meaning: "There is no host of this name, or the name server does not respond. The request was not sent.",
    look: DOCTOR,
    fix: "Correct the address. If it is right, check the DNS of this machine or of the runner.",
  },
  PP2103: {
    title: "The connection broke",
    meaning:
      "The connection was reset or failed before the response was complete. The request may have been carried out.",
    look: DOCTOR,
    fix: "Run again: a request that may be repeated is repeated, and a lost create is looked for.",
  },
  PP2104: {
    title: "No response in time",
    meaning: "The server did not respond within the time-out. The request may have been carried out.",
    look: "`PLATFORM_LOG=debug` prints each request with its duration.",
    fix: "Run again. Where the server is slow, raise `PLATFORM_TIMEOUT` (or `platform:timeout`).",
  },
  PP2105: {
    title: "The TLS connection failed",
    meaning: "The certificate is unknown, expired or for another host, or the server does not speak TLS.",
    look: DOCTOR,
    fix: "For a certificate authority of your company, set `NODE_EXTRA_CA_CERTS` to its PEM file. Never switch checks off.",
  },
  PP2106: {
    title: "The proxy failed",
    meaning: "The proxy cannot be reached, has a wrong address, or refused the connection.",
    look: "`env | grep -i _proxy` shows the proxy settings. The message names the host that responded.",
    fix: "Correct `HTTPS_PROXY`, give it user name and password, or add the host to `NO_PROXY`.",
  },
  PP2107: {
    title: "The response is not from the Platform API",
    meaning:
      "Another server responded: a login page, a redirect, JSON of another form, or a response of more than 32 MiB.",
    look: DOCTOR,
    fix: "Correct `PLATFORM_BASE_URL` (or `platform:baseUrl`). If it is right, a proxy is in between. Where the token issuer is the wrong server, see PP2010.",
  },
  PP2108: {
    title: "A response is incomplete",
    meaning: "The response was cut off, is invalid JSON, or lacks what every such response has.",
    look: "`PLATFORM_LOG=debug` prints each request and its status.",
    fix: "Run again. If it stays, report it to the operator of the server.",
  },
} as const satisfies CodeTable;
