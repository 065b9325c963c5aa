import { createEvidenceHandle } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleOnce } from '../../handle-once.ts';
import { handleView } from '../../handles/handle-view.ts';
import { makeHandle } from '../../handles/make-handle.ts';
import type { StoredHandle } from '../../store/evidence-handles.ts';

export const createEvidenceHandleRoute = (context: Context) =>
  handleOnce(context)(createEvidenceHandle)(async ({ body, caller, requestId }, once) => {
    const show = (handle: StoredHandle) => ({
      status: createEvidenceHandle.status,
      body: handleView(context, handle),
    });
    return show(await makeHandle(context, body, { caller, requestId, transaction: once(show) }));
  });
