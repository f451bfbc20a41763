/** The option that connects a resource to its old URN. An alias of a name alone means a resource with the same parent. */
export const ALIAS_OPTION =
  'aliases: [{ name: "<old name>" }], or, if it had another parent resource or none, aliases: [{ parent: <that one, or pulumi.rootStackResource> }]';
