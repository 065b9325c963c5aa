import type { IdentityDemand } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from './compile-policy.ts';
import { meaningOf } from './declared-tools.ts';
import type { Intent } from './intent.ts';
import { toolsNamed } from './tools-named.ts';

const nothing: ReadonlySet<IdentityDemand> = new Set();

/**
 * The demands of the policy on the caller: those for every call, and those of each tool that the call would run. A tool
 * may be spelled in any way.
 */
export function identityDemanded(
  policy: Pick<CompiledPolicy, 'bundle' | 'tools'> | null,
  intent: Pick<Intent, 'action' | 'tool' | 'args'>,
): ReadonlySet<IdentityDemand> {
  if (policy === null) return nothing;
  const ofAll = policy.bundle.identity ?? [];
  const { identities } = policy.tools;
  // Stryker disable next-line ConditionalExpression: A new empty set equals the shared empty set.
  if (identities.size === 0) return ofAll.length === 0 ? nothing : new Set(ofAll);
  return new Set([...ofAll, ...toolsNamed(intent).flatMap((tool) => identities.get(meaningOf(tool)) ?? [])]);
}
