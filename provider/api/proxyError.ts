/** The proxy itself failed, not the server behind it. */
export class ProxyError extends Error {
  constructor(
    message: string,
    readonly passing: boolean,
  ) {
    super(message);
  }
}
