import { describeLife } from "../support/lifeOfKinds";

describeLife("native");
