import { AppError } from '@countersign/contracts';
import { compilePolicyDraft } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { compileDraft } from '../../policy/compile-draft.ts';
import { differenceOf, summaryOf } from '../../policy/difference.ts';
import { ownersOf } from '../../policy/owners.ts';
import { getInForce } from '../../policy/in-force.ts';
import { findDraft, noteCompiled } from '../../store/policy-drafts.ts';

export const compilePolicyDraftRoute = (context: Context) =>
  handleWorkspace(compilePolicyDraft)(async ({ caller, signal }) => {
    const { workspaceId } = caller;
    const draft = await findDraft(context.database.reader, workspaceId);
    if (draft === null) throw new AppError('NOT_FOUND', 'The workspace has no policy draft. Save one first');
    const { version } = draft;
    const inForce = await getInForce(context, workspaceId);
    const owners = await ownersOf(context, caller);
    const input = { workspaceId, owners, now: context.now(), inForce, signal };
    const { policy, diagnostics, tests } = await compileDraft(draft.text, input);
    const policyHash = policy?.hash ?? null;
    await context.transaction((tx) => noteCompiled(tx, { workspaceId, version, policyHash }));
    const unchanged = { base_hash: inForce.policy_hash, added: [], removed: [], changed: [] };
    return {
      ...{ version, diagnostics, tests, policy_hash: policyHash },
      read_set: [...(policy?.readSet ?? [])],
      diff: policy === null ? unchanged : differenceOf(policy.bundle.rules, inForce),
      summary: policy === null ? [] : summaryOf(policy),
    };
  });
