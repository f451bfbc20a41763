import type * as pulumi from "@pulumi/pulumi";
import type {
  BooleanSpec,
  Decoder,
  EnumSpec,
  FieldSpec,
  IntegerSpec,
  ListSpec,
  MapSpec,
  ObjectSpec,
  OneOf,
  PublicSpec,
  Reads,
  SecretObjectSpec,
  SecretSpec,
  StringSpec,
} from "./fieldSpec";
import { isFoundByComparison } from "./resourceSpec";
import type { NeededCapabilities, ResourceSpec } from "./resourceSpec";

const BINDINGS = "IAM_ROLE_BINDINGS";

/** Whether writing a resource grants somebody a role, which needs what writing a binding needs. */
function grantsRole(fields: Readonly<Record<string, FieldSpec>>): boolean {
  return Object.values(fields).some(({ access }) => access === "role");
}

/**
 * What the requests of a kind need, whose capabilities begin alike: `IAM_GROUPS`. A create that may have to find a lost one
 * by comparison lists what existed before.
 */
function deriveCapabilities(family: string, spec: Omit<ResourceSpec, "capabilities">): NeededCapabilities {
  const named = (verb: string): string => `CAP_${family}_${verb}`;
  const toGrant = family !== BINDINGS && grantsRole(spec.fields) ? [`CAP_${BINDINGS}_CREATE`] : [];
  const isReplacedOnly = Object.values(spec.fields).every(({ immutable }) => immutable);
  return {
    read: [named("LIST")],
    create: [...(isFoundByComparison(spec) ? [named("LIST")] : []), named("CREATE"), ...toGrant],
    ...(isReplacedOnly ? {} : { update: [named("UPDATE"), ...toGrant] }),
    delete: [named("DELETE")],
  };
}

/*
 * The language in which each kind is described once. A builder returns the plain object that the engine works with; its
 * type carries what TypeScript infers from it: the argument of a program, and the member of a lookup's result.
 */

/** `unread`: no response holds it, so that no lookup returns it. */
export type Trait = "required" | "unread";

declare const carried: unique symbol;

/** The types of a field, known to the compiler only. */
interface Typed<Argument, Result, T extends Trait> {
  readonly [carried]?: { readonly argument: Argument; readonly result: Result; readonly trait: T };
}

/** A field that is no secret and holds none: only these stand in lists and maps. */
export type Field<Argument, Result = Argument, T extends Trait = never> = PublicSpec &
  Typed<Argument, Result, T>;

export type SecretString<T extends Trait = never> = SecretSpec & Typed<string, string, T>;

/** An object with a secret among its members. */
export type SecretObject<Argument, Result, T extends Trait = never> = SecretObjectSpec &
  Typed<Argument, Result, T>;

type AnyField = FieldSpec & Typed<unknown, unknown, Trait>;
type Fields = Readonly<Record<string, AnyField>>;
type PublicFields = Readonly<Record<string, Field<unknown, unknown, Trait>>>;
type Outputs = Readonly<Record<string, (PublicSpec | SecretSpec) & Typed<unknown, unknown, Trait>>>;
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- what a kind has that describes none
type None = Readonly<Record<never, never>>;

type Options<Spec> = Omit<Spec, "type" | "secret">;
type StringOptions = Options<StringSpec>;
type EnumOptions = Omit<Options<EnumSpec>, "prefix" | "known">;
type BooleanOptions = Options<BooleanSpec>;
type IntegerOptions = Options<IntegerSpec>;
type ListFieldOptions = Omit<Options<ListSpec>, "items">;
type MapOptions = Omit<Options<MapSpec>, "values">;
type ObjectOptions = Omit<Options<ObjectSpec>, "fields" | "oneOfs" | "reads">;

interface IsRequired {
  readonly required: true;
}

type IsUnread = { readonly inputOnly: true } | { readonly subresource: true } | { readonly createOnly: true };

