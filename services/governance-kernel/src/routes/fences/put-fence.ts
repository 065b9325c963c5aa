import { putFence } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { fenceView } from '../../controls/fences/fence-view.ts';
import { setFence } from '../../controls/fences/set-fence.ts';
import { handleSystem } from '../../handle.ts';

/** Freezes, quarantines, throttles or opens a scope, with the epoch that the caller assigned. */
export const putFenceRoute = (kernel: Context) =>
  handleSystem(putFence)(async ({ params: { scope }, body }) =>
    fenceView(await setFence(kernel, { ...body, scope }), kernel.clock().getTime()),
  );
