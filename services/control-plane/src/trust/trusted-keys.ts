import { AppError } from '@countersign/contracts';
import { listTrustKeys, type TrustKey } from '@countersign/contracts/governance-kernel';
import { isSameKey, parseKeySet, trustOf, VerificationError, type TrustedKeys } from '@countersign/verifier';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';

type Parts = Pick<Context, 'kernel' | 'keyRing'>;
type Told = { keys: z.infer<typeof TrustKey>[]; parsed: TrustedKeys };

/** The keys that evidence is held against: see {@link trustOf}. Throws GOVERNANCE_UNAVAILABLE. */
export async function trustedKeys(parts: Parts): Promise<TrustedKeys> {
  const pinned = await pinnedKeys(parts);
  return trustOf(pinned, (await tellKeys(parts)).parsed);
}

/** Those of them that verify receipts and the log, as the kernel describes them to the public. Throws GOVERNANCE_UNAVAILABLE. */
export async function getPublishedKeys(parts: Parts): Promise<Told['keys']> {
  const pinned = await pinnedKeys(parts);
  const { keys, parsed } = await tellKeys(parts);
  const counted = trustOf(pinned, parsed).filter(({ purpose }) => purpose === 'receipts' || purpose === 'log');
  const isCounted = parsed.map((told) => counted.some((key) => isSameKey(key, told)));
  return keys.filter((_, nth) => isCounted[nth]);
}

async function tellKeys({ kernel }: Pick<Parts, 'kernel'>): Promise<Told> {
  const asked = kernel.own({ listTrustKeys });
  const { keys } = await answerOf('kernel', () => asked.listTrustKeys());
  try {
    return { keys, parsed: parseKeySet({ keys }) };
  } catch (cause) {
    if (!(cause instanceof VerificationError)) throw cause;
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel tells keys that are none', { cause });
  }
}

function pinnedKeys({ keyRing }: Pick<Parts, 'keyRing'>): Promise<TrustedKeys> {
  return keyRing.keys().catch((cause: unknown) => {
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The keys of the kernel are not known', { cause });
  });
}
