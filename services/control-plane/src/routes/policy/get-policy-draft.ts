import { getPolicyDraft } from '@countersign/contracts/control-plane';
import { answer, etag } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { getInForce } from '../../policy/in-force.ts';
import { templatesOf } from '../../policy/templates.ts';
import { findDraft } from '../../store/policy-drafts.ts';

export const getPolicyDraftRoute = (context: Context) =>
  handleWorkspace(getPolicyDraft)(async ({ caller: { workspaceId } }) => {
    const draft = await findDraft(context.database.reader, workspaceId);
    if (draft !== null) return answer(200, { draft, templates: [] }, etag(String(draft.version)));
    const { bundle } = await getInForce(context, workspaceId);
    return answer(200, { draft: null, templates: templatesOf(bundle) }, etag('0'));
  });
