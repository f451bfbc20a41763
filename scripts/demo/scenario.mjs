// @ts-check
import { adopt, destroy, findGrant, review, stopLie } from "./accessSteps.mjs";
import { create, edit } from "./deploySteps.mjs";
import { changeByHand, preview, repair } from "./driftSteps.mjs";

/**
 * @typedef {import("./steps.mjs").Step} Step
 * @typedef {import("./steps.mjs").StepRun} StepRun
 * @typedef {import("./tour.mjs").Tour} Tour
 */

/** Each builds on the earlier ones. @type {{ title: string, intent: string, run: (tour: Tour, step: StepRun) => Promise<void> }[]} */
const STEPS = [
  {
    title: "An organisation from nothing",
    intent:
      "The program examples/getting-started is deployed: two teams below an organisation, a CI identity that " +
      "may push images for one of them, their repositories, and a subscription to what happens.",
    run: create,
  },
  {
    title: "An edit becomes exactly the requests it needs",
    intent: "One field of three resources is edited in the program, then deployed.",
    run: edit,
  },
  {
    title: "Meanwhile, somebody changes things by hand",
    intent: "Three changes that are not in the program are made at the server, over plain HTTP.",
    run: changeByHand,
  },
  {
    title: "A preview tells what was changed by hand",
    intent:
      "The preview reads every resource, compares it with what was deployed, and writes nothing. Its exit " +
      "code makes it a job for every night.",
    run: preview,
  },
  {
    title: "The next run repairs it",
    intent:
      "The program is deployed again, unchanged: what was changed by hand goes back to what it declares.",
    run: repair,
  },
  {
    title: "A pull request is reviewed before it is merged",
    intent:
      "It makes the CI identity an owner, which the policy file forbids, and lets any workflow of acme assume it. The " +
      "review reads the preview of the change, says what it does to access, and its exit code stops the merge.",
    run: review,
  },
  {
    title: "An update is held to the report that was approved",
    intent:
      "Another change binds a new harmless role, as its preview says. In the update it computes the role of owners in " +
      "its place. The policy pack of the package compares each value with the approved report before its request.",
    run: stopLie,
  },
  {
    title: "A grant made by hand is found",
    intent:
      "Somebody gives a role over plain HTTP. No resource of the stack has changed, so no preview can show it; " +
      "drift compares the stack with the whole organisation, by reading alone.",
    run: findGrant,
  },
  {
    title: "What is there is adopted by a new stack",
    intent:
      "From the live organisation, adopt writes a program, and then the state that belongs to it. From then on a " +
      "stack manages what was there, the grant made by hand included; the server gets no write for it.",
    run: adopt,
  },
  {
    title: "All of it goes away again",
    intent:
      "The new stack deletes what it adopted, in an order that the server accepts. The first one sees that, and " +
      "deletes what is left to it: the organisation.",
    run: destroy,
  },
];

/** The steps of the demo. @param {Tour} tour @returns {Step[]} */
export const stepsOf = (tour) =>
  STEPS.map(({ run, ...step }) => ({ ...step, run: (each) => run(tour, each) }));