type TraitOf<O> = (O extends IsRequired ? "required" : never) | (O extends IsUnread ? "unread" : never);

interface IsLeftOut {
  readonly leftOut: true;
}

/** What a lookup returns of a field with these options. */
type ResultWith<O, R> = O extends IsLeftOut ? R | undefined : R;

/** A string that is not set reads as an empty one; a time that is not set is left out. */
type StringResult<O> = O extends { readonly format: "timestamp" }
  ? string | undefined
  : ResultWith<O, string>;

export function string<const O extends StringOptions = StringOptions>(
  options?: O,
): Field<string, StringResult<O>, TraitOf<O>> {
  return { type: "string", ...options };
}

/** A time of the server's, in RFC 3339 as the API wrote it. */
export const time = string({ format: "timestamp" });

/** When the server made an object, and when it last changed. */
export const times = {
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime: time,
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime: time,
};

/** One of some words that the package itself acts on: TypeScript knows them. */
export function word<const W extends string>(...words: readonly W[]): Field<W> {
  const last = words.length - 1;
  const must = `${words.slice(0, last).join(", ")} or ${words[last] ?? ""}`;
  return { type: "string", pattern: { regex: new RegExp(`^(${words.join("|")})$`), must } };
}

/** A string that is encrypted in state and never printed. It stands at the top of a resource, or in objects. */
export function secret<const O extends StringOptions = StringOptions>(
  options?: O,
): SecretString<TraitOf<O> | "unread"> {
  return { type: "string", secret: true, ...options };
}

/** The words of a text: "A B" is A or B. */
export type Words<T extends string> = T extends `${infer First} ${infer Rest}` ? First | Words<Rest> : T;

/**
 * An editor completes the known names; any other text is accepted, since the server's list grows. A member's type has no name,
 * so editors show the names that there are.
 */
export type OpenEnum<Prefix extends string, Names extends string> = {
  readonly name: `${Prefix}${Words<Names>}` | (string & Record<never, never>);
}["name"];

/**
 * An enumeration of the API. `known` are names without the prefix, for editors and hints: the server's list grows. Of a
 * list that is no literal, `Names` says what an editor offers.
 */
export function enumOf<
  const Prefix extends string,
  const Names extends string,
  const O extends EnumOptions = EnumOptions,
>(
  prefix: Prefix,
  known: Names | readonly string[],
  options?: O,
): Field<OpenEnum<Prefix, Names>, string | undefined, TraitOf<O>> {
  return { type: "enum", prefix, known: typeof known === "string" ? known.split(" ") : known, ...options };
}

export function boolean<const O extends BooleanOptions = BooleanOptions>(
  options?: O,
): Field<boolean, boolean, TraitOf<O>> {
  return { type: "boolean", ...options };
}

export function integer<const O extends IntegerOptions = IntegerOptions>(
  options?: O,
): Field<number, number, TraitOf<O>> {
  return { type: "integer", ...options };
}

export function list<A, R, const O extends ListFieldOptions = ListFieldOptions>(
  items: Field<A, R, Trait>,
  options?: O,
): Field<pulumi.Input<A>[], NonNullable<R>[], TraitOf<O>> {
  return { type: "list", items, ...options };
}

export function map<A, R, const O extends MapOptions = MapOptions>(
  values: Field<A, R, Trait>,
  options?: O,
): Field<Record<string, pulumi.Input<A>>, ResultWith<O, Record<string, NonNullable<R>>>, TraitOf<O>> {
  return { type: "map", values, ...options };
}

/** The members of an object or of a kind: what a program sets, and what only the server tells. */
export interface Shape<
  F extends Fields = Fields,
  C extends readonly OneOf[] = readonly OneOf[],
  R extends Reads = Reads,
> {
  readonly fields: F;
  readonly oneOfs?: C;
  /** What a response holds besides the fields, or in another form: for lookups. */
  readonly reads?: R;
}

