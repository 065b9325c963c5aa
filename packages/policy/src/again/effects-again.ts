import { EffectLevel } from '@countersign/contracts';
import { leastEffectOf, type BoundaryRecord } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from '../compile-policy.ts';
import { effectDeclared, graverEffect } from '../declared-tools.ts';
import { originOf, type Origin, type RecordedPolicy } from './recorded-call.ts';

const levels = EffectLevel.options;

/**
 * The effects that the call may have under the draft, from the least. A record says which was the gravest of what the bundle, the registry
 * and the caller declared. Where the bundle's own word was that one, the others are not known, and at most as grave.
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

/** The possible answers to whether the tool is its caller's own; both when it is unknown. */
function mayBeOwn(origin: Origin): boolean[] {
  return origin === 'unknown' ? [true, false] : [origin === 'own'];
}

type Recorded = {
  tool: string;
  sealed: EffectLevel;
  recorded: RecordedPolicy;
  isOwn: boolean;
};

/** The possible effects that registry and caller declared together. */
function othersWords({ tool, sealed, recorded, isOwn }: Recorded): EffectLevel[] {
  const isAbove = recorded !== 'unknown' && unlessDeclared(declaredBy(recorded, { tool, isOwn }), isOwn) < sealed; // E0 to E4 sort by gravity
  return isAbove ? [sealed] : levels.filter((level) => level <= sealed);
}

/** An undeclared tool is E4; where the registry declares it, a silent bundle adds nothing. */
function unlessDeclared(declared: EffectLevel | undefined, isOwn: boolean): EffectLevel {
  // Stryker disable next-line StringLiteral: E0 is the least: whatever the others said, the answer is the same.
  return declared ?? (isOwn ? 'E4' : 'E0');
}

function declaredBy(
  recorded: Exclude<RecordedPolicy, 'unknown'>,
  named: { tool: string; isOwn: boolean },
): EffectLevel | undefined {
  return recorded === 'none' ? undefined : effectDeclared(recorded.tools, named);
}
