import { epochPattern, getPolicyVersion } from '@countersign/contracts/control-plane';
import { answer } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { notFound } from '../../not-found.ts';
import { changeOf } from '../../policy/difference.ts';
import { findRecordedPolicy } from '../../policy/recorded-policy.ts';
import { textOf } from '../../policy/templates.ts';
import { findVersion } from '../../store/policy-activations.ts';

export const getPolicyVersionRoute = (context: Context) =>
  handleWorkspace(getPolicyVersion)(async ({ caller: { workspaceId }, params }) => {
    const epoch = epochPattern.test(params.epoch) ? Number(params.epoch) : 0; // epochs begin at 1
    const version = await findVersion(context.database.reader, workspaceId, epoch);
    if (version === null) throw notFound();
    const policy = await findRecordedPolicy(context, workspaceId, version.policy_hash);
    const base = await findRecordedPolicy(context, workspaceId, version.base_hash);
    const text = policy === null ? null : textOf(policy.bundle);
    const change = policy === null || base === null ? null : changeOf(base.bundle, policy.bundle);
    return answer(200, { ...version, text, change });
  });
