import { InstallId } from '@countersign/contracts';
import { approveInstall } from '@countersign/contracts/control-plane';
import { approveInstall as approve } from '../../connectors/approve.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { knownId } from '../../siblings/known-id.ts';

export const approveInstallRoute = (context: Context) =>
  handleWorkspace(approveInstall)(({ caller, params, body, requestId }) => {
    const { definitions_hash: definitionsHash, reason } = body;
    const input = { id: knownId(InstallId, params.install_id), definitionsHash, reason, requestId };
    return approve(context, input, caller);
  });
