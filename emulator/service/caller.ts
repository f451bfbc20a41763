/** The caller of a method. */
export interface Caller {
  /** Uid of the identity, or of the person. */
  readonly uid: string;
  /** "" when the token has none. */
  readonly email: string;
  /** Claims of the token that the identity was assumed with; empty for the emulator's own token. */
  readonly act: Readonly<Record<string, string>>;
}

/** Issuer and subject of the person who uses the emulator's own token. */
export const operator = { issuer: "https://emulator.invalid", subject: "operator" } as const;

/** The caller of methods that need no token. */
export const anonymous: Caller = { uid: "", email: "", act: {} };
