import { AppError } from '@countersign/contracts';
import { getLatestCheckpoint } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { findLatestCheckpoint } from '../store/checkpoint-store.ts';

export const getLatestCheckpointRoute = ({ reader }: Context) =>
  handleTenant(getLatestCheckpoint)(async () => {
    const checkpoint = await findLatestCheckpoint(reader);
    if (checkpoint === null) throw new AppError('NOT_FOUND', 'There is no checkpoint yet');
    return checkpoint;
  });
