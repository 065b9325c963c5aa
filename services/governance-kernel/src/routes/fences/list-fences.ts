import { listFences } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { fenceView } from '../../controls/fences/fence-view.ts';
import { handleSystem } from '../../handle.ts';
import * as store from '../../store/fence-store.ts';

export const listFencesRoute = ({ reader, clock }: Context) =>
  handleSystem(listFences)(async ({ query }) => {
    const nowMs = clock().getTime();
    return await store.listFences(reader, { page: query, item: (fence) => fenceView(fence, nowMs) });
  });
