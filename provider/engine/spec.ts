/** The description of a resource kind. */
export * from "./description";
