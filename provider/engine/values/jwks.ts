/** The members of a JWK that make it private (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** The name of a member that makes a JWK private; undefined for a public key. */
export function findPrivateMember(jwk: object): string | undefined {
  return PRIVATE_MEMBERS.find((member) => member in jwk);
}
