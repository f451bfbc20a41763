import { getRoleOutput, Group, GroupInvite } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });

const auditor = new GroupInvite("auditor", {
  parentUid: acme.id,
  roleUid: getRoleOutput({ name: "viewer", builtIn: true }).uid,
  ttl: "72h",
  email: "auditor@example.com",
  singleUse: true,
});

export const auditorCode = auditor.code;
