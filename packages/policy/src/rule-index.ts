import type { PolicyRule } from '@countersign/contracts/governance-kernel';
import type { Expression } from './expression.ts';
import { isLiteralGlob, matchesGlob } from './glob.ts';
import type { Intent } from './intent.ts';

export type CompiledRule = {
  /** Place in the bundle. */
  position: number;
  rule: PolicyRule;
  when: Expression | null;
};

/** Rules by the literal tools or actions they name; `rest` holds those that only a glob can tell. */
export type RuleIndex = {
  byTool: ReadonlyMap<string, readonly CompiledRule[]>;
  byAction: ReadonlyMap<string, readonly CompiledRule[]>;
  rest: readonly CompiledRule[];
};

export function* indexInSteps(rules: readonly CompiledRule[]): Generator<void, RuleIndex> {
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
  return { byTool, byAction, rest };
}

/** Every rule whose `match` covers the call, in the order of the bundle. */
export function matchingRules(index: RuleIndex, intent: Intent): CompiledRule[] {
  const matching: CompiledRule[] = [];
  for (const rules of listsOf(index, intent)) {
    for (const compiled of rules ?? []) if (matchesCall(compiled.rule.match, intent)) matching.push(compiled);
  }
  return inOrder(matching);
}

/** Every rule whose `match` has to be looked at, in no order. */
export function* candidateRules(index: RuleIndex, intent: Intent): Generator<CompiledRule> {
  for (const rules of listsOf(index, intent)) yield* rules ?? [];
}

export function inOrder(rules: CompiledRule[]): CompiledRule[] {
  return rules.sort((left, right) => left.position - right.position);
}

function listsOf(index: RuleIndex, { tool, action }: Intent): (readonly CompiledRule[] | undefined)[] {
  // Stryker disable next-line ConditionalExpression: No rule names the tool null.
  return [tool === null ? undefined : index.byTool.get(tool), index.byAction.get(action), index.rest];
}

/** What `matchesCall` takes at most, in units of {@link Work}. */
export function matchingCost(match: PolicyRule['match'], { action, tool, resource, principal }: Intent): number {
  return (
    1 +
    globsCost(match.action, action) +
    globsCost(match.tool, tool) +
    globsCost(match.resource, resource) +
    globsCost(match.principal, principal)
  );
}

/** A pattern may be held against a text once for each of its characters, eight of which are a unit. */
export function globsCost(globs: readonly string[] = [], text: string | null): number {
  let cost = 0;
  for (const glob of globs) cost += 0.2 + (isLiteralGlob(glob) ? 0 : (glob.length * (text?.length ?? 0)) / 8);
  return cost;
}

/** A call without a tool or resource is covered only by rules that do not name one: `tool: ['*']` means "any tool". */
export function matchesCall(match: PolicyRule['match'], intent: Intent): boolean {
  return (
    covers(match.action, intent.action) &&
    covers(match.tool, intent.tool) &&
    covers(match.resource, intent.resource) &&
    covers(match.principal, intent.principal) &&
    (match.effect_level === undefined || match.effect_level.includes(intent.effect_level))
  );
}

function covers(globs: readonly string[] | undefined, value: string | null): boolean {
  if (globs === undefined) return true;
  return value !== null && globs.some((glob) => glob === value || matchesGlob(glob, value));
}

function file(map: Map<string, CompiledRule[]>, names: readonly string[], compiled: CompiledRule): void {
  for (const name of new Set(names)) {
    const filed = map.get(name);
    if (filed === undefined) map.set(name, [compiled]);
    else filed.push(compiled);
  }
}
