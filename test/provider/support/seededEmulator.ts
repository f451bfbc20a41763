import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import type { Declarations } from "../../support/engine";
import { HandlerStack } from "./handlerStack";

/** An emulator that holds what is declared, again after each `reset()`: a reset costs less than creating it by requests. */
export async function startSeededEmulator(
  declarations: Declarations,
): Promise<{ emulator: Emulator; ids: Readonly<Record<string, string>> }> {
  const first = await startEmulator();
  const stack = new HandlerStack(first, declarations);
  const ids: Record<string, string> = {};
  for (const name of Object.keys(declarations)) ids[name] = (await stack.make(name)).id;
  const seed = first.state();
  await first.close();
  return { emulator: await startEmulator({ seed }), ids };
}