/** An object's members, in a constant of their own: the interfaces of arguments and results are made from its type. */
export function shape<
  const F extends Fields,
  const C extends readonly OneOf[] = readonly [],
  const R extends Reads = None,
>(members: Shape<F, C, R>): Shape<F, C, R> {
  return members;
}

/** A shape with the members of these arguments. */
interface ShapeOf<A extends object, Member> {
  readonly fields: { readonly [K in keyof Required<A>]: Member };
  readonly oneOfs?: readonly OneOf[];
  readonly reads?: Reads;
}

/** An object of a shape. The interfaces of its arguments and of its result give editors short names to show. */
export function object<A extends object, R extends object = never>(
  members: ShapeOf<A, PublicSpec>,
  options: ObjectOptions & IsRequired,
): Field<A, R | undefined, "required">;
export function object<A extends object>(
  members: ShapeOf<A, PublicSpec>,
  options: ObjectOptions & { readonly inputOnly: true },
): Field<A, never, "unread">;
export function object<A extends object, R extends object = never>(
  members: ShapeOf<A, PublicSpec>,
  options?: ObjectOptions,
): Field<A, R | undefined>;
export function object(members: { readonly fields: PublicFields }, options?: ObjectOptions): PublicSpec {
  return { type: "object", ...members, ...options };
}

/** An object of a shape with a secret. */
export function objectWithSecret<A extends object, R extends object>(
  members: ShapeOf<A, FieldSpec>,
  options: ObjectOptions & IsRequired,
): SecretObject<A, R | undefined, "required"> {
  return { type: "object", ...members, ...options };
}

/** The members of an interface as a lookup reads them: a forgotten one does not compile. */
export type ReadsOf<R> = { readonly [K in keyof R]-?: Field<unknown, R[K], Trait> | Decoder<R[K]> };

/** An object that only responses hold; left out where nothing in it is set. */
export function resultObject<R extends object>(reads: ReadsOf<R>): Field<R, R | undefined> {
  return { type: "object", fields: {}, reads };
}

/** A kind of resource, with the types of its members. */
export interface Kind<
  F extends Fields = Fields,
  C extends readonly OneOf[] = readonly OneOf[],
  R extends Reads = Reads,
  O extends Outputs = Outputs,
> extends ResourceSpec {
  readonly fields: F;
  readonly oneOfs?: C;
  readonly reads?: R;
  readonly outputs?: O;
}

/**
 * The description of a kind. The noun may be left out where it is the words of the name: `group invite`. Capabilities are
 * named by how all of them begin, as in `IAM_GROUPS`, or one by one.
 */
interface Description<
  F extends Fields,
  C extends readonly OneOf[],
  R extends Reads,
  O extends Outputs,
> extends Omit<ResourceSpec, "noun" | "capabilities" | "fields" | "oneOfs" | "reads" | "outputs"> {
  readonly noun?: string;
  readonly capabilities?: string | NeededCapabilities;
  readonly fields: F;
  readonly oneOfs?: C;
  readonly reads?: R;
  readonly outputs?: O;
}

/** Describes a kind. */
export function kind<
  const F extends Fields,
  const C extends readonly OneOf[] = readonly [],
  const R extends Reads = None,
  const O extends Outputs = None,
>({ capabilities, ...description }: Description<F, C, R, O>): Kind<F, C, R, O> {
  const words = description.kind.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  const spec = { noun: words, ...description };
  return {
    ...spec,
    capabilities: typeof capabilities === "string" ? deriveCapabilities(capabilities, spec) : capabilities,
  };
}

type ArgumentOf<T> = T extends Typed<infer A, unknown, Trait> ? A : never;
type Result<T> = T extends Typed<unknown, infer R, Trait> ? R : never;
type Traits<T> = T extends Typed<unknown, unknown, infer X> ? X : never;

type Has<T, X extends Trait> = X extends Traits<T> ? true : false;

