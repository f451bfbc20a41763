import { generateKeyPairSync } from "node:crypto";
import forge from "node-forge";

/** A certificate and its key, in PEM. */
export interface Certified {
  readonly cert: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
let serial = 1;

interface Wanted {
  readonly name: string;
  /** Default: signs itself. */
  readonly authority?: Certified;
  readonly isAuthority?: boolean;
  /** Host names and IPv4 addresses. */
  readonly hosts?: readonly string[];
}

/** A certificate of a made-up authority, for servers of a test. */
export function certificate({
  name,
  authority,
  isAuthority = false,
  hosts = ["127.0.0.1", "localhost"],
}: Wanted): Certified {
  // Made by Node: the library takes seconds for a key.
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  const cert = forge.pki.createCertificate();
  cert.publicKey = forge.pki.publicKeyFromPem(publicKey);
  cert.serialNumber = (serial += 1).toString(16).padStart(4, "0");
  cert.validity.notBefore = new Date(Date.now() - 2 * DAY_MS);
  cert.validity.notAfter = new Date(Date.now() + 2 * DAY_MS);
  const subject = [{ name: "commonName", value: name }];
  cert.setSubject(subject);
  cert.setIssuer(authority ? forge.pki.certificateFromPem(authority.cert).subject.attributes : subject);
  cert.setExtensions([
    { name: "basicConstraints", cA: isAuthority, critical: true },
    ...(isAuthority
      ? [{ name: "keyUsage", keyCertSign: true, critical: true }]
      : [
          {
            name: "subjectAltName",
            altNames: hosts.map((host) =>
              /^[\d.]+$/.test(host) ? { type: 7, ip: host } : { type: 2, value: host },
            ),
          },
        ]),
  ]);
  cert.sign(forge.pki.privateKeyFromPem(authority?.key ?? privateKey), forge.md.sha256.create());
  return { cert: forge.pki.certificateToPem(cert), key: privateKey };
}
