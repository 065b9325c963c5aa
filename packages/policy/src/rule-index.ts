import type { PolicyRule } from '@countersign/contracts/governance-kernel';
import type { Expression } from './expression.ts';
import { CallGlobs, MatchedCall, type CallMatch } from './call-globs.ts';
import { isLiteralGlob } from './glob.ts';
import type { Intent } from './intent.ts';
import type { Work } from './work.ts';

export type CompiledRule = {
  /** The position in the bundle. */
  position: number;
  rule: PolicyRule;
  when: Expression | null;
};

/** Rules by the literal tools or actions that they name. `rest` contains the rules that need pattern matching. */
export type RuleIndex = {
  byTool: ReadonlyMap<string, readonly CompiledRule[]>;
  byAction: ReadonlyMap<string, readonly CompiledRule[]>;
  rest: readonly CompiledRule[];
  globs: CallGlobs;
};

/** `others`: what else in the bundle is matched with calls, such as the requirements of relations. */
export function* indexInSteps(
  rules: readonly CompiledRule[],
  others: readonly CallMatch[],
): Generator<void, RuleIndex> {
  const byTool = new Map<string, CompiledRule[]>();
  const byAction = new Map<string, CompiledRule[]>();
  const rest: CompiledRule[] = [];
  for (const compiled of rules) {
    const { tool, action } = compiled.rule.match;
    if (tool?.every(isLiteralGlob)) file(byTool, tool, compiled);
    else if (action?.every(isLiteralGlob)) file(byAction, action, compiled);
    else rest.push(compiled);
    yield;
  }
  const globs = yield* CallGlobs.inSteps([...rules.map(({ rule }) => rule.match), ...others]);
  return { byTool, byAction, rest, globs };
}

/**
 * Every rule whose `match` covers the call, in the order of the bundle. Some may be missing when the work is used up,
 * so the caller must check `work.isSpent`.
 */
export function matchingRules(index: RuleIndex, intent: Intent, work: Work): CompiledRule[] {
  const call = new MatchedCall(index.globs, intent, work);
  const matching: CompiledRule[] = [];
  for (const candidate of candidateRules(index, intent)) {
    if (!work.take(1)) break;
    if (call.isCoveredBy(candidate.rule.match)) matching.push(candidate);
  }
  return inOrder(matching);
}

/** Every rule whose `match` must be compared with the call, in no particular order. */
export function* candidateRules(index: RuleIndex, intent: Intent): Generator<CompiledRule> {
  for (const rules of listsOf(index, intent)) yield* rules ?? [];
}

function inOrder(rules: CompiledRule[]): CompiledRule[] {
  return rules.sort((left, right) => left.position - right.position);
}

function listsOf(index: RuleIndex, { tool, action }: Intent): (readonly CompiledRule[] | undefined)[] {
  // Stryker disable next-line ConditionalExpression: No rule names the tool null.
  return [tool === null ? undefined : index.byTool.get(tool), index.byAction.get(action), index.rest];
}

function file(map: Map<string, CompiledRule[]>, names: readonly string[], compiled: CompiledRule): void {
  for (const name of new Set(names)) {
    const filed = map.get(name);
    if (filed === undefined) map.set(name, [compiled]);
    else filed.push(compiled);
  }
}
