import { Page } from '../parts/page.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { usePolicy } from './use-policy.ts';
import { DraftDesk } from './draft-desk.tsx';
import { FirstDraft } from './first-draft.tsx';
import { InForce } from './in-force.tsx';
import { PolicyVersions } from './policy-versions.tsx';
import { ShadowLanes } from './shadow-lanes.tsx';

const askAgainMs = 5_000;

/** The policy for agents: written as a draft, tried on recorded decisions, and then activated. */
export function PolicyPage() {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const params = { id };
  const active = useWorkspaceQuery(['policy', 'active'], (_, signal) => policy.getActivePolicy({ params, signal }), {
    everyMs: askAgainMs,
  });
  const draft = useWorkspaceQuery(['policy', 'draft'], (_, signal) => policy.getPolicyDraft({ params, signal }));
  return (
    <Page
      title="Policy"
      about="The rules that decide what agents may do. A draft changes nothing until it is activated."
    >
      <Loaded query={active}>{(policy) => <InForce policy={policy} />}</Loaded>
      <Loaded query={draft}>
        {({ draft: written, templates }) =>
          written === null ? <FirstDraft templates={templates} /> : <DraftDesk stored={written} active={active.data} />
        }
      </Loaded>
      {active.data !== undefined && (
        <ShadowLanes shadows={active.data.shadows} text={draft.data?.draft?.text ?? null} />
      )}
      {draft.data !== undefined && <PolicyVersions draft={draft.data.draft} />}
    </Page>
  );
}
