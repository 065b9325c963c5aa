import type { PlainJson } from '@countersign/contracts';
import { RelationName } from '@countersign/contracts/governance-kernel';
import { compileExpression } from './expression.ts';
import { ofPermissions } from './expression-syntax.ts';
import { IterationBudget } from './iteration-limit.ts';
import { PolicyError } from './policy-error.ts';

type Members = Readonly<Record<string, PlainJson>>;

/**
 * The variables of a permission. `subject`, `action` and `resource` each have `properties`. A relation that could not
 * be queried is absent.
 */
export type PermissionVariables = {
  readonly subject: Members;
  readonly action: Members;
  readonly resource: Members;
  readonly context: Members;
  readonly relations: Readonly<Record<string, boolean>>;
};

export type Permission = {
  /** The relations of the subject with the resource that the expression reads. */
  readonly relations: readonly string[];
  /** Returns `false` when the expression cannot be evaluated, so an absent property grants nothing. */
  holds(variables: PermissionVariables): boolean;
};

/** Compiles a permission within the limits of rules. Throws {@link PolicyError}. */
export function compilePermission(text: string, path: string): Permission {
  const expression = compileExpression(text, path, ofPermissions);
  const read = expression.reads.filter((name) => /^relations\b/.test(name));
  const relations = read.map((name) => name.replace(/^relations\.?/, ''));
  if (!relations.every((name) => RelationName.safeParse(name).success))
    throw new PolicyError('EXPRESSION_INVALID', path, 'relations must be read by name, such as relations.viewer');
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
