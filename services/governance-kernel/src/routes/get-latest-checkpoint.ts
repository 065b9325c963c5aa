import { AppError } from '@countersign/contracts';
import { getLatestCheckpoint } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';

export const getLatestCheckpointRoute = ({ headsBy, publishedKeys }: Context) =>
  handleTenant(getLatestCheckpoint)(async () => {
    const checkpoint = await headsBy(await publishedKeys.list()).findNewest();
    if (checkpoint === null) throw new AppError('NOT_FOUND', 'There is no checkpoint yet');
    return checkpoint;
  });
