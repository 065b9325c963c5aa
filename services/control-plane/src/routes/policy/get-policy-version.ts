import { AppError } from '@countersign/contracts';
import { getPolicyVersion } from '@countersign/contracts/control-plane';
import { answer } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { changeOf } from '../../policy/difference.ts';
import { findRecordedPolicy } from '../../policy/recorded-policy.ts';
import { textOf } from '../../policy/templates.ts';
import { findVersion } from '../../store/policy-activations.ts';

export const getPolicyVersionRoute = (context: Context) =>
  handleWorkspace(getPolicyVersion)(async ({ caller: { workspaceId }, params }) => {
    const version = await findVersion(context.database.reader, workspaceId, Number(params.epoch));
    if (version === null)
      throw new AppError('NOT_FOUND', `No policy of this workspace has version ${params.epoch}. List the versions`);
    const policy = await findRecordedPolicy(context, workspaceId, version.policy_hash);
    const base = await findRecordedPolicy(context, workspaceId, version.base_hash);
    const text = policy === null ? null : textOf(policy.bundle);
    const change = policy === null || base === null ? null : changeOf(base.bundle, policy.bundle);
    return answer(200, { ...version, text, change });
  });
