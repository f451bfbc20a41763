import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { DefaultTreeAdapterMap } from "parse5";
import { parse } from "parse5";

/** The site that `npm run site` has built. */
export const dist = path.resolve(__dirname, "../../site/dist");

const TYPES: Readonly<Record<string, string>> = {
  ".cast": "application/json",
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** The file that a static host serves for an address. */
export function fileOf(address: string): string {
  const file = path.join(dist, decodeURIComponent(address));
  return existsSync(file) && statSync(file).isDirectory() ? path.join(file, "index.html") : file;
}

/** Serves the site as a static host does. */
export async function serve(): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const file = fileOf(new URL(request.url ?? "/", "http://127.0.0.1").pathname);
    if (!existsSync(file)) return response.writeHead(404).end();
    const type = TYPES[path.extname(file)] ?? "text/plain; charset=utf-8";
    return response.writeHead(200, { "content-type": type }).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** The addresses of all pages. */
export const pages = existsSync(dist)
  ? readdirSync(dist, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".html") && !name.startsWith("media"))
      .map((name) => `/${name.split(path.sep).join("/")}`)
      .sort()
  : [];

type Node = DefaultTreeAdapterMap["node"];
type Element = DefaultTreeAdapterMap["element"];

function elementsBelow(node: Node): Element[] {
  const below = "childNodes" in node ? node.childNodes.flatMap(elementsBelow) : [];
  return "attrs" in node ? [node, ...below] : below;
}

export interface Parsed {
  readonly ids: ReadonlySet<string>;
  /** Addresses of links, images, scripts and styles. */
  readonly links: readonly string[];
}

/** What a page can be linked at, and what it links to. */
export function parsePage(address: string): Parsed {
  const attributes = elementsBelow(parse(readFileSync(fileOf(address), "utf8"))).flatMap(
    ({ attrs }) => attrs,
  );
  const valuesOf = (...names: string[]): string[] => attrs(attributes, names).filter((value) => value !== "");
  return { ids: new Set(valuesOf("id")), links: valuesOf("href", "src") };
}

const attrs = (all: Element["attrs"], names: readonly string[]): string[] =>
  all.filter(({ name }) => names.includes(name)).map(({ value }) => value);
