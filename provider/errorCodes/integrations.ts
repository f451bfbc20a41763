import type { CodeTable } from "./description";

/** Posting to GitHub and GitLab, events, the emulator, and what nobody expected. */
export const integrationCodes = {
  PP7001: {
    title: "No token to post with",
    meaning: "The job has no token of the host, or the host does not say whose it is.",
    look: "The message names the variable.",
    fix: "Pass the token: `env: GITHUB_TOKEN: ${{ github.token }}`, or `GITLAB_TOKEN`. See [CI](ci.md).",
  },
  PP7002: {
    title: "The job is about no pull or merge request",
    meaning: "The variables of the job name no request to post to.",
    look: "`env | grep -E 'GITHUB_|CI_MERGE'` in the job shows them.",
    fix: "Run the command in a job for `pull_request` or for merge requests, or leave `--post` out.",
  },
  PP7003: {
    title: "A variable of the host has a wrong value",
    meaning: "The repository, or the address of the host's API, has another form than the host sets.",
    look: "The message names the variable.",
    fix: "Unset it, or give the value as the message says.",
  },
  PP7004: {
    title: "The host refused the comment",
    meaning: "GitHub or GitLab responded with an error, or with something that is not its API.",
    look: "The message has the status and the reason of the host.",
    fix: "Give the token the permission to write comments. For pull requests of forks, see [CI](ci.md).",
  },
  PP7005: {
    title: "The step has no summary to write",
    meaning: "`--summary` works only in a step of GitHub Actions, and only while its summary has room.",
    look: "`echo $GITHUB_STEP_SUMMARY` in the step shows the file.",
    fix: "Leave `--summary` out, or run the command in GitHub Actions.",
  },
  PP8001: {
    title: "A request is no event",
    meaning:
      "Its method, headers or body are not those of an event of the platform. The receiver responds with 400, 405, 408 or 413.",
    look: "The message names the header or the part. A gateway in between may have changed the request.",
    fix: "Send events in binary mode, with the headers and the body unchanged.",
  },
  PP8002: {
    title: "An event was refused",
    meaning: "Its signature, issuer, group, body or time does not match. The receiver responds with 401.",
    look: "The message names the part. Compare issuer and group with those of the subscription.",
    fix: "Pass the raw body, and correct issuer or group. Check the clock of this machine.",
  },
  PP8003: {
    title: "The keys of the issuer cannot be fetched",
    meaning: "The event could not be checked. The receiver responds with 503, and it is delivered again.",
    look: "`curl <issuer>/.well-known/openid-configuration` from the same machine.",
    fix: "Correct the issuer, or allow the receiver to reach it.",
  },
  PP8004: {
    title: "verifyEvent was called with wrong arguments",
    meaning:
      "The body, the headers or an option of verifyEvent or createEventHandler has the wrong type or form.",
    look: "The message names the argument. [Events](events.md) has an example.",
    fix: "Correct the call.",
  },
  PP8005: {
    title: "An event could not be handled",
    meaning:
      "The event is verified, and onEvent of createEventHandler threw. The receiver responds with 503, and the event is delivered again.",
    look: "The message is that of the error.",
    fix: "Correct what onEvent does.",
  },
  PP8101: {
    title: "An option of the emulator has a wrong value",
    meaning: "The value is not of the form that the option needs.",
    look: "`npx pulumi-platform emulator --help` shows all options.",
    fix: "Give a value as the message says.",
  },
  PP8102: {
    title: "The emulator cannot start or save",
    meaning:
      "The address is taken, or the data file cannot be read or written, or was not written by the emulator.",
    look: "The message names the file or the address. `ss -ltnp` lists the processes that listen.",
    fix: "Give another `--port` or another `--data` file. A broken file is left as it is.",
  },
  PP9001: {
    title: "Unexpected error",
    meaning: "Something failed that this package does not know.",
    look: "Run again with `PLATFORM_LOG=debug`. `npx pulumi-platform doctor` checks what it needs.",
    fix: "If it stays, report it with the message, the command and the version: `npx pulumi-platform --version`.",
  },
} as const satisfies CodeTable;