type ArgsOfFields<F> = {
  -readonly [K in keyof F as Has<F[K], "required"> extends true ? K : never]: pulumi.Input<ArgumentOf<F[K]>>;
} & {
  -readonly [K in keyof F as Has<F[K], "required"> extends true ? never : K]?: pulumi.Input<ArgumentOf<F[K]>>;
};

/** A second base of a kind's arguments: TypeScript shows an interface that adds nothing to its only base by that base. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface OfKind {}

/** The arguments of a kind, or of an object in them. */
export type ArgsOf<S extends { readonly fields: Fields }> = ArgsOfFields<S["fields"]>;

/** Not what no response holds, nor what is read in another form. */
type ResultKeys<F, Other> = {
  [K in keyof F]: Has<F[K], "unread"> extends true ? never : K extends Other ? never : K;
}[keyof F];

/** Left out where it is not set: one of several to choose from, a time, the name of an enum, an object. */
type LeftOutKeys<F, Choice> = {
  [K in keyof F]: K extends Choice ? K : undefined extends Result<F[K]> ? K : never;
}[keyof F];

type ResultsOfFields<F, Choice, Other> = {
  -readonly [
    K in keyof F as K extends Exclude<ResultKeys<F, Other>, LeftOutKeys<F, Choice>> ? K : never
  ]: Result<F[K]>;
} & {
  -readonly [K in keyof F as K extends ResultKeys<F, Other> & LeftOutKeys<F, Choice> ? K : never]?: Result<
    F[K]
  >;
};

type Value<T> = T extends Decoder<infer R> ? R : Result<T>;

/** What a lookup returns of a table of `reads`. */
export type Returned<R> = {
  -readonly [K in keyof R as undefined extends Value<R[K]> ? never : K]: Value<R[K]>;
} & {
  -readonly [K in keyof R as undefined extends Value<R[K]> ? K : never]?: Value<R[K]>;
};

/** What a lookup returns of every kind. */
interface ResultBase {
  /** The uid. */
  uid: string;
}

/** What a lookup returns of a kind, or of an object in it. */
export type ResultOf<S extends Shape & { readonly outputs?: Outputs }> = (S extends ResourceSpec
  ? ResultBase
  : unknown) &
  ResultsOfFields<
    S["fields"],
    NonNullable<S["oneOfs"]>[number]["members"][number],
    keyof NonNullable<S["reads"]>
  > &
  ResultsOfFields<NonNullable<S["outputs"]>, never, never> &
  Returned<NonNullable<S["reads"]>>;

/** What the server returns of an enumeration that is open is any text. */
type Widened<T> = T extends readonly (infer Item)[]
  ? Widened<Item>[]
  : T extends string
    ? string & Record<never, never> extends T
      ? string
      : T
    : T;

type Given<A> = A extends pulumi.Input<infer Item>[] ? Widened<Item>[] : Widened<A>;

/** What a lookup takes for these fields: values in the place of inputs. */
export type ArgumentsOf<F extends Fields> = {
  -readonly [K in keyof F as Has<F[K], "required"> extends true ? K : never]: Given<ArgumentOf<F[K]>>;
} & {
  -readonly [K in keyof F as Has<F[K], "required"> extends true ? never : K]?: Given<ArgumentOf<F[K]>>;
};

/** The outputs of a resource with these arguments. */
export type Resolved<A> = { readonly [K in keyof A]-?: pulumi.Output<Widened<pulumi.Unwrap<A[K]>>> };

/** The outputs that the server adds to those of the arguments. */
export type OutputsOf<K extends { readonly outputs?: Outputs }> = OutputsOfFields<NonNullable<K["outputs"]>>;

type OutputsOfFields<O> = {
  readonly [K in keyof O]: pulumi.Output<
    Has<O[K], "required"> extends true ? ArgumentOf<O[K]> : ArgumentOf<O[K]> | undefined
  >;
};
