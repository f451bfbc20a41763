/** A request as anybody makes it, past the package: for changes by hand and for looking. */
export async function call(
  server: { url: string; token: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${server.token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

/** Creates an object; answers its uid. */
export async function create(
  server: { url: string; token: string },
  path: string,
  body: unknown,
): Promise<string> {
  return String((await call(server, "POST", path, body))["uid"]);
}

/** The uid of a role that the platform has of its own. */
export async function builtInRole(server: { url: string; token: string }, name: string): Promise<string> {
  const { roles } = await call(server, "GET", `/iam/v2/roles?name=${name}`);
  return (roles as { uid: string }[]).find(({ uid }) => !uid.includes("/"))?.uid ?? "";
}

/** The environment of a command that asks an emulator, without repetitions. */
export const environmentOf = ({ url, token }: { readonly url: string; readonly token: string }) => ({
  PLATFORM_BASE_URL: url,
  PLATFORM_TOKEN: token,
  PLATFORM_MAX_RETRIES: "0",
});
