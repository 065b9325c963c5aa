import type { PolicyRule } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from './compile-policy.ts';
import type { CompiledRule } from './rule-index.ts';
import { decisionWork } from './work.ts';

type Listed = {
  principal: string;
  tools: readonly string[];
  /** The resource of the calls. Without it, a tool is denied only if it is denied for every resource. */
  resource?: string;
};

const action = 'tool.call';

/**
 * The tools that the rules deny to the principal in every call, whatever the arguments, effect level and context. Either a rule without conditions denies the tool, or no rule could allow or escalate it. All tools share the
 * work of one decision. Tools that remain when the work is used up are omitted.
 */
export function deniedTools(
  { index }: CompiledPolicy,
  { principal, tools, resource }: Listed,
  work = decisionWork(),
): ReadonlySet<string> {
  const { sets } = index.globs;
  const ofCall = { action: sets.action.matching(action, work), principal: sets.principal.matching(principal, work) };
  const ofResource = resource === undefined ? null : sets.resource.matching(resource, work);
  const covers = (globs: readonly string[] | undefined, matching: ReadonlySet<string>) =>
    globs === undefined || globs.some((glob) => work.takeSteps(1) && matching.has(glob));
  const isOfCall = ({ rule: { match } }: CompiledRule) =>
    work.take(1) &&
    covers(match.action, ofCall.action) &&
    covers(match.principal, ofCall.principal) &&
    (ofResource === null || covers(match.resource, ofResource));
  const ofEachTool = [...(index.byAction.get(action) ?? []), ...index.rest].filter(isOfCall);
  const denied = new Set<string>();
  for (const tool of tools) {
    const matching = sets.tool.matching(tool, work);
    const candidates = [...ofEachTool, ...(index.byTool.get(tool) ?? []).filter(isOfCall)];
    const covering = candidates.filter(({ rule }) => work.take(1) && covers(rule.match.tool, matching));
    // Rules may be missing when the work is used up, and a missing rule could allow the tool.
    if (work.isSpent) break;
    if (
      covering.some(({ rule }) => deniesEachCall(rule, ofResource !== null)) ||
      covering.every(({ rule }) => rule.effect === 'deny')
    )
      denied.add(tool);
  }
  return denied;
}

/** Whether the rule denies every call that matches its action, tool and principal, and its resource if that is known. */
function deniesEachCall({ effect, when, match }: PolicyRule, isResourceKnown: boolean): boolean {
  const { resource, effect_level: level } = match;
  return effect === 'deny' && when === undefined && level === undefined && (isResourceKnown || resource === undefined);
}
