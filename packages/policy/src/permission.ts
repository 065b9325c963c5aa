import type { PlainJson } from '@countersign/contracts';
import { RelationName } from '@countersign/contracts/governance-kernel';
import { compileExpression } from './expression.ts';
import { ofPermissions } from './expression-syntax.ts';
import { IterationBudget } from './iteration-limit.ts';
import { PolicyError } from './policy-error.ts';

type Members = Readonly<Record<string, PlainJson>>;

/**
 * Who asks to do what with what. Each of the first three has `properties`; answers that `relations` lacks were
 * unavailable.
 */
export type PermissionVariables = {
  readonly subject: Members;
  readonly action: Members;
  readonly resource: Members;
  readonly context: Members;
  readonly relations: Readonly<Record<string, boolean>>;
};

export type Permission = {
  /** The relations of the subject with the resource that it reads. */
  readonly relations: readonly string[];
  /** False where it cannot be evaluated, as well: an absent property opens nothing. */
  holds(variables: PermissionVariables): boolean;
};

/** Compiles what may be done to an entity, by the limits of rules. Throws {@link PolicyError}. */
export function compilePermission(text: string, path: string): Permission {
  const expression = compileExpression(text, path, ofPermissions);
  const read = expression.reads.filter((name) => /^relations\b/.test(name));
  const relations = read.map((name) => name.replace(/^relations\.?/, ''));
  if (!relations.every((name) => RelationName.safeParse(name).success))
    throw new PolicyError('EXPRESSION_INVALID', path, 'relations are read by name, as in relations.viewer');
  return {
    relations: [...new Set(relations)],
    holds: (variables) => {
      const budget = new IterationBudget(Object.values(variables));
      if (!budget.spend(expression)) return false;
      try {
        return expression.evaluate(variables, budget.work) === true;
      } catch {
        return false;
      }
    },
  };
}
