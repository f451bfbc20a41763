import type { IncomingMessage, Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What stands in for the APIs of GitHub and GitLab: real HTTP, state in memory, faults to order. */

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly body: unknown;
}

export interface Fault {
  /** How often; for ever where it is absent. */
  times?: number;
  readonly method?: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The request is carried out before the answer is lost. */
  readonly after?: boolean;
}

export type Answer = readonly [status: number, body: unknown];

export abstract class FakeHost {
  readonly seen: Seen[] = [];
  readonly faults: Fault[] = [];
  connections = 0;
  private server: Server | undefined;
  origin = "";

  protected abstract answer(method: string, url: URL, body: unknown, token: string): Answer;

  async start(): Promise<void> {
    this.server = createServer((request, response) => {
      void this.read(request).then((body) => {
        const method = request.method ?? "";
        const url = new URL(request.url ?? "", this.origin);
        const { authorization, "private-token": privateToken, "job-token": jobToken } = request.headers;
        const token = authorization ?? privateToken ?? jobToken;
        this.seen.push({ method, path: url.pathname, token: String(token), body });
        const fault = this.faults.find(
          (one) => (one.method ?? method) === method && (one.times ?? 1) > 0 && url.pathname !== "/graphql",
        );
        if (fault?.times !== undefined) fault.times -= 1;
        if (fault?.after === true) this.answer(method, url, body, String(token));
        const [status, answer] =
          fault === undefined
            ? this.answer(method, url, body, String(token))
            : ([fault.status, fault.body ?? { message: "fault" }] as const);
        response.writeHead(status, { "content-type": "application/json", ...fault?.headers });
        response.end(Buffer.isBuffer(answer) ? answer : JSON.stringify(answer));
      });
    });
    this.server.on("connection", () => (this.connections += 1));
    await new Promise<void>((resolve) => this.server?.listen(0, "127.0.0.1", resolve));
    this.origin = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  /** Requests that change something. */
  writes(): string[] {
    return this.seen
      .filter(({ method, path }) => method !== "GET" && path !== "/graphql")
      .map(({ method, path }) => `${method} ${path}`);
  }

  private async read(request: IncomingMessage): Promise<unknown> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    if (request.headers["content-type"] === "text/plain") return text;
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  }
}

/** @param most What the host returns at most, whatever is asked for. */
export function page<T>(entries: readonly T[], url: URL, most = 100): T[] {
  const size = Math.min(most, Number(url.searchParams.get("per_page") ?? 30));
  const number = Number(url.searchParams.get("page") ?? 1);
  return entries.slice((number - 1) * size, number * size);
}

export interface Comment {
  id: number;
  user: { login: string; type: string };
  body: string;
  html_url: string;
}

export interface Issue extends Comment {
  number: number;
  title: string;
  state: string;
  comments: Comment[];
  pull_request?: object;
}

/** https://docs.github.com/rest: the requests that posting makes. */
export class FakeGitHub extends FakeHost {
  login = "github-actions[bot]";
  mayUseGraphql = true;
  issues: Issue[] = [];
  pulls: {
    number: number;
    owner: string;
    branch: string;
    sha: string;
    base?: string;
    state?: string;
    closed_at?: string;
  }[] = [];
  /** By the number of the pull request. */
  readonly events = new Map<number, { event: string; created_at: string }[]>();
  /** The paths that a commit changes, by the commit. */
  readonly changed = new Map<string, readonly string[]>();
  /** By commit and context: the newest that the app has set; those of GitHub Actions have its name before them. */
  readonly statuses = new Map<string, { state?: string; description?: string }>();
  private next = 1;

  get env(): Record<string, string> {
    return { GITHUB_TOKEN: "ghs_canary", GITHUB_REPOSITORY: "acme/access", GITHUB_API_URL: this.origin };
  }

  comment(login: string, body: string): Comment {
    const id = 1000 + this.next++;
    return {
      id,
      user: { login, type: login.endsWith("[bot]") ? "Bot" : "User" },
      body,
      html_url: `https://github.example/c/${id}`,
    };
  }

  issue(login: string, body: string, more: Partial<Issue> = {}): Issue {
    const made: Issue = {
      ...this.comment(login, body),
      number: this.next++,
      title: "",
      state: "open",
      comments: [],
      ...more,
    };
    this.issues.push(made);
    return made;
  }

