import type { PlatformService } from "../service/platformService";
import type { AuthenticatedCall } from "../tables/kindTable";
import type { MessageType } from "./fields";
import type { ServiceResponse } from "./gateway";

export type HttpVerb = "GET" | "POST" | "PATCH" | "DELETE";

/** One method of a service: its address, its messages, and what it does. */
export interface Method {
  /** For example `iam.v2.GroupsService/GetGroup`. */
  readonly rpc: string;
  readonly verb: HttpVerb;
  /**
   * Literal segments, `{field}` (one segment) and `{field=**}` (any number, also none); may end in `:verb`.
   * Fields are paths of JSON names in the request.
   */
  readonly pattern: string;
  readonly request: MessageType;
  readonly response: MessageType;
  /** The request field that the body fills, or `*` for the request as a whole. */
  readonly body?: string;
  /** Needs no bearer token of the API; the method may check one itself. */
  readonly isPublic?: boolean;
  /** Capabilities that the caller needs, without `CAP_`; any token does if none is named. */
  readonly capabilities?: readonly string[];
  /** @throws StatusError */
  run(call: AuthenticatedCall, platform: PlatformService): ServiceResponse;
}

export interface Match {
  readonly method: Method;
  readonly values: readonly { readonly path: readonly string[]; readonly value: string }[];
}

interface Route {
  readonly method: Method;
  /** Fields that the groups of the expression fill, as paths. */
  readonly fields: readonly (readonly string[])[];
  readonly expression: RegExp;
}

function compile(method: Method): Route {
  const fields: string[][] = [];
  const source = method.pattern.replace(/\/\{([A-Za-z.]+)(=\*\*)?\}/g, (_, field: string, many?: string) => {
    fields.push(field.split("."));
    return many === undefined ? "/([^/]*)" : "(?:/(.*))?";
  });
  return { method, fields, expression: new RegExp(`^${source}$`, "s") };
}

/**
 * Finds the method for a path. No JavaScript router has this grammar: a field matches any number of segments, also none
 * and empty ones, encoded slashes separate segments, paths are not normalised, and `:verb` ends a path.
 */
export class Routes {
  private readonly routes: readonly Route[];

  /** Methods are tried in the order given. */
  constructor(methods: readonly Method[]) {
    this.routes = methods.map(compile);
  }

  /** @param path decoded, with its leading slash. */
  find(verb: string, path: string): Match | undefined {
    if (this.isWithoutResource(verb, path)) return undefined;
    for (const { method, fields, expression } of this.routes) {
      const found = method.verb === verb ? expression.exec(path) : null;
      if (!found) continue;
      return {
        method,
        values: fields.map((field, index) => ({ path: field, value: found[index + 1] ?? "" })),
      };
    }
    return undefined;
  }

  /** The method of another HTTP method for this path. */
  findWithOtherVerb(verb: string, path: string): Match | undefined {
    if (this.isWithoutResource(verb, path)) return undefined;
    for (const other of new Set(this.routes.map(({ method }) => method.verb))) {
      const found = other === verb ? undefined : this.find(other, path);
      if (found) return found;
    }
    return undefined;
  }

  /** Whether a path ends in a known `:verb` right after a slash, which matches no method. */
  private isWithoutResource(verb: string, path: string): boolean {
    const [, name] = /\/:([A-Za-z]+)$/.exec(path) ?? [];
    return (
      name !== undefined &&
      this.routes.some(({ method }) => method.verb === verb && method.pattern.endsWith(`:${name}`))
    );
  }
}
