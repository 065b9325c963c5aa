import type { Expression } from './expression.ts';
import { decisionWork, decisionWorkMax, type Work } from './work.ts';

/** Units of work for reading a value or a character again, once for each element. */
const rereadCosts = { value: 0.1, character: 0.02 };

/** Units of work for copying a value into a longer list, and for looking at a name of an object. */
const [copyCost, nameCost] = [0.3, 0.5];

/**
 * The work that all rules of one decision share. Every CEL expression terminates, but some take too long. Examples are
 * two nested loops over a caller's list of 100,000 items, or a hundred rules that search a text of a million
 * characters.
 */
export class IterationBudget {
  readonly #values: readonly unknown[];
  readonly #work: ReturnType<typeof decisionWork>;
  #weight: Weight | null = null;

  /** `values`: the variables of any size, which the caller provides. */
  constructor(values: readonly unknown[], work = decisionWork()) {
    this.#values = values;
    this.#work = work;
  }

  /**
   * Consumes the work that the expression may take. Returns `false` when too little work is left. The values are
   * measured only for expressions that loop, search, compare or build.
   */
  spend(expression: Expression): boolean {
    const { literals, bodyCosts, splitsText, searchCosts, readingCost, valueCost, growth } = expression;
    const { concatenations, enumerations } = expression;
    // Stryker disable next-line ConditionalExpression,ArithmeticOperator: Speed alone: the result is the same.
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

  /** The shared work, for costs that are counted during the evaluation. */
  get work(): Work {
    return this.#work;
  }
}

function sumOfPowers(costs: readonly number[], base: number): number {
  return costs.reduce((sum, cost, power) => sum + cost * base ** power, 0);
}

/** `names`: the number of names in objects. */
type Weight = { values: number; characters: number; names: number };

function weightOf(values: readonly unknown[]): Weight {
  const weight = { values: 0, characters: 0, names: 0 };
  const waiting: unknown[] = [values];
  // Stryker disable next-line EqualityOperator: A call at the limit is rejected in any case.
  // Stryker disable next-line ConditionalExpression: A call over the limit is rejected in any case.
  while (waiting.length > 0 && weight.values <= decisionWorkMax) {
    const value = waiting.pop();
    if (typeof value === 'string') weight.characters += value.length;
    if (typeof value !== 'object' || value === null) continue;
    const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
    // A loop over an object runs over its names.
    if (!Array.isArray(value)) {
      weight.names += children.length;
      for (const name of Object.keys(value)) weight.characters += name.length;
    }
    weight.values += children.length;
    for (const child of children) waiting.push(child);
  }
  return weight;
}
