import { AppError } from '@countersign/contracts';
import { getLatestCheckpoint } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { listTrustKeys } from '../store/trust-key-store.ts';

export const getLatestCheckpointRoute = ({ reader, headsBy }: Context) =>
  handleTenant(getLatestCheckpoint)(async () => {
    const checkpoint = await headsBy(await listTrustKeys(reader)).findNewest();
    if (checkpoint === null) throw new AppError('NOT_FOUND', 'There is no checkpoint yet');
    return checkpoint;
  });
