/** Who makes a call. */
export interface Caller {
  /** Uid of the identity, or of the person. */
  readonly uid: string;
  /** "" when the token tells none. */
  readonly email: string;
  /** Claims of the token that the identity was assumed with; empty for the emulator's own token. */
  readonly act: Readonly<Record<string, string>>;
}

/** Issuer and subject of the person that the emulator's own token stands for. */
export const operator = { issuer: "https://emulator.invalid", subject: "operator" } as const;

/** Made up for calls that need no token. */
export const nobody: Caller = { uid: "", email: "", act: {} };
