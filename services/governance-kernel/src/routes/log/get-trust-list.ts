import { AppError } from '@countersign/contracts';
import { getTrustList } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';

export const getTrustListRoute = ({ publishedKeys }: Context) =>
  handlePublic(getTrustList)(async () => {
    const newest = await publishedKeys.newest();
    if (newest === null)
      throw new AppError('NOT_FOUND', 'This kernel has no trust list. Its keys are at /api/v1/trust/keys.');
    return newest.signed;
  });
