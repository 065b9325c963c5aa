import type { IdentityDemand } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from './compile-policy.ts';
import { meaningOf } from './declared-tools.ts';
import type { Intent } from './intent.ts';
import { toolsNamed } from './tools-named.ts';

const nothing: ReadonlySet<IdentityDemand> = new Set();

/**
 * The policy's demands on the caller of this call: for every call, and for each tool that it would run, in any
 * spelling.
 */
export function identityDemanded(
  policy: Pick<CompiledPolicy, 'bundle' | 'tools'> | null,
  intent: Pick<Intent, 'action' | 'tool' | 'args'>,
): ReadonlySet<IdentityDemand> {
  if (policy === null) return nothing;
  const ofAll = policy.bundle.identity ?? [];
  const { identities } = policy.tools;
  // Stryker disable next-line ConditionalExpression: A set of nothing is as empty as the one that is shared.
  if (identities.size === 0) return ofAll.length === 0 ? nothing : new Set(ofAll);
  return new Set([...ofAll, ...toolsNamed(intent).flatMap((tool) => identities.get(meaningOf(tool)) ?? [])]);
}
