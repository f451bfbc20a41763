import type { MessageType } from "../gateway/descriptor";
import { messageType, text } from "../gateway/descriptor";
import type { EventAction, ServiceContext } from "../tables/kindTable";
import type { Caller } from "./caller";
import type { PlatformEvent } from "./events";
import type { Entry } from "./store";
import type { TableRegistry } from "./tableRegistry";

/** Emits the event of a write, for kinds that have one. */
export function emitWriteEvent(
  context: ServiceContext,
  tables: TableRegistry,
  entry: Entry,
  action: EventAction,
  caller: Caller,
): void {
  const { message: type, behaviour } = tables.require(entry.kind);
  const events = behaviour?.events;
  if (!events?.actions.includes(action)) return;
  const subject = events.findSubject?.(entry, context);
  if (subject) {
    emitWriteEvent(context, tables, subject, action, caller);
    return;
  }
  const body: PlatformEvent["body"] =
    action === "deleted"
      ? { message: { uid: entry.uid }, type: createDeleteRequestType(type) }
      : {
          message: context.toResponse(entry),
          type,
          onlyFields: events.bodyFields && new Set(events.bodyFields),
        };
  context.emit(
    {
      name: `${events.name}.${action}`,
      subject: entry.uid,
      group: events.group?.(entry, action) ?? entry.parent,
      body: action === "deleted" && events.deletedWithoutBody ? undefined : body,
      extensions: events.extensions?.(entry),
    },
    caller,
  );
}

function createDeleteRequestType({ fullName }: MessageType): MessageType {
  const cut = fullName.lastIndexOf(".") + 1;
  return messageType(`${fullName.slice(0, cut)}Delete${fullName.slice(cut)}Request`, { uid: text() });
}
