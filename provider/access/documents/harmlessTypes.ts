/** A type of another package that is known to give no access. */
interface HarmlessType {
  /** The exact type token. */
  readonly type: string;
  /** Where its behaviour is described. */
  readonly source: string;
}

const RANDOM = "https://www.pulumi.com/registry/packages/random/api-docs/";
const TLS = "https://www.pulumi.com/registry/packages/tls/api-docs/";

/**
 * The resources of other packages that compute a value and keep it in the state: they read no network, file or credential.
 * A policy file can add others, by exact type and version. `time` is not here: its plugin comes from an address of its own.
 */
export const harmlessTypes: readonly HarmlessType[] = [
  { type: "random:index/randomBytes:RandomBytes", source: `${RANDOM}randombytes/` },
  { type: "random:index/randomId:RandomId", source: `${RANDOM}randomid/` },
  { type: "random:index/randomInteger:RandomInteger", source: `${RANDOM}randominteger/` },
  { type: "random:index/randomPassword:RandomPassword", source: `${RANDOM}randompassword/` },
  { type: "random:index/randomPet:RandomPet", source: `${RANDOM}randompet/` },
  { type: "random:index/randomShuffle:RandomShuffle", source: `${RANDOM}randomshuffle/` },
  { type: "random:index/randomString:RandomString", source: `${RANDOM}randomstring/` },
  { type: "random:index/randomUuid:RandomUuid", source: `${RANDOM}randomuuid/` },
  // Keys and certificates that the plugin computes; only its functions read an address.
  { type: "tls:index/certRequest:CertRequest", source: `${TLS}certrequest/` },
  { type: "tls:index/locallySignedCert:LocallySignedCert", source: `${TLS}locallysignedcert/` },
  { type: "tls:index/privateKey:PrivateKey", source: `${TLS}privatekey/` },
  { type: "tls:index/selfSignedCert:SelfSignedCert", source: `${TLS}selfsignedcert/` },
];
