import type { ResourceSpec } from "../fields/resourceSpec";
import * as classes from "./exports";

/** Every kind: the classes that the files of kinds export. The provider process and the tests run over it. */
export const kinds: readonly { readonly spec: ResourceSpec }[] = Object.values(classes);
