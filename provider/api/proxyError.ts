/** The proxy itself failed, not the server behind it. */
export class ProxyError extends Error {
  constructor(
    message: string,
    readonly isTransient: boolean,
  ) {
    super(message);
  }
}
