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
  /** The response has no body, or `{}` with `matchesRecording`. */
  readonly hasEmptyResponse?: boolean;
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

interface Segment {
  readonly literal?: string;
  readonly path?: readonly string[];
  readonly matchesMany?: boolean;
}

interface Route {
  readonly method: Method;
  readonly segments: readonly Segment[];
  readonly wildcardIndex: number;
  readonly verb: string;
}

/**
 * Finds the method for a path. No JavaScript router has this grammar: a field matches any number of segments, also none
 * and empty ones, encoded slashes separate segments, paths are not normalised, and `:verb` ends a path.
 */
export class Routes {
  private readonly byVerb = new Map<string, Route[]>();

  /** Methods are tried in the order given, within one HTTP method. */
  constructor(methods: readonly Method[]) {
    for (const method of methods) {
      const routes = this.byVerb.get(method.verb) ?? [];
      routes.push(compile(method));
      this.byVerb.set(method.verb, routes);
    }
  }

  /**
   * @param path decoded, with its leading slash.
   * @returns false for a `:verb` right after a slash, which matches no method.
   */
  find(verb: string, path: string): Match | false | undefined {
    const parts = path.slice(1).split("/");
    const last = parts.at(-1) ?? "";
    for (const route of this.byVerb.get(verb) ?? []) {
      let tried: readonly string[] = parts;
      if (route.verb !== "") {
        if (!last.endsWith(`:${route.verb}`)) continue;
        const withoutVerb = last.slice(0, -route.verb.length - 1);
        if (withoutVerb === "") return false;
        tried = [...parts.slice(0, -1), withoutVerb];
      }
      const values = match(route, tried);
      if (values) return { method: route.method, values };
    }
    return undefined;
  }

  /** Whether another HTTP method has this path. */
  findWithOtherVerb(verb: string, path: string): Match | undefined {
    for (const other of this.byVerb.keys()) {
      const found = other !== verb && this.find(other, path);
      if (found) return found;
    }
    return undefined;
  }
}

function compile(method: Method): Route {
  const [, path = "", verb = ""] = /^\/(.*?)(?::([A-Za-z]+))?$/.exec(method.pattern) ?? [];
  const segments = path.split("/").map((segment): Segment => {
    const field = /^\{([A-Za-z.]+)(=\*\*)?\}$/.exec(segment);
    return field
      ? { path: (field[1] ?? "").split("."), matchesMany: field[2] !== undefined }
      : { literal: segment };
  });
  return { method, segments, verb, wildcardIndex: segments.findIndex((segment) => segment.matchesMany) };
}

function match(route: Route, parts: readonly string[]): Match["values"] | undefined {
  const { segments, wildcardIndex: many } = route;
  const extra = parts.length - segments.length;
  if (many < 0 ? extra !== 0 : extra < -1) return undefined;
  const values: { path: readonly string[]; value: string }[] = [];
  let at = 0;
  for (const segment of segments) {
    if (segment.matchesMany) {
      const next = at + 1 + extra;
      values.push({ path: segment.path ?? [], value: parts.slice(at, next).join("/") });
      at = next;
      continue;
    }
    const part = parts[at] ?? "";
    at += 1;
    if (segment.literal !== undefined && segment.literal !== part) return undefined;
    if (segment.path) values.push({ path: segment.path, value: part });
  }
  return values;
}
