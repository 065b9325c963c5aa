import type { Digest, PrincipalId } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import { parsePolicyBundle } from '@countersign/policy';
import { activationBytes } from '@countersign/receipts';
import type { StartedKernel } from '../src/index.ts';
import { instantOf, nextConfirmation } from '../src/policy/activation.ts';

type Asked = { tenant: string; bundle: string; epoch: number; signer?: Signer; confirmedAtMs?: number };

/** A bundle as its source hands it over: signed by the kernel's policy key, for the next moment, unless the test says otherwise. */
export async function signedActivation({ context }: StartedKernel, asked: Asked) {
  const { policies, signers, clock } = context;
  const { tenant, epoch, signer = signers.policies, confirmedAtMs } = asked;
  const bundle: PolicyBundle = parsePolicyBundle(asked.bundle);
  const policyHash = policies.compile(bundle).hash as Digest; // compilePolicy hashes with digestOf
  await policies.reload(tenant);
  const nowMs = clock().getTime();
  const confirmedAt =
    confirmedAtMs === undefined ? nextConfirmation(policies.standing(tenant).active, nowMs) : instantOf(confirmedAtMs);
  const value = encodeBase64Url(signer.sign(activationBytes({ tenant, epoch, policyHash, confirmedAt })));
  const signature = { alg: 'Ed25519' as const, key_id: signer.keyId, value };
  return { tenant, bundle, epoch, confirmedAt, signature, by: 'test' as PrincipalId }; // within its schema
}

/** The same as the body of its route. */
export async function signedBody(kernel: StartedKernel, asked: Asked) {
  const { bundle, epoch, confirmedAt, signature } = await signedActivation(kernel, asked);
  return { bundle, epoch, confirmed_at: confirmedAt, signature };
}
