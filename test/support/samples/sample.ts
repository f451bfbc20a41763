import type { Declaration } from "../engine";

/**
 * Every field of every kind, changed once and cleared once, with what must go over the wire. The
 * expectations are written in wire terms by hand: nothing here is derived from the provider.
 */
export interface FieldCase {
  /** The path in wire terms: what the mask must name. */
  readonly path: string;
  /** The property that the program changes, by its path. */
  readonly property?: string;
  /** The new value: in the program, and on the wire where that differs. */
  readonly to: unknown;
  readonly wire?: unknown;
  /** What clears it on the wire; absent on a field that cannot be cleared. */
  readonly empty?: unknown;
  /** Removed in the program together with the change: the other member of a one-of. */
  readonly without?: string;
  /** An object changed as a whole: sent leaf by leaf. */
  readonly whole?: true;
  /** What the change means for access; neutral if not given. */
  readonly direction?: "widened" | "narrowed" | "unknown";
  /** Nobody sees a change by hand: a secret is in no response, and some flags are not the program's. */
  readonly unseen?: true;
}

type Direction = NonNullable<FieldCase["direction"]>;

const meaning =
  (direction: Direction) =>
  (path: string, to: unknown, empty?: unknown): FieldCase => ({
    ...{ path, direction, to },
    ...(empty !== undefined && { empty }),
  });

/** A change by what it means for access. */
export const widened = meaning("widened");
export const narrowed = meaning("narrowed");
export const unclear = meaning("unknown");

/** An object that is changed as a whole, and cleared so. */
export const whole = (path: string, to: object, direction: Direction = "widened"): FieldCase => ({
  ...meaning(direction)(path, to, null),
  whole: true,
});

/** A change that makes another resource, since the API cannot change the field. */
export interface Replacement {
  readonly property: string;
  readonly to: unknown;
  /** Removed in the program together with the change: the other member of a one-of. */
  readonly without?: string;
  /** What has to change along with it. */
  readonly also?: Readonly<Record<string, unknown>>;
}

/** A request in wire terms; `${own}` in its address stands for the uid of what the sample has for itself. */
export interface WireRequest {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly address: string;
  readonly body?: Record<string, unknown>;
}

/** How a kind is written, where that is not POST below the parent, then PATCH and DELETE of the resource. */
export interface Writing {
  readonly create?: "PATCH";
  /** With a `body` an update sends all of that, whatever changed, and has no mask. */
  readonly update: WireRequest;
  readonly delete?: WireRequest;
}

export interface Sample {
  /** Unique among samples. */
  readonly label: string;
  readonly kind: string;
  readonly args: Record<string, unknown>;
  /** What each copy needs for itself alone; `${own}` in the arguments stands for its id. */
  readonly own?: Declaration;
  readonly writing?: Writing;
  /** Nobody can delete it at the server: it goes with its parent. */
  readonly permanent?: true;
  /** What a second one beside it must have of its own, where the server refuses an equal one. */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly fields: readonly FieldCase[];
  /** Updates that are no PATCH of one field: members that take the place of those in `args`. */
  readonly updates?: readonly Readonly<Record<string, unknown>>[];
  /** Besides another parent, which replaces a resource of any kind. */
  readonly replacements?: readonly Replacement[];
}
