import type { Client } from "../../../provider/http/client";
import { createHandlerContext } from "../../../provider/lifecycle/context";
import type { HandlerContext } from "../../../provider/lifecycle/context";
import { handlersFor } from "../../../provider/lifecycle/handlers";
import type { Handlers } from "../../../provider/lifecycle/handlers";
import type { Props } from "../../../provider/fields/values";
import { kinds } from "../../../provider/kinds";
import type { Declarations } from "../../support/engine";
import { specOf } from "./samples";
import { clientOf, tokensOf } from "./server";

/** What the handlers of one run share; they wait for nothing. */
export const runOf = (client: () => Client, more: Partial<HandlerContext> = {}): HandlerContext => ({
  ...createHandlerContext(client, () => undefined),
  sleep: () => Promise.resolve(),
  ...more,
});

/** The handlers of a kind, in a run of their own if `more` shares nothing. */
export const handlersAt = (kind: string, client: Client, more: Partial<HandlerContext> = {}): Handlers =>
  handlersFor(
    specOf(kind),
    runOf(() => client, more),
  );

export interface Held {
  readonly kind: string;
  readonly id: string;
  readonly inputs: Props;
  readonly outs: Props;
}

/** Handlers each of whose calls belongs to a run of its own: one run does not delete what it has created. */
function inSeparateRuns(begin: () => Handlers): Handlers {
  return {
    check: (olds, news) => begin().check(olds, news),
    diff: (olds, news, id) => begin().diff(olds, news, id),
    create: (inputs) => begin().create(inputs),
    read: (id, olds) => begin().read(id, olds),
    update: (id, olds, news) => begin().update(id, olds, news),
    delete: (id, olds) => begin().delete(id, olds),
  };
}

/** The handlers of every kind against one server, without an engine: declared things are made when they are named. */
export class HandlerStack {
  readonly handlers: Readonly<Record<string, Handlers>>;
  private readonly held = new Map<string, Promise<Held>>();

  constructor(
    server: { readonly url: string; readonly token: string },
    private readonly declarations: Declarations,
  ) {
    const client = clientOf(server, {
      tokens: tokensOf(() => Promise.resolve(server.token)),
    });
    this.handlers = Object.fromEntries(
      kinds.map(({ spec }) => [spec.kind, inSeparateRuns(() => handlersAt(spec.kind, client))]),
    );
  }

  handlersOf(kind: string): Handlers {
    const handlers = this.handlers[kind];
    if (!handlers) throw new Error(`no kind ${kind}`);
    return handlers;
  }

  /** Arguments with every `${name}` replaced by the uid of what it names, which is made if need be. */
  async resolved(args: Record<string, unknown>): Promise<Props> {
    let text = JSON.stringify(args);
    for (const [reference, name] of [...text.matchAll(/\$\{([^}]+)\}/g)]) {
      text = text.replaceAll(reference, (await this.make(name ?? "")).id);
    }
    return JSON.parse(text) as Props;
  }

  make(name: string): Promise<Held> {
    const held = this.held.get(name) ?? this.create(name);
    this.held.set(name, held);
    return held;
  }

  async delete(name: string): Promise<void> {
    const { kind, id, outs } = await this.make(name);
    await this.handlersOf(kind).delete(id, outs);
    this.held.delete(name);
  }

  private async create(name: string): Promise<Held> {
    const declaration = this.declarations[name];
    if (!declaration) throw new Error(`nothing is declared as ${name}`);
    const { kind, args } = declaration;
    const inputs = await this.resolved(args);
    const { id, outs } = await this.handlersOf(kind).create(inputs);
    return { kind, id, inputs, outs };
  }
}
