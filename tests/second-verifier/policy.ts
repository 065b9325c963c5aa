import { need } from './fault.ts';
import { isInstant, laterBy, minuteMs } from './forms.ts';
import { assertInWindow, assertSigned, keyFor, type Key } from './keys.ts';
import type { Schemas } from './schema.ts';
import type { Policy, Sealed, Signature } from './statements.ts';
import { canonical } from './strict-json.ts';

type Activation = Omit<Policy, 'bundle'>;

/** Throws unless a key for policies signed the activation (7.1). Returns the key. */
export function assertActivation(activation: Activation, keys: Key[]): Key {
  const { tenant_id, policy_hash, epoch, confirmed_at, signature } = activation;
  const key = keyFor(keys, signature, 'policies');
  assertInWindow(key, confirmed_at);
  const type = 'countersign.policy-activation.v2';
  assertSigned(canonical({ type, tenant_id, policy_hash, epoch, confirmed_at }), signature, key);
  return key;
}

/**
 * Throws unless the signature of a policy record is valid (7.1). Returns its key, or `null` for a record without such a
 * signature.
 */
export function assertPolicyRecord(record: Sealed, keys: Key[], schemas: Schemas): Key | null {
  const { action, facts, resource } = record.intent;
  const isActivation = record.kind === 'policy' && ['policy.change', 'policy.confirm'].includes(action);
  if (!isActivation || Object.keys(facts).length === 0) return null;
  const { confirmed_at, signature } = facts;
  need(isInstant(confirmed_at) && resource?.startsWith('policy:') === true, 'MALFORMED', '7.1');
  need(record.policy_hash !== null, 'MALFORMED', '7.1');
  schemas.assertForm(signature, 'Signature');
  const { policy_hash, policy_epoch: epoch } = record;
  const tenant_id = resource.slice('policy:'.length);
  const activation = { tenant_id, policy_hash, epoch, confirmed_at, signature: signature as Signature }; // checked above
  const key = assertActivation(activation, keys);
  need(confirmed_at <= laterBy(record.created_at, minuteMs), 'TIME_MISMATCH', '7.1');
  return key;
}
