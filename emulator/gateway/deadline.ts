import type { ServiceResponse } from "./gateway";
import { Code, StatusError } from "./status";

const timeoutUnits: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** Runs a call with the deadline of its `grpc-timeout` header. @throws StatusError code 4 after the deadline. */
export async function withDeadline(
  header: string | undefined,
  run: () => ServiceResponse | Promise<ServiceResponse>,
): Promise<ServiceResponse> {
  if (header === undefined) return run();
  const found = /^([0-9]{1,8})([HMSmun])$/.exec(header);
  if (!found) throw new StatusError(Code.invalidArgument, `invalid grpc-timeout: ${header}`);
  const limit = Number(found[1]) * (timeoutUnits[found[2] ?? ""] ?? 0);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new StatusError(Code.deadlineExceeded, "context deadline exceeded")),
      limit,
    );
  });
  try {
    return await Promise.race([Promise.resolve().then(run), deadline]);
  } finally {
    clearTimeout(timer);
  }
}
