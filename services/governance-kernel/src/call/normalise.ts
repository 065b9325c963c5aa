import type { CryptoProvider } from '@countersign/crypto';
import type { Digest } from '@countersign/contracts';
import type { Intent } from '@countersign/policy';
import { argsHash, intentHash } from '@countersign/receipts';
import type { GovernedCall } from './governed-call.ts';
import { assertNoAuthority } from './reserved-context.ts';

export type Hasher = { provider: CryptoProvider; saltOf(tenant: string): Uint8Array };
export type SealedIntent = Intent & { args_hash: Digest; intent_hash: Digest };

/** Step 2 of the cycle: one frozen intent with its hashes. Throws RESERVED_CONTEXT_KEY. */
export function normalise({ provider, saltOf }: Hasher, call: GovernedCall): SealedIntent {
  assertNoAuthority(call.context);
  const { tenant, principal } = call.caller;
  const { session, action, tool, resource, args } = call;
  const args_hash = argsHash(provider, saltOf(tenant), args);
  return Object.freeze({
    tenant,
    principal,
    session,
    action,
    tool,
    resource,
    effect_level: call.effectLevel,
    args,
    context: call.context,
    args_hash,
    intent_hash: intentHash(provider, { tenant, principal, session, action, tool, resource, args_hash }),
  });
}
