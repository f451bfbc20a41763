import { ApiError } from "./errors";
import { isUid } from "./uid";

type JsonObject = Record<string, unknown>;
type Get = (path: string, query: Readonly<Record<string, number>>) => Promise<JsonObject>;

/** Cheap requests whose responses are never empty at the API. */
const PROBES: readonly {
  readonly path: string;
  readonly query: Readonly<Record<string, number>>;
  readonly isRecognizedBy: (response: JsonObject) => boolean;
}[] = [
  // The built-in roles are always there.
  { path: "/iam/v2/roles", query: { page_size: 1 }, isRecognizedBy: ({ roles }) => Array.isArray(roles) },
  {
    path: "/ping/v2/ping",
    query: {},
    isRecognizedBy: ({ response }) => typeof response === "string" && response !== "",
  },
];

function hasUid(value: unknown): boolean {
  return value !== null && typeof value === "object" && "uid" in value && isUid(String(value.uid));
}

/**
 * Whether the server has shown itself to be the API, by any response of this run. Only then an empty
 * response means that there is nothing: a wrong address may respond `{}` to everything.
 */
export class ApiRecognition {
  private isRecognized = false;
  private probing: Promise<boolean> | undefined;

  /** A response that holds a resource, or a list of some. */
  noteResponse(response: JsonObject): void {
    this.isRecognized ||=
      hasUid(response) ||
      Object.values(response).some((member) => Array.isArray(member) && member.some(hasUid));
  }

  /** A response that holds a list that only the API has under this name, if only an empty one. */
  noteList(): void {
    this.isRecognized = true;
  }

  /** An error of the API's form; a wrong address at a similar server has that form too. */
  noteError(error: unknown): void {
    if (!(error instanceof ApiError) || !error.fromApi) return;
    const isAddress = error.code === "NOT_FOUND" && error.details.resource === undefined;
    this.isRecognized ||= !isAddress && !["UNKNOWN", "UNIMPLEMENTED"].includes(error.code);
  }

  /** Looks for proof where there is none yet. */
  confirm(get: Get): Promise<boolean> {
    if (this.isRecognized) return Promise.resolve(true);
    this.probing ??= this.probe(get).finally(() => (this.probing = undefined));
    return this.probing;
  }

  private async probe(get: Get): Promise<boolean> {
    for (const { path, query, isRecognizedBy } of PROBES) {
      // What fails shows by its error whether it is one of the API.
      const response = await get(path, query).catch(() => ({}));
      this.isRecognized ||= isRecognizedBy(response);
      if (this.isRecognized) return true;
    }
    return false;
  }
}
