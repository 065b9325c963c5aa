import { putFence } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { fenceView } from '../fences/fence-view.ts';
import { setFence } from '../fences/set-fence.ts';
import { handleSystem } from '../handle.ts';

/** Freezes, quarantines, throttles or opens a scope, under the epoch that its source gives the command. */
export const putFenceRoute = (kernel: Context) =>
  handleSystem(putFence)(async ({ params: { scope }, body }) =>
    fenceView(await setFence(kernel, { ...body, scope }), kernel.clock().getTime()),
  );
