import type { Digest, PrincipalId } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { activationBytes } from '@countersign/receipts';
import type { StartedKernel } from '../src/index.ts';
import { instantOf, nextConfirmation } from '../src/policy/activation.ts';

type Asked = { tenant: string; bundle: string; epoch: number; signer?: Signer; confirmedAtMs?: number };

/** The last time that each source stated, by database and tenant: a statement is later than the one before it. */
const statedMs = new Map<string, number>();

/** A bundle as its source hands it over: signed by the kernel's policy key, for the next moment, unless the test says otherwise. */
export function signedActivation({ context }: StartedKernel, asked: Asked) {
  const { confirmations, provider, signers, clock, config } = context;
  const { tenant, epoch, signer = signers.policies } = asked;
  const bundle: PolicyBundle = parsePolicyBundle(asked.bundle);
  const policyHash = compilePolicy(bundle, provider).hash as Digest; // it hashes with digestOf
  const source = `${config.databaseUrl}\n${tenant}`;
  // The kernel itself states the policy of the demo.
  const last = Math.max(statedMs.get(source) ?? 0, confirmations.newest(tenant)?.confirmedAtMs ?? 0);
  const next = nextConfirmation({ confirmedAtMs: last }, clock().getTime());
  const confirmedAt = asked.confirmedAtMs === undefined ? next : instantOf(asked.confirmedAtMs);
  statedMs.set(source, Date.parse(confirmedAt));
  const value = encodeBase64Url(signer.sign(activationBytes({ tenant, epoch, policyHash, confirmedAt })));
  const signature = { alg: 'Ed25519' as const, key_id: signer.keyId, value };
  return { tenant, bundle, epoch, confirmedAt, signature, by: 'test' as PrincipalId }; // within its schema
}

/** The same as the body of its route. */
export function signedBody(kernel: StartedKernel, asked: Asked) {
  const { bundle, epoch, confirmedAt, signature } = signedActivation(kernel, asked);
  return { bundle, epoch, confirmed_at: confirmedAt, signature };
}
