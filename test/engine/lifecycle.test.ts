import { describeLife } from "../support/lifeOfKinds";

/* `npm test` runs this file alone of those that run the engine. `npm run test:all` runs the others too. */
describeLife("dynamic");
