import { listNegativeVectors } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';

export const listNegativeVectorsRoute = ({ vectors }: Context) =>
  handlePublic(listNegativeVectors)(async () => ({
    data: vectors.all.filter(({ set }) => set === 'negative'),
    vectors_hash: vectors.hash,
  }));