  protected answer(method: string, url: URL, body: unknown, token: string): Answer {
    const given = (body ?? {}) as Partial<Issue>;
    const path = url.pathname;
    if (path === "/graphql")
      return this.mayUseGraphql
        ? [200, { data: { viewer: { login: this.login } } }]
        : [403, { message: "Resource not accessible by integration" }];
    if (path === "/user") return [200, { login: this.login }];
    const base = "/repos/acme/access";
    if (/\/compare\/\w+\.\.\.main$/.test(path)) return [200, { files: [] }];
    const [, compared] = /\/compare\/main\.\.\.(\w+)$/.exec(path) ?? [];
    if (compared !== undefined) {
      const paths = this.changed.get(compared);
      return paths === undefined
        ? [404, { message: "Not Found" }]
        : [200, { files: paths.map((filename) => ({ filename })) }];
    }
    if (path === `${base}/pulls`) {
      const found = this.pulls.filter(
        ({ owner, branch, state = "open" }) =>
          `${owner}:${branch}` === url.searchParams.get("head") &&
          ["all", state].includes(url.searchParams.get("state") ?? "open"),
      );
      const pulls = found.map(({ number, sha, base = "main", state = "open", closed_at = null }) => ({
        ...{ number, state, closed_at },
        head: { sha },
        base: { ref: base },
      }));
      return [200, page(pulls, url)];
    }
    const [, evented] = new RegExp(`^${base}/issues/(\\d+)/events$`).exec(path) ?? [];
    if (evented !== undefined) return [200, page(this.events.get(Number(evented)) ?? [], url)];
    if (path === `${base}/issues`) {
      if (method === "POST")
        return [201, this.issue(this.login, given.body ?? "", { title: given.title ?? "" })];
      const state = url.searchParams.get("state");
      return [
        200,
        page(
          this.issues.filter((issue) => state === "all" || issue.state === state),
          url,
        ),
      ];
    }
    const [, commit] = new RegExp(`^${base}/statuses/([0-9a-f]{40})$`).exec(path) ?? [];
    if (commit !== undefined && method === "POST") {
      const status = (body ?? {}) as { context?: string; state?: string };
      const source = token.startsWith("Bearer ghs_app") ? "" : "github-actions ";
      this.statuses.set(`${source}${commit} ${status.context ?? ""}`, status);
      return [201, status];
    }
    const [, number, comments] = new RegExp(`^${base}/issues/(\\d+)(/comments)?$`).exec(path) ?? [];
    const issue = this.issues.find((one) => one.number === Number(number));
    if (issue !== undefined && comments !== undefined) {
      if (method === "GET") return [200, page(issue.comments, url)];
      const made = this.comment(this.login, given.body ?? "");
      issue.comments.push(made);
      return [201, made];
    }
    if (issue !== undefined && method === "PATCH") return [200, Object.assign(issue, given)];
    const [, id] = new RegExp(`^${base}/issues/comments/(\\d+)$`).exec(path) ?? [];
    const comment = this.issues.flatMap((one) => one.comments).find((one) => one.id === Number(id));
    if (comment !== undefined && method === "PATCH") return [200, Object.assign(comment, given)];
    return [404, { message: "Not Found" }];
  }
}

export interface Note {
  id: number;
  author: { id: number };
  body: string;
  system: boolean;
}

/** https://docs.gitlab.com/api/notes: the requests that posting makes. */
export class FakeGitLab extends FakeHost {
  readonly own = 7;
  /** Answers what concerns jobs. */
  jobs:
    { answer: (method: string, url: URL, token: string, body: unknown) => Answer | undefined } | undefined;
  notes: Note[] = [];
  /** The newest commit of the merge request. */
  newest = "c".repeat(40);

  get env(): Record<string, string> {
    return {
      CI_COMMIT_SHA: this.newest,
      GITLAB_TOKEN: "glpat-canary",
      CI_API_V4_URL: `${this.origin}/api/v4`,
      CI_PROJECT_ID: "12",
      CI_MERGE_REQUEST_IID: "34",
    };
  }

  protected answer(method: string, url: URL, body: unknown, token: string): Answer {
    const ofJobs = this.jobs?.answer(method, url, token, body);
    if (ofJobs !== undefined) return ofJobs;
    const { body: text = "" } = (body ?? {}) as { body?: string };
    const path = url.pathname;
    if (path === "/api/v4/user") return [200, { id: this.own }];
    const mergeRequest = "/api/v4/projects/12/merge_requests/34";
    if (path === mergeRequest) return [200, { sha: this.newest }];
    const base = `${mergeRequest}/notes`;
    if (path === base && method === "GET") return [200, page(this.notes, url)];
    if (path === base) {
      const note = {
        id: 500 + this.notes.length,
        author: { id: this.own },
        body: text.trim(),
        system: false,
      };
      this.notes.push(note);
      return [201, note];
    }
    const note = this.notes.find(({ id }) => path === `${base}/${id}`);
    if (note !== undefined && method === "PUT") return [200, Object.assign(note, { body: text.trim() })];
    return [404, { message: "404 Not found" }];
  }
}
