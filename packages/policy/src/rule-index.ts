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

export function indexRules(rules: readonly CompiledRule[]): RuleIndex {
  const byTool = new Map<string, CompiledRule[]>();
  const byAction = new Map<string, CompiledRule[]>();
  const rest: CompiledRule[] = [];
  for (const compiled of rules) {
    const { tool, action } = compiled.rule.match;
    if (tool?.every(isLiteralGlob)) file(byTool, tool, compiled);
    else if (action?.every(isLiteralGlob)) file(byAction, action, compiled);
    else rest.push(compiled);
  }
  return { byTool, byAction, rest };
}

/** Every rule whose `match` covers the call, in the order of the bundle. */
export function matchingRules(index: RuleIndex, intent: Intent): CompiledRule[] {
  const ofTool = intent.tool === null ? undefined : index.byTool.get(intent.tool);
  const matching: CompiledRule[] = [];
  for (const rules of [ofTool, index.byAction.get(intent.action), index.rest]) {
    for (const compiled of rules ?? []) if (matchesCall(compiled.rule.match, intent)) matching.push(compiled);
  }
  return matching.sort((left, right) => left.position - right.position);
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
  for (const name of new Set(names)) map.set(name, [...(map.get(name) ?? []), compiled]);
}
