import { listConformanceVectors } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';

export const listConformanceVectorsRoute = ({ vectors }: Context) =>
  handlePublic(listConformanceVectors)(async () => ({ data: [...vectors.all], vectors_hash: vectors.hash }));
