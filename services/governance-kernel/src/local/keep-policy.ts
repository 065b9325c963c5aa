import { PrincipalId } from '@countersign/contracts';
import { parsePolicyBundle } from '@countersign/policy';
import { keepActive, type KeepDeps } from '../controls/policy/keep-active.ts';
import type { Activated } from '../controls/policy/policies.ts';
import type { Core } from './open-core.ts';

/** A quarter of the time in which a policy is fresh, so three confirmations in a row may fail. */
const confirmEveryMs = 21_600_000;

/** The collaborators that sign statements with the policy key of the file. */
export function keepPartsOf({ policies, clock, signers }: Core): KeepDeps {
  const { keyId, sign } = signers.policies;
  return {
    ...{ policies, clock, confirmEveryMs },
    sign: (bytes) => ({ alg: 'Ed25519', key_id: keyId, value: Buffer.from(sign(bytes)).toString('base64url') }),
  };
}

/** Activates a bundle for all tenants, or confirms it. `null` when it is active and was confirmed recently. */
export async function activatePolicy(core: Core, text: string): Promise<Activated | null> {
  const bundle = parsePolicyBundle(text);
  const policyHash = (await core.policies.compile(bundle)).hash;
  const by = PrincipalId.parse('policy-file');
  return await keepActive(keepPartsOf(core), { tenant: '*', bundle, policyHash, by, replaces: true });
}
