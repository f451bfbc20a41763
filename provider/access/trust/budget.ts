/** Thrown inside `Budget.ask`, and caught there, when a question needs more steps than are left. */
class BudgetExceeded extends Error {}

/** An answer to a part of a question: where a part takes too many steps, so does the whole. */
export function answerOf<T>(found: T): Exclude<T, "tooLarge"> {
  if (found === "tooLarge") throw new BudgetExceeded();
  return found as Exclude<T, "tooLarge">;
}

/** How many steps all questions of a review may take together: about two seconds of processor time. */
const REVIEW_STEPS = 20_000_000;
/** How many of them one question may take: as many as 100 names that are written out, of any letters. */
const QUESTION_STEPS = 2_000_000;

/**
 * The steps that all questions about patterns may take together. Steps are counted, never timed, so
 * that the same review gives the same answers on every machine.
 */
export class Budget {
  private leftForQuestion = 0;
  private isAsking = false;

  constructor(
    private left = REVIEW_STEPS,
    private readonly stepsPerQuestion = QUESTION_STEPS,
  ) {}

  spend(steps: number): void {
    this.left -= steps;
    this.leftForQuestion -= steps;
    if (this.left < 0 || this.leftForQuestion < 0) throw new BudgetExceeded();
  }

  /** Runs a computation, or returns `tooLarge`. A computation inside another one shares its steps. */
  ask<T>(question: () => T): T | "tooLarge" {
    if (this.isAsking) return question();
    this.isAsking = true;
    this.leftForQuestion = this.stepsPerQuestion;
    try {
      return question();
    } catch (error) {
      if (error instanceof BudgetExceeded) return "tooLarge";
      throw error;
    } finally {
      this.isAsking = false;
    }
  }
}
