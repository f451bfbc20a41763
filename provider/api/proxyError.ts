import { CodedError } from "../errorCodes/codedError";

/** The proxy itself failed, not the server behind it. */
export class ProxyError extends CodedError {
  constructor(
    message: string,
    readonly isTransient: boolean,
  ) {
    super("PP2106", message);
  }
}
