import { AppError } from '@countersign/contracts';
import { listTrustKeys, type TrustKey } from '@countersign/contracts/governance-kernel';
import { isSameKey, parseKeySet, trustOf, VerificationError, type TrustedKeys } from '@countersign/verifier';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';

type Deps = Pick<Context, 'kernel' | 'keyRing'>;
type Report = { keys: z.infer<typeof TrustKey>[]; parsed: TrustedKeys };

/**
 * The keys that evidence is verified with: the keys of the trust list, or see {@link trustOf}. Throws
 * GOVERNANCE_UNAVAILABLE.
 */
export async function trustedKeys(deps: Deps): Promise<TrustedKeys> {
  const pinned = await pinnedKeys(deps);
  return deps.keyRing.isRooted ? pinned : trustOf(pinned, (await tellKeys(deps)).parsed);
}

/** The trusted keys that verify receipts and the log, as the kernel publishes them. Throws GOVERNANCE_UNAVAILABLE. */
export async function getPublishedKeys(deps: Deps): Promise<Report['keys']> {
  const pinned = await pinnedKeys(deps);
  const { keys, parsed } = await tellKeys(deps);
  const counted = (deps.keyRing.isRooted ? pinned : trustOf(pinned, parsed)).filter(
    ({ purpose }) => purpose === 'receipts' || purpose === 'log',
  );
  const isCounted = parsed.map((report) => counted.some((key) => isSameKey(key, report)));
  return keys.filter((_, nth) => isCounted[nth]);
}

async function tellKeys({ kernel }: Pick<Deps, 'kernel'>): Promise<Report> {
  const client = kernel.own({ listTrustKeys });
  const { keys } = await answerOf('kernel', () => client.listTrustKeys());
  try {
    return { keys, parsed: parseKeySet({ keys }) };
  } catch (cause) {
    if (!(cause instanceof VerificationError)) throw cause;
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel published malformed keys', { cause });
  }
}

function pinnedKeys({ keyRing }: Pick<Deps, 'keyRing'>): Promise<TrustedKeys> {
  return keyRing.keys().catch((cause: unknown) => {
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The keys of the kernel could not be loaded', { cause });
  });
}
