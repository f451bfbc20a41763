import { trustWrittenUids } from "./uidSources";
import * as pulumi from "./sdk";

/** The settings of a provider: those of the stack configuration, by the names that they have there. */
export interface ProviderArgs {
  /** The address of the API. */
  readonly baseUrl?: pulumi.Input<string>;
  /** Whether `http` is allowed to any host: the network then sees the token. */
  readonly allowInsecure?: pulumi.Input<boolean>;
  /** The limit for one attempt: `30s`. */
  readonly timeout?: pulumi.Input<string>;
  /** How often a request is repeated after its first attempt. */
  readonly maxRetries?: pulumi.Input<number>;
  /** How many requests are under way at once. */
  readonly maxConcurrency?: pulumi.Input<number>;
  /** Whether reads and creates that are under way together share requests. */
  readonly batching?: pulumi.Input<boolean>;
  /** An access token: always a secret in state. */
  readonly token?: pulumi.Input<string>;
  /** A file that holds an access token. */
  readonly tokenFile?: pulumi.Input<string>;
  /** The identity to assume. */
  readonly identity?: pulumi.Input<string>;
  /** A file that holds the OIDC token that is exchanged. */
  readonly oidcTokenFile?: pulumi.Input<string>;
  /** The token issuer of your deployment, required for an exchange. */
  readonly issuerUrl?: pulumi.Input<string>;
  /** What the access token of an exchange is for. */
  readonly audience?: pulumi.Input<string>;
  /** What the OIDC token of GitHub Actions is for. */
  readonly oidcAudience?: pulumi.Input<string>;
}

/**
 * A connection of its own: to another address, or with another credential. What is not given here comes from the
 * environment, never from the stack configuration. Give it to resources as the option `provider`.
 */
export class Provider extends pulumi.ProviderResource {
  constructor(name: string, args: ProviderArgs = {}, opts?: pulumi.ResourceOptions) {
    // The engine takes strings only.
    const texts = Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => {
        const text = pulumi
          .all([value as pulumi.Input<string | number | boolean>])
          .apply(([plain]) => String(plain));
        return [key, key === "token" ? pulumi.secret(text) : text] as const;
      });
    super("platform", name, Object.fromEntries(texts), opts);
    trustWrittenUids();
  }
}
