import { InstallId } from '@countersign/contracts';
import { createShim } from '@countersign/contracts/control-plane';
import { createShim as create } from '../../connectors/create-shim.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { knownId } from '../../siblings/known-id.ts';

export const createShimRoute = (context: Context) =>
  handleWorkspace(createShim)(({ caller, params, body, requestId }) => {
    const { client, expires_in_days: expiresInDays } = body;
    const terms = { installId: knownId(InstallId, params.install_id), client, expiresInDays, requestId };
    return create(context, terms, caller);
  });
