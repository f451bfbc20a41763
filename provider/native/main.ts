import * as grpc from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import type { PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import type { IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Console } from "node:console";
import { subscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import path from "node:path";
import { errorCodeOf, errorMessage, withCode } from "../errors/codedError";
import { PartialFailure } from "../lifecycle/messages";
import { logLine } from "../text/printable";
import { PlatformProvider } from "./platformProvider";
import type { ResourceDifference, LogLevel, RequestedResource } from "./platformProvider";
import { fromStruct, toStruct } from "./markedValues";

/*
 * The process of the native plugin. The engine starts it with its own address, reads the port from standard output, and
 * calls it by gRPC. It hides standard error, so what a person should read goes to its log.
 */

const SCHEMA = path.join(__dirname, "schema.json");

const options = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

let engine: EngineClient | undefined;

const logSeverities = { info: LogSeverity.INFO, warning: LogSeverity.WARNING } as const;

function logToEngine(level: LogLevel, line: string, urn: string | undefined): void {
  const message = new LogRequest()
    .setSeverity(logSeverities[level])
    .setMessage(logLine(line))
    .setUrn(urn ?? "");
  // A line that cannot be delivered must not end an operation.
  engine?.log(message, () => undefined);
}

/** Ends this process once the engine, which may have been killed, is no longer there. */
function endWithEngine(client: EngineClient): void {
  const channel = client.getChannel();
  let wasReady = false;
  const watch = (): void => {
    const state = channel.getConnectivityState(true);
    wasReady ||= state === grpc.connectivityState.READY;
    if (wasReady && state === grpc.connectivityState.TRANSIENT_FAILURE) process.exit(0);
    channel.watchConnectivityState(state, Infinity, watch);
  };
  watch();
}

function connectTo(address: string): void {
  engine = new EngineClient(address, grpc.credentials.createInsecure(), options);
  endWithEngine(engine);
}

/** An error as the engine reads it; with what exists of a resource whose making failed later. */
function toServiceError(error: unknown): Partial<grpc.StatusObject> {
  // That of a resource has its code already.
  const message = withCode(errorMessage(error), errorCodeOf(error));
  const metadata = new grpc.Metadata();
  if (error instanceof PartialFailure) {
    const detail = new messages.ErrorResourceInitFailed()
      .setId(error.id)
      .setProperties(toStruct(error.properties))
      .setReasonsList([...error.reasons]);
    const packed = new Any();
    packed.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
    const status = new Status().setCode(grpc.status.UNKNOWN).setMessage(message).setDetailsList([packed]);
    metadata.add("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
  }
  return { code: grpc.status.UNKNOWN, details: message, metadata };
}

/** A method of the service. */
function method<Request, Response>(
  respond: (request: Request) => Promise<Response> | Response,
): grpc.handleUnaryCall<Request, Response> {
  return (call, callback) => {
    const run = async () => respond(call.request);
    run().then(
      (response) => callback(null, response),
      (error: unknown) => callback(toServiceError(error)),
    );
  };
}

interface AboutResource {
  getUrn(): string;
  getType?(): string;
  getId?(): string;
}

/** The engine sends the type of a resource beside its URN since 3.143; before, the URN alone has it. */
function subjectOf(request: AboutResource): RequestedResource {
  const urn = request.getUrn();
  const types = urn.split("::")[2] ?? "";
  return { urn, type: types.slice(types.lastIndexOf("$") + 1), id: request.getId?.() };
}

function toCheckResponse(
  inputs: ReturnType<typeof fromStruct>,
  failures: readonly { readonly property: string; readonly reason: string }[],
): messages.CheckResponse {
  return new messages.CheckResponse()
    .setInputs(toStruct(inputs))
    .setFailuresList(
      failures.map(({ property, reason }) =>
        new messages.CheckFailure().setProperty(property).setReason(reason),
      ),
    );
}

const { DiffChanges } = messages.DiffResponse;
const PropertyKind = messages.PropertyDiff.Kind;
const diffKinds = {
  add: [PropertyKind.ADD, PropertyKind.ADD_REPLACE],
  delete: [PropertyKind.DELETE, PropertyKind.DELETE_REPLACE],
  update: [PropertyKind.UPDATE, PropertyKind.UPDATE_REPLACE],
} as const;

function toDiffResponse({
  changes,
  replaces,
  deleteBeforeReplace,
  properties,
}: ResourceDifference): messages.DiffResponse {
  const response = new messages.DiffResponse()
    .setChanges(changes === false ? DiffChanges.DIFF_NONE : DiffChanges.DIFF_SOME)
    .setReplacesList(replaces)
    .setDeletebeforereplace(deleteBeforeReplace === true)
    .setDiffsList([...new Set(properties.map(({ key }) => key))])
    .setHasdetaileddiff(properties.length > 0);
  for (const { path, change, replaces: isReplacing } of properties) {
    const kind = diffKinds[change][isReplacing ? 1 : 0];
    response.getDetaileddiffMap().set(path, new messages.PropertyDiff().setKind(kind).setInputdiff(true));
  }
  return response;
}

const readSchema = (): string => readFileSync(SCHEMA, "utf8");

function serviceOf(provider: PlatformProvider): grpc.UntypedServiceImplementation {
  const service: Partial<IResourceProviderServer> = {
    getSchema: method(() => new messages.GetSchemaResponse().setSchema(readSchema())),
    getPluginInfo: method(() => {
      const { version } = JSON.parse(readSchema()) as { version: string };
      return new PluginInfo().setVersion(version);
    }),
    attach: method((request: PluginAttach) => {
      connectTo(request.getAddress());
      return new Empty();
    }),
    checkConfig: method((request: messages.CheckRequest) =>
      toCheckResponse(provider.checkConfig(fromStruct(request.getNews())), []),
    ),
    diffConfig: method((request: messages.DiffRequest) =>
      new messages.DiffResponse().setChanges(
        provider.diffConfig(fromStruct(request.getOldInputs()), fromStruct(request.getNews()))
          ? DiffChanges.DIFF_SOME
          : DiffChanges.DIFF_NONE,
      ),
    ),
    configure: method((request: messages.ConfigureRequest) => {
      provider.configure(fromStruct(request.getArgs()), request.getName());
      return new messages.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true);
    }),
    check: method(async (request: messages.CheckRequest) => {
      const [olds, news] = [fromStruct(request.getOlds()), fromStruct(request.getNews())];
      const { inputs, failures } = await provider.check(subjectOf(request), olds, news);
      return toCheckResponse(inputs, failures);
    }),
    diff: method(async (request: messages.DiffRequest) => {
      const [olds, news] = [fromStruct(request.getOlds()), fromStruct(request.getNews())];
      return toDiffResponse(await provider.diff(subjectOf(request), olds, news));
    }),
    create: method(async (request: messages.CreateRequest) => {
      const news = fromStruct(request.getProperties());
      const { id, outs } = await provider.create(subjectOf(request), news, request.getPreview());
      return new messages.CreateResponse().setId(id).setProperties(toStruct(outs));
    }),
    read: method(async (request: messages.ReadRequest) => {
      const state = fromStruct(request.getProperties());
      const recorded = request.hasInputs() ? fromStruct(request.getInputs()) : undefined;
      const { id = "", outs, inputs } = await provider.read(subjectOf(request), state, recorded);
      return new messages.ReadResponse().setId(id).setProperties(toStruct(outs)).setInputs(toStruct(inputs));
    }),
    update: method(async (request: messages.UpdateRequest) => {
      const [olds, news] = [fromStruct(request.getOlds()), fromStruct(request.getNews())];
      const outs = await provider.update(subjectOf(request), olds, news, request.getPreview());
      return new messages.UpdateResponse().setProperties(toStruct(outs));
    }),
    delete: method(async (request: messages.DeleteRequest) => {
      await provider.delete(subjectOf(request), fromStruct(request.getProperties()));
      return new Empty();
    }),
    invoke: method(async (request: messages.InvokeRequest) => {
      const found = await provider.invoke(request.getTok(), fromStruct(request.getArgs()));
      return new messages.InvokeResponse().setReturn(toStruct(found));
    }),
    // What is under way goes on, so that the engine records it.
    cancel: method(() => new Empty()),
  };
  // The library answers a method that is left out with UNIMPLEMENTED.
  return service as grpc.UntypedServiceImplementation;
}

/**
 * Ends this process on SIGINT, once the engine has closed its connections. The engine sends it when it needs the plugin no
 * more, and waits five seconds for the end. A terminal sends it too, and then the engine still waits for what is under way.
 */
function endWhenUnused(): void {
  const connections = new Set<Socket>();
  let isInterrupted = false;
  const end = (): void => {
    if (isInterrupted && connections.size === 0) process.exit(0);
  };
  subscribe("net.server.socket", (message) => {
    const { socket } = message as { socket: Socket };
    connections.add(socket);
    socket.once("close", () => {
      connections.delete(socket);
      end();
    });
  });
  process.on("SIGINT", () => {
    isInterrupted = true;
    end();
  });
}

function start(): void {
  endWhenUnused();
  // Standard output is the engine's: a line of a library would be read as the port.
  globalThis.console = new Console(process.stderr);
  const address = process.argv.at(-1) ?? "";
  if (/^[\w.[\]:-]+:\d+$/.test(address)) connectTo(address);
  const server = new grpc.Server(options);
  server.addService(ResourceProviderService, serviceOf(new PlatformProvider(logToEngine)));
  server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    process.stdout.write(`${port}\n`);
  });
}

start();
