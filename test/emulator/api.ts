import type { Emulator, EmulatorOptions } from "../../emulator";
import { startEmulator } from "../../emulator";

/** The members of responses that the tests read; which of them exist depends on the request. */
export interface ResponseBody {
  uid: string;
  name: string;
  description: string;
  createTime: string;
  customOverlay: { environment: object; contents: { runtimeKeyring: object[] } };
  role: { name: string };
  groups: ResponseBody[];
  identities: ResponseBody[];
  roles: ResponseBody[];
  externalGroupRoleMappings: ResponseBody[];
  tags: ResponseBody[];
  artifacts: ResponseBody[];
  artifactVersions: { version: string; sizeBytes: string }[];
  advisories: object[];
  documents: { id: string; advisories: object[] }[];
  scim: { etag: string; credentialState: string };
  etag: string;
  content: string;
  token: string;
  refreshToken: string;
  expiry: string;
  nextPageToken: string;
  totalCount: string;
  code: number;
  message: string;
  details: Detail[];
  error: string;
  id: number;
  faults: object[];
  events: object[];
  requests: object[];
}

export interface Detail {
  "@type": string;
  missing: object[];
  reason: string;
  resourceType: string;
  retryDelay: string;
  fieldViolations: { field: string; description: string }[];
  violations: { type: string; subject: string; description: string }[];
}

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  body: ResponseBody;
}

export interface Resource extends Record<string, unknown> {
  uid: string;
}

/** Requests to an emulator, with its token. */
export class Api {
  constructor(private readonly emulator: Emulator) {}

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const response = await fetch(this.emulator.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.emulator.token}`,
        "content-type": "application/json",
        ...headers,
      },
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : text,
    };
  }

  get(path: string): Promise<ApiResponse> {
    return this.send("GET", path);
  }

  post(path: string, body?: unknown): Promise<ApiResponse> {
    return this.send("POST", path, body);
  }

  patch(path: string, body?: unknown): Promise<ApiResponse> {
    return this.send("PATCH", path, body);
  }

  delete(path: string): Promise<ApiResponse> {
    return this.send("DELETE", path);
  }

  /** Creates and returns the resource; fails on anything but 200. */
  async make(collection: string, parent: string, body: unknown): Promise<Resource> {
    const response = await this.post(parent === "" ? collection : `${collection}/${parent}`, body);
    if (response.status !== 200) throw new Error(response.text);
    return response.body as unknown as Resource;
  }

  async builtInRole(name: string): Promise<string> {
    const { body } = await this.get(`/iam/v2/roles?name=${name}`);
    const first = body.roles[0];
    if (!first) throw new Error(`no role ${name}`);
    return first.uid;
  }
}

/** The emulator of a test, requests to it, and an organisation in it. */
export let emulator: Emulator;
export let api: Api;
export let org: string;

/** What the clock of these emulators says at first. */
export const START = Date.parse("2026-01-28T12:54:21.189Z");

/** Gives each test of a file an emulator of its own. */
export function startForEach(options: () => EmulatorOptions = () => ({})): void {
  beforeEach(async () => {
    emulator = await startEmulator({ now: () => START, ...options() });
    api = new Api(emulator);
    org = (await api.make("/iam/v2/groups", "", { name: "org", kind: "ORG_KIND_CUSTOMER" })).uid;
  });
  afterEach(() => emulator.close());
}

const extras: Emulator[] = [];

/** A further emulator for one test, closed after it even when it fails. */
export async function extraEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator(options);
  extras.push(emulator);
  return emulator;
}

afterEach(async () => {
  for (const emulator of extras.splice(0)) await emulator.close();
});

/** The names of the fields that an error of code 3 reports. */
export function violatedFields(response: ApiResponse): string[] {
  const badRequest = response.body.details.find((each) => each["@type"].endsWith("BadRequest"));
  return (badRequest?.fieldViolations ?? []).map(({ field }) => field);
}

/** The detail of an error whose type ends like this. */
export function detail(response: ApiResponse, type: string): Detail {
  const found = response.body.details.find((each) => each["@type"].endsWith(type));
  if (!found) throw new Error(`no ${type} in ${response.text}`);
  return found;
}
