import type { Expression } from './expression.ts';
import { decisionWork, decisionWorkMax, type Work } from './work.ts';

/** Looking one value up among others, and reading one character, in loop bodies. */
const rereadCosts = { value: 0.1, character: 0.02 };

/** Copying one value into a longer list, and looking at one name of an object. */
const [copyCost, nameCost] = [0.3, 0.5];

/**
 * The work that all rules of one decision share. CEL always ends, but two nested loops over a caller's list of 100,000
 * items end too late. The same holds for a hundred rules that search a caller's text of a million characters.
 */
export class IterationBudget {
  readonly #values: readonly unknown[];
  readonly #work: ReturnType<typeof decisionWork>;
  #weight: Weight | null = null;

  /** `values`: what the caller brings in any size. */
  constructor(values: readonly unknown[], work = decisionWork()) {
    this.#values = values;
    this.#work = work;
  }

  /** Takes what an expression may read. False when that is more than is left. Only expressions that loop, search, compare or build pay for the counting. */
  spend(expression: Expression): boolean {
    const { literals, bodyCosts, splitsText, searchCosts, readingCost, valueCost, growth } = expression;
    const { concatenations, enumerations } = expression;
    // Stryker disable next-line ConditionalExpression,ArithmeticOperator: Speed alone: what takes nothing is counted.
    if (bodyCosts.length + searchCosts.length + concatenations.length + readingCost + valueCost === 0) return true;
    const { values, characters, names } = (this.#weight ??= weightOf(this.#values));
    const elements = values + literals;
    const looped = sumOfPowers(bodyCosts, elements + (splitsText ? characters : 0));
    const rounds = Math.max(1, elements);
    const searched = characters * sumOfPowers(searchCosts, rounds);
    const whole = values * rereadCosts.value + characters * rereadCosts.character;
    const reread = whole * sumOfPowers(expression.rereadings, elements);
    const read = characters * readingCost + values * valueCost;
    const copied = elements * copyCost * sumOfPowers(concatenations, elements);
    const enumerated = names * nameCost * sumOfPowers(enumerations, elements);
    return this.#work.take(growth * (looped + searched + read + reread + copied + enumerated));
  }

  /** For what is counted while an expression is evaluated. */
  get work(): Work {
    return this.#work;
  }
}

function sumOfPowers(costs: readonly number[], base: number): number {
  return costs.reduce((sum, cost, power) => sum + cost * base ** power, 0);
}

/** `names`: of the members of objects. */
type Weight = { values: number; characters: number; names: number };

function weightOf(values: readonly unknown[]): Weight {
  const weight = { values: 0, characters: 0, names: 0 };
  const waiting: unknown[] = [values];
  // Stryker disable next-line EqualityOperator: That many are too many already.
  // Stryker disable next-line ConditionalExpression: Those are too many already.
  while (waiting.length > 0 && weight.values <= decisionWorkMax) {
    const value = waiting.pop();
    if (typeof value === 'string') weight.characters += value.length;
    if (typeof value !== 'object' || value === null) continue;
    const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
    // A loop over an object has its names.
    if (!Array.isArray(value)) {
      weight.names += children.length;
      for (const name of Object.keys(value)) weight.characters += name.length;
    }
    weight.values += children.length;
    for (const child of children) waiting.push(child);
  }
  return weight;
}
