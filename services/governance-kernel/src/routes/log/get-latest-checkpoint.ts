import { AppError } from '@countersign/contracts';
import { getLatestCheckpoint } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { withCosignatures } from '../../store/with-cosignatures.ts';

export const getLatestCheckpointRoute = ({ reader, provider, headsBy, publishedKeys }: Context) =>
  handleTenant(getLatestCheckpoint)(async () => {
    const checkpoint = await headsBy(await publishedKeys.list()).findNewest();
    if (checkpoint === null) throw new AppError('NOT_FOUND', 'The log has no checkpoint yet. Try again in a minute');
    return await withCosignatures({ reader, provider }, checkpoint);
  });
