import type { Message } from "../gateway/descriptor";
import {
  Code,
  invalidArgument,
  invalidField,
  notFound,
  permissionDenied,
  StatusError,
} from "../gateway/status";
import type { Violation } from "../gateway/status";
import type { KindTable, ServiceContext, Write } from "../tables/kindTable";
import type { Entry } from "./store";
import type { TableRegistry } from "./tableRegistry";
import { violationsOf, withoutOutputs } from "./validate";

/** Checks a create and returns the function that stores it. @throws StatusError */
export function prepareCreate(
  context: ServiceContext,
  tables: TableRegistry,
  {
    kind,
    parent,
    sent,
    fieldPrefix = "",
  }: { kind: string; parent: string; sent: Message; fieldPrefix?: string },
): () => Entry {
  const table = tables.require(kind);
  const { behaviour, message } = table;
  if (!behaviour) throw new StatusError(Code.unimplemented, `${kind} is not emulated`);
  checkParent(context, tables, table, parent);
  const now = context.now();
  const violations: Violation[] = [];
  const write: Write = {
    value: withoutOutputs(sent, message),
    sent,
    parent,
    createdAt: now,
    now,
    isFullReplacement: false,
    touches: () => true,
    namesExactly: () => false,
    addViolation: (field, description) => violations.push({ field: `${fieldPrefix}${field}`, description }),
  };
  violations.push(...violationsOf(write.value, message, fieldPrefix));
  behaviour.check?.(write, context);
  if (violations.length > 0) throw invalidArgument(violations);
  const overwritten = behaviour.findOverwritten?.(write, context);
  behaviour.complete?.(write, context);
  return () => {
    const uid = overwritten?.uid ?? (behaviour.hasUidOfParent ? parent : context.store.newUid(parent));
    return context.put(kind, uid, parent, write.value);
  };
}

function checkParent(
  context: ServiceContext,
  tables: TableRegistry,
  { behaviour }: KindTable,
  parent: string,
): void {
  if (!behaviour || (parent === "" && behaviour.mayBeRoot)) return;
  if (parent === "") throw invalidField("parent", "parent is required");
  const entry = context.store.find(behaviour.parent, parent);
  if (!entry) throw notFound(behaviour.parent, parent);
  for (const table of tables.all) table.behaviour?.checkCreateBelow?.(parent, context);
  checkGroupAge(context, entry);
}

/** Refuses a create below a group that is younger than `newGroupRefusalMs`. */
function checkGroupAge(context: ServiceContext, parent: Entry): void {
  const { settings, store } = context;
  const minimumAgeMs = settings.newGroupRefusalMs;
  if (minimumAgeMs <= 0) return;
  for (let above: Entry | undefined = parent; above; above = store.find("Group", above.parent)) {
    if (above.kind === "Group" && context.now() - above.createdAt < minimumAgeMs) {
      throw permissionDenied(`no access to group "${above.uid}" yet`);
    }
  }
}
