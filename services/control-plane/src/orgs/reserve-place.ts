import { createHash, randomUUID } from 'node:crypto';
import { AppError, isAppError } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { IdempotencyClaim } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { lockLimits } from '../store/entitlements.ts';
import { countPlaces, dropPlace, hasPlace, insertPlace, type PlaceKey } from '../store/workspace-places.ts';

type Reserving = Pick<Context, 'transaction' | 'now'>;

/** The place of a request. A repeated request with the same Idempotency-Key has the same place. */
export function placeOf(orgId: OrgId, claim: IdempotencyClaim | null): PlaceKey {
  const request = claim === null ? randomUUID() : createHash('sha256').update(claim.key).digest('hex');
  return { orgId, request };
}

/**
 * Reserves a place of the organisation while `make` creates a workspace elsewhere, so that none is created without a
 * place. A refusal releases the place. After a failure it stays for ten minutes, since the workspace may have been
 * created. Throws LIMIT_REACHED.
 */
export async function inPlace<Made>(context: Reserving, key: PlaceKey, make: () => Promise<Made>): Promise<Made> {
  await reserve(context, key);
  try {
    return await make();
  } catch (error) {
    if (isAppError(error) && error.status < 500) await context.transaction((tx) => dropPlace(tx, key));
    throw error;
  }
}

function reserve({ transaction, now }: Reserving, key: PlaceKey): Promise<void> {
  return transaction(async (tx) => {
    const limit = (await lockLimits(tx, key.orgId))?.workspaces ?? null;
    if (limit === null || (await hasPlace(tx, key))) return;
    const used = await countPlaces(tx, key.orgId, now());
    if (used < limit) return insertPlace(tx, key, now());
    const message =
      `The organisation has ${used} workspaces, and its plan allows ${limit}. ` +
      'Choose a larger plan, or remove a workspace that is not needed';
    throw new AppError('LIMIT_REACHED', message, { details: { name: 'workspaces', limit, used } });
  });
}
