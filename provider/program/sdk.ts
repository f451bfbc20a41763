/*
 * The parts of Pulumi's library that programs of this package need. Its index loads the Automation API and TypeScript
 * as well, which takes five times as long: commands and the review load the kinds without a program.
 */
import { getMonitor } from "@pulumi/pulumi/runtime/settings";
import { getOrCompute } from "../fields/values";

export { Config } from "@pulumi/pulumi/config";
export { RunError } from "@pulumi/pulumi/errors";
export * as log from "@pulumi/pulumi/log";
export { all, isSecret, Output, output, secret } from "@pulumi/pulumi/output";
export type { Input } from "@pulumi/pulumi/output";
export { CustomResource, mergeOptions, ProviderResource } from "@pulumi/pulumi/resource";
export type { CustomResourceOptions, ID, Resource, ResourceOptions } from "@pulumi/pulumi/resource";
export { allConfig } from "@pulumi/pulumi/runtime/config";
export { getMonitor, isDryRun, rpcKeepAlive } from "@pulumi/pulumi/runtime/settings";

/** Stands for the run where there is none. */
const NO_RUN = {};

/**
 * A value of its own for each run. One process may run several programs, or one program again: each run has another connection
 * to the engine.
 */
export function createPerRun<T extends object>(make: () => T): () => T {
  const values = new WeakMap<object, T>();
  return () => getOrCompute(values, getMonitor() ?? NO_RUN, make);
}

/** Whether a unit test of the program runs, which has no engine. */
export const isMocked = (): boolean => "mocks" in (getMonitor() ?? {});
