import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Digest } from '@countersign/contracts';
import { reportedDecisionsMin, type PolicyDraft, type WhatIfJob } from '@countersign/contracts/control-plane';
import { Loaded } from '../parts/loaded.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { usePolicy } from './use-policy.ts';
import { Activate } from './activate.tsx';
import type { ActivePolicy } from './in-force.tsx';
import { ReportView } from './report-view.tsx';

type Props = { draft: PolicyDraft; policyHash: Digest; active: ActivePolicy };

const askAgainMs = 700;
const isOpen = (job: WhatIfJob | undefined) => job?.state === 'queued' || job?.state === 'running';

/** The draft's verdicts on past calls, and below them the activation. */
export function Report({ draft, policyHash, active }: Props) {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const [reportId, setReportId] = useState(draft.report_id);
  const question = { policy_hash: policyHash, limit: reportedDecisionsMin };
  const start = useMutation({
    mutationFn: async () => (await policy.createWhatIf({ params: { id }, body: question })).body,
    onSuccess: ({ report_id }) => setReportId(report_id),
  });
  return (
    <section aria-label="Report">
      <h3>Try on past calls</h3>
      <p className="quiet">
        The newest {reportedDecisionsMin} decisions are verified and decided again from their signed records.
      </p>
      <Button size="xs" variant="default" loading={start.isPending} onClick={() => start.mutate()}>
        {reportId === null ? 'Try on past calls' : 'Try again'}
      </Button>
      {start.error !== null && <ProblemNote error={start.error} />}
      {reportId !== null && <Job reportId={reportId} draft={draft} active={active} />}
    </section>
  );
}

function Job({ reportId, draft, active }: { reportId: string; draft: PolicyDraft; active: ActivePolicy }) {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const job = useWorkspaceQuery(
    ['policy', 'what-if', reportId],
    (_, signal) => policy.getWhatIf({ params: { id, report_id: reportId }, signal }),
    { everyMs: (last) => (isOpen(last) ? askAgainMs : false) },
  );
  return (
    <Loaded query={job}>
      {({ state, decisions, failure, report, report_id, policy_hash }) => (
        <>
          {report === null && (
            <p role="status">{failure ?? (state === 'queued' ? 'Queued.' : `${decisions} decided again`)}</p>
          )}
          {report !== null && (
            <>
              <ReportView report={report} draft={draft} />
              <Activate report={report} reportId={report_id} policyHash={policy_hash} active={active} />
            </>
          )}
        </>
      )}
    </Loaded>
  );
}
