import { resyncTarget } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { resync } from '../../resync/resync.ts';

export const resyncTargetRoute = (context: Context) =>
  handleWorkspace(resyncTarget)(({ body, caller, requestId }) => resync(context, body, { caller, requestId }));
