import type { MessageType } from "./descriptor";
import type { JsonNode } from "./strictJson";

export class UnknownFieldError extends Error {}

/**
 * The field mask that the gateway infers from a PATCH body: every key that is present,
 * as sorted snake_case paths. Lists, maps and empty objects are one path; `{}` as a whole is the path "".
 *
 * @throws UnknownFieldError naming the field and its message.
 */
export function inferMask(body: JsonNode, type: MessageType): string[] {
  const paths: string[] = [];
  collect(body, type, "", paths);
  return paths.sort();
}

function collect(node: JsonNode, type: MessageType | undefined, path: string, paths: string[]): void {
  if (node.kind !== "object" || node.members.length === 0) {
    paths.push(path);
    return;
  }
  for (const member of node.members) {
    const field = type?.byName.get(member.key);
    if (!field) {
      throw new UnknownFieldError(
        `could not find field ${JSON.stringify(member.key)} in ${JSON.stringify(type?.fullName ?? "")}`,
      );
    }
    const child = path === "" ? field.snake : `${path}.${field.snake}`;
    if (field.type.kind === "list" || field.type.kind === "map") paths.push(child);
    else collect(member.value, field.type.kind === "message" ? field.type.type : undefined, child, paths);
  }
}
