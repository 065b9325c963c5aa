import {
  canonicalBytes,
  canonicalize,
  concatBytes,
  digestOf,
  utf8Bytes,
  type CryptoProvider,
} from '@countersign/crypto';
import type { Digest } from '@countersign/contracts';
import type { Intent } from '@countersign/policy';
import type { GovernedCall } from './governed-call.ts';
import { assertNoAuthority } from './reserved-context.ts';

export type Hasher = { provider: CryptoProvider; saltOf(tenant: string): Uint8Array };
export type SealedIntent = Intent & { args_hash: Digest; intent_hash: Digest };

/** Step 2 of the cycle: one frozen intent with its hashes. Throws RESERVED_CONTEXT_KEY. */
export function normalise(hasher: Hasher, call: GovernedCall): SealedIntent {
  assertNoAuthority(call.context);
  const named = {
    tenant: call.caller.tenant,
    principal: call.caller.principal,
    session: call.session,
    action: call.action,
    tool: call.tool,
    resource: call.resource,
  };
  const args_hash = argsHash(hasher, call.caller.tenant, call.args);
  const intent_hash = digestOf(hasher.provider, canonicalBytes({ ...named, args_hash })) as Digest; // digestOf writes exactly this form
  return Object.freeze({
    ...named,
    effect_level: call.effectLevel,
    args: call.args,
    context: call.context,
    args_hash,
    intent_hash,
  });
}

/** Salted with a secret of the tenant: a receipt is public, and few arguments have so much entropy that they cannot be guessed. */
export function argsHash({ provider, saltOf }: Hasher, tenant: string, args: GovernedCall['args']): Digest {
  return digestOf(provider, concatBytes(saltOf(tenant), utf8Bytes(canonicalize(args)))) as Digest; // as above
}
