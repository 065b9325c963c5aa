import { EffectLevel } from '@countersign/contracts';
import { leastEffectOf, type BoundaryRecord } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from '../compile-policy.ts';
import { effectDeclared, graverEffect } from '../declared-tools.ts';
import { originOf, type Origin, type RecordedPolicy } from './recorded-call.ts';

const levels = EffectLevel.options;

/**
 * The possible effects of the call under the draft, lowest first. A record contains only the highest effect that the
 * bundle, the registry and the caller declared. If the bundle declared it, the other declarations are unknown, and at
 * most as high.
 */
export function effectsAgain(
  record: BoundaryRecord,
  { draft, recorded }: { draft: CompiledPolicy; recorded: RecordedPolicy },
): EffectLevel[] {
  const { action, tool, effect_level: sealed } = record.intent;
  if (tool === null) return [sealed];
  const declared = (isOwn: boolean) => effectDeclared(draft.tools, { tool, isOwn });
  const origins = mayBeOwn(originOf(record));
  if (recorded !== 'unknown' && origins.every((isOwn) => declaredBy(recorded, { tool, isOwn }) === declared(isOwn)))
    return [sealed];
  const found = origins.flatMap((isOwn) => {
    const word = graverEffect(leastEffectOf(action), unlessDeclared(declared(isOwn), isOwn));
    return othersWords({ tool, sealed, recorded, isOwn }).map((others) => graverEffect(word, others));
  });
  return levels.filter((level) => found.includes(level));
}

/** The possible values of `isOwn`. Both values if the origin is unknown. */
function mayBeOwn(origin: Origin): boolean[] {
  return origin === 'unknown' ? [true, false] : [origin === 'own'];
}

type Recorded = {
  tool: string;
  sealed: EffectLevel;
  recorded: RecordedPolicy;
  isOwn: boolean;
};

/** The possible effects that the registry and the caller declared. */
function othersWords({ tool, sealed, recorded, isOwn }: Recorded): EffectLevel[] {
  // E0 to E4 sort by severity
  const isAbove = recorded !== 'unknown' && unlessDeclared(declaredBy(recorded, { tool, isOwn }), isOwn) < sealed;
  return isAbove ? [sealed] : levels.filter((level) => level <= sealed);
}

/** An undeclared tool of the caller is E4. The registry declares a registered tool, so the bundle then adds nothing. */
function unlessDeclared(declared: EffectLevel | undefined, isOwn: boolean): EffectLevel {
  // Stryker disable next-line StringLiteral: E0 is the lowest effect, so the result is the same.
  return declared ?? (isOwn ? 'E4' : 'E0');
}

function declaredBy(
  recorded: Exclude<RecordedPolicy, 'unknown'>,
  named: { tool: string; isOwn: boolean },
): EffectLevel | undefined {
  return recorded === 'none' ? undefined : effectDeclared(recorded.tools, named);
}
