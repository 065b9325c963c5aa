import { instantOf, type PrincipalId } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { activationBytes } from '@countersign/receipts';
import type { StartedKernel } from '../src/index.ts';
import { nextConfirmation } from '../src/controls/policy/activation.ts';

type Input = { tenant: string; bundle: string; epoch: number; signer?: Signer; confirmedAtMs?: number };

/** The last confirmation time per database and tenant. Each confirmation must be later than the one before. */
const statedMs = new Map<string, number>();

/**
 * An activation as a policy source sends it. The default signer is the kernel's policy key, and the default time is
 * the next allowed one.
 */
export function signedActivation({ context }: StartedKernel, input: Input) {
  const { confirmations, provider, signers, clock, config } = context;
  const { tenant, epoch, signer = signers.policies } = input;
  const bundle: PolicyBundle = parsePolicyBundle(input.bundle);
  const policyHash = compilePolicy(bundle, provider).hash;
  const source = `${config.databaseUrl}\n${tenant}`;
  // The kernel itself confirms the demo policy, so its newest confirmation may be later than that of this test.
  const last = Math.max(statedMs.get(source) ?? 0, confirmations.newest(tenant)?.confirmedAtMs ?? 0);
  const next = nextConfirmation({ confirmedAtMs: last }, clock().getTime());
  const confirmedAt = input.confirmedAtMs === undefined ? next : instantOf(input.confirmedAtMs);
  statedMs.set(source, Date.parse(confirmedAt));
  const value = encodeBase64Url(signer.sign(activationBytes({ tenant, epoch, policyHash, confirmedAt })));
  const signature = { alg: 'Ed25519' as const, key_id: signer.keyId, value };
  return { tenant, bundle, epoch, confirmedAt, signature, by: 'test' as PrincipalId }; // matches the schema
}

/** The same activation as the body of a request. */
export function signedBody(kernel: StartedKernel, input: Input) {
  const { bundle, epoch, confirmedAt, signature } = signedActivation(kernel, input);
  return { bundle, epoch, confirmed_at: confirmedAt, signature };
}
