/*
 * Plays actors against each other in every order, with a bound on how often one is interrupted: nearly all mistakes of
 * concurrency need few interruptions, and without a bound the orders are too many to play.
 */

interface Step {
  readonly actor: string;
  readonly run: () => void;
}

/** One order of steps. Where several are possible, `choices` says which, the first by default. */
export class Schedule {
  /** What was chosen of how many, at each step. */
  readonly taken: { readonly choice: number; readonly of: number }[] = [];
  /** The actors, in the order of their steps: tells a failing order. */
  readonly log: string[] = [];
  private waiting: Step[] = [];

  constructor(
    private readonly choices: readonly number[],
    private interruptions: number,
  ) {}

  /** Resolves when it is the actor's turn. */
  turn(actor: string): Promise<void> {
    return new Promise((run) => this.waiting.push({ actor, run }));
  }

  /** Runs until no actor waits for a turn. */
  async play(): Promise<void> {
    for (;;) {
      // All between two turns is promises, which are done by then.
      await new Promise(setImmediate);
      const step = this.choose();
      if (step === undefined) return;
      this.waiting = this.waiting.filter((other) => other !== step);
      this.log.push(step.actor);
      step.run();
    }
  }

  private choose(): Step | undefined {
    const last = this.log.at(-1);
    const own = this.waiting.filter(({ actor }) => actor === last);
    const others = this.waiting.filter(({ actor }) => actor !== last);
    const isBound = own.length > 0 && this.interruptions === 0;
    const options = isBound ? own : [...own, ...others];
    if (options.length < 2) return options[0];
    const choice = this.choices[this.taken.length] ?? 0;
    this.taken.push({ choice, of: options.length });
    const step = options[choice];
    if (own.length > 0 && step !== undefined && !own.includes(step)) this.interruptions -= 1;
    return step;
  }
}

/** Plays every order with at most so many interruptions, and returns how many there were. */
export async function playAll(
  interruptions: number,
  play: (schedule: Schedule) => Promise<void>,
): Promise<number> {
  let choices: number[] | undefined = [];
  let count = 0;
  while (choices !== undefined) {
    const schedule = new Schedule(choices, interruptions);
    await play(schedule);
    count += 1;
    choices = nextChoices(schedule.taken);
  }
  return count;
}

function nextChoices(taken: Schedule["taken"]): number[] | undefined {
  for (let index = taken.length - 1; index >= 0; index -= 1) {
    const { choice, of } = taken[index] ?? { choice: 0, of: 0 };
    if (choice + 1 < of) return [...taken.slice(0, index).map((one) => one.choice), choice + 1];
  }
  return undefined;
}
