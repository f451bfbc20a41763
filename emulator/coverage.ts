import { Issuer } from "./service/issuer";
import { PlatformService } from "./service/platformService";
import { defaultSettings } from "./settings";
import { allMethods, kindTables } from "./tables";

/** An operation of the API, and whether the emulator responds to it with more than 501. */
export interface Operation {
  readonly rpc: string;
  readonly verb: string;
  readonly pattern: string;
  readonly isEmulated: boolean;
}

/** Every operation that the gateway knows, in the order of its table. */
export function listOperations(): Operation[] {
  const service = new PlatformService({
    tables: kindTables,
    token: "",
    matchesRecording: false,
    settings: { ...defaultSettings },
    issuer: new Issuer(() => ""),
    now: () => 0,
  });
  return allMethods.map(({ rpc, verb, pattern }) => ({
    rpc,
    verb,
    pattern,
    isEmulated: service.isEmulated(rpc),
  }));
}

/** A Markdown table with a row for each service, for docs/emulator.md. */
export function renderCoverage(): string {
  const operations = listOperations();
  const services = [...new Set(operations.map(serviceOf))];
  const rows = services.map((service) => {
    const own = operations.filter((operation) => serviceOf(operation) === service);
    const names = (isEmulated: boolean): string => {
      const chosen = own.filter((operation) => operation.isEmulated === isEmulated);
      return [...new Set(chosen.map(({ rpc }) => `\`${rpc.slice(service.length + 1)}\``))].join(", ");
    };
    return `| \`${service}\` | ${names(true)} | ${names(false)} |`;
  });
  return ["| Service | Emulated | Responds with 501 |", "| --- | --- | --- |", ...rows].join("\n");
}

const serviceOf = ({ rpc }: Operation): string => rpc.slice(0, rpc.indexOf("/"));
