import type { CodeTable } from "./description";

const REFERENCE = "The page of the kind in the [reference](reference/README.md) lists its arguments.";

/** What a program is told before a request is sent. */
export const programCodes = {
  PP1001: {
    title: "A required argument is missing",
    meaning:
      "The resource, or an object inside it, lacks an argument that it needs, or it is an empty string.",
    look: `The message names the argument. ${REFERENCE}`,
    fix: "Give the argument. Where it comes from the configuration, check that the value is set: `pulumi config`.",
  },
  PP1002: {
    title: "Unknown argument",
    meaning: "The resource has no argument of this name.",
    look: `${REFERENCE} The message proposes the nearest name.`,
    fix: "Correct the name, or remove the argument.",
  },
  PP1003: {
    title: "An argument has the wrong type",
    meaning: "The value is, for example, a number where a string is needed.",
    look: "The message names the argument, the type that it needs and the type that it has.",
    fix: "Give a value of that type. Numbers and booleans of `pulumi.Config` need `getNumber` and `getBoolean`.",
  },
  PP1004: {
    title: "An argument has the wrong format",
    meaning:
      "The value has the right type, but is no uid, URL, time, duration, pattern or name of the form needed.",
    look: "The message names the argument and the form, with an example.",
    fix: "Write the value in that form. A uid is the `id` of a resource or of the result of a lookup.",
  },
  PP1005: {
    title: "An argument is too long",
    meaning: "A string has too many characters, or a list has too many items.",
    look: "The message names the argument and its limit.",
    fix: "Shorten it.",
  },
  PP1006: {
    title: "A value must not be empty",
    meaning:
      "An empty string stands where it would change the meaning: a parent, an item of a list or a key.",
    look: "The message names the place. Often a value of the configuration is not set: `pulumi config`.",
    fix: "Give the value, or leave the argument out.",
  },
  PP1007: {
    title: "Arguments conflict",
    meaning: "Two arguments are set of which only one may be.",
    look: "The message names both.",
    fix: "Remove one of them.",
  },
  PP1008: {
    title: "One of several arguments is needed",
    meaning: "Exactly one argument of a group must be set, and none is.",
    look: "The message lists them.",
    fix: "Set one of them.",
  },
  PP1009: {
    title: "An enum value is not written in full",
    meaning: "The API names enum values with a prefix, such as `ORG_KIND_CUSTOMER`.",
    look: "The message names the prefix and proposes the nearest value.",
    fix: "Write the full name.",
  },
  PP1010: {
    title: "A time or a duration is out of range",
    meaning: "A time has passed or is too far ahead, or a duration is too short or too long.",
    look: "The message names the argument and the range. `date -u` shows the clock of this machine.",
    fix: "Give a value in that range.",
  },
  PP1011: {
    title: "An argument does not fit the others",
    meaning: "The argument is valid alone, but not with the rest of the resource.",
    look: "The message names the arguments, and what each needs.",
    fix: "Change one of them as the message says.",
  },
  PP1012: {
    title: "The same grant stands twice",
    meaning: "Two bindings of a `GroupAccess` give one role to one identity.",
    look: "The message names both labels.",
    fix: "Remove one of them.",
  },
  PP1101: {
    title: "A resource has no arguments",
    meaning: "A resource was created without an object of arguments.",
    look: "The message names the kind and the name of the resource.",
    fix: 'Write `new Group("team", { … })`.',
  },
  PP1102: {
    title: "A resource has a provider of its own",
    meaning: "The options `provider` and `providers` cannot be used with resources of this package.",
    look: "The message names the resource. The option may come from its parent component.",
    fix: "Remove the option. To use another address or credential, use another stack.",
  },
  PP1103: {
    title: "Two resources are the same object",
    meaning:
      "Two resources of the program would manage one object of the server. Deleting either deletes it.",
    look: "The message names both resources.",
    fix: "Remove one of them, or read the object with `X.get(name, uid)` in one place.",
  },
  PP1104: {
    title: "Two resources manage the same bindings",
    meaning: "A `GroupAccess` owns all bindings of its group, and another resource is for the same group.",
    look: "The message names both. [GroupAccess](reference/resources/GroupAccess.md) says what it owns.",
    fix: "Move all bindings of the group into the `GroupAccess`, or use only `RoleBinding`.",
  },
  PP1201: {
    title: "An argument of a lookup is wrong",
    meaning: "A lookup such as `getGroup` has an argument that is missing, unknown, or has another form.",
    look: "The message names the lookup and the argument. The [reference](reference/README.md#lookups) lists them.",
    fix: "Correct the argument.",
  },
  PP1202: {
    title: "An argument of a lookup is not known yet",
    meaning: "The argument is an output or a promise, and the lookup needs a plain value.",
    look: "The message names the argument.",
    fix: "Call the form with `Output` at the end of its name: `getGroupOutput`.",
  },
  PP1203: {
    title: "A lookup found nothing",
    meaning: "No object has this uid or name, or the identity behind the token may not see it.",
    look: "`npx pulumi-platform whoami` shows the identity; `npx pulumi-platform inventory --root <group>` what it sees.",
    fix: "Correct the uid or the name, or give the identity a role that may read the object.",
  },
  PP1204: {
    title: "A lookup found several objects",
    meaning: "Several objects have this name.",
    look: "The message lists their uids.",
    fix: "Look up by uid, or narrow the search with the group.",
  },
  PP1301: {
    title: "A policy pack names a rule that it does not have",
    meaning: "`enforcement` of `accessPolicies` has a key that is no rule of the pack.",
    look: "`npx pulumi-platform explain` lists all rules with their ids and names.",
    fix: "Correct the name. Rules that compare with the state before run only in `pulumi-platform review`.",
  },
  PP1302: {
    title: "A policy pack has a wrong option",
    meaning: "A member of `options` or of `enforcement` of `accessPolicies` has a value that it cannot have.",
    look: "The message names the member and what it must be. `issuerAllow` and `sinkAllow` take what the flags take.",
    fix: "Correct the value.",
  },
} as const satisfies CodeTable;
