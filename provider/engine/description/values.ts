/** A JSON value as the engine hands it over and takes it back. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

/** The properties of one resource: inputs, or outputs. */
export type Props = Record<string, Json | undefined>;

/** How the engine writes a value that is not known before something else is made. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The placeholder of a secret's value, in the engine's documents and in those of this package. */
export const SECRET_MASK = "[secret]";

/** Among the inputs of a resource that takes over what exists: the uid of that. See adopt.ts. */
export const ADOPT = "__adopt";

/** Marks the outputs of a resource that was created and then could not be read: the next read completes them. */
export const UNCONFIRMED = "__unconfirmed";
