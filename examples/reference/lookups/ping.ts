import { pingOutput } from "pulumi-platform";

export const response = pingOutput().response;
