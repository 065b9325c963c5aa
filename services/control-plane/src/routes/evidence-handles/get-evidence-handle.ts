import { getEvidenceHandle } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { getHandle } from '../../handles/get-handle.ts';
import { handleView } from '../../handles/handle-view.ts';

export const getEvidenceHandleRoute = (context: Context) =>
  handleWorkspace(getEvidenceHandle)(async ({ params, caller }) =>
    handleView(context, await getHandle(context, params.handle, caller)),
  );
