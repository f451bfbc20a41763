import type { Message } from "../gateway/descriptor";
import { int32, list, map, messageType, object, text } from "../gateway/descriptor";
import { rsaPublicKeyPem, safeFileName } from "./formats";
import type { Write } from "./kindTable";

const name = (suffix: string): string => `chainguard.platform.registry.v2.${suffix}`;

export const customOverlay = messageType(name("CustomOverlay"), {
  contents: object(
    messageType(name("CustomOverlay.Contents"), {
      packages: list(text()),
      runtimeRepositories: list(text()),
      runtimeKeyring: list(
        object(
          messageType(name("CustomOverlay.Key"), {
            name: text({ required: true, format: safeFileName }),
            content: text({ required: true, format: rsaPublicKeyPem }),
          }),
        ),
      ),
    }),
  ),
  environment: map(text()),
  annotations: map(text()),
  accounts: object(
    messageType(name("CustomOverlay.Accounts"), {
      runAs: text(),
      users: list(
        object(
          messageType(name("CustomOverlay.User"), {
            username: text({ required: true }),
            uid: int32(),
            gid: int32(),
            groupName: text(),
            shell: text(),
            homeDir: text(),
          }),
        ),
      ),
      groups: list(
        object(
          messageType(name("CustomOverlay.Group"), {
            groupname: text({ required: true }),
            gid: int32(),
            members: list(text()),
          }),
        ),
      ),
    }),
  ),
  certificates: object(
    messageType(name("CustomOverlay.Certificates"), {
      additional: list(
        object(
          messageType(name("CustomOverlay.Certificate"), {
            name: text({ required: true }),
            content: text({ required: true }),
          }),
        ),
      ),
      providers: list(text()),
    }),
  ),
});

/** Refuses keys that the service reserves. */
export function checkOverlay(write: Write): void {
  const overlay = write.value.customOverlay as Message | undefined;
  for (const key of Object.keys(overlay?.environment ?? {})) {
    if (key.startsWith("CHAINGUARD_")) {
      write.addViolation("customOverlay.environment", `environment key "${key}" is reserved`);
    }
  }
  for (const key of Object.keys(overlay?.annotations ?? {})) {
    if (key.startsWith("dev.chainguard.") || key.startsWith("org.opencontainers.")) {
      write.addViolation("customOverlay.annotations", `annotation key "${key}" is reserved`);
    }
  }
}
