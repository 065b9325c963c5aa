import { mayDo } from '@countersign/contracts';
import { Button } from '@mantine/core';
import { useState } from 'react';
import type { PolicyChange, PolicyDraft, PolicyVersion } from '@countersign/contracts/control-plane';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Shown, ShownJson, ShownText } from '../parts/shown.tsx';
import { Who } from '../parts/who.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { useWriteDraft } from './use-draft.ts';
import { usePolicy } from './use-policy.ts';

/** `draft` is the stored draft. A version that is used as a draft replaces it. */
type Props = { draft: PolicyDraft | null };

/** The policies that were put into force here, newest first, each with its changes. */
export function PolicyVersions({ draft }: Props) {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const list = useWorkspaceList(['policy', 'versions'], (_, { signal, ...query }) =>
    policy.listPolicyVersions({ params: { id }, query, signal }),
  );
  return (
    <section className="card" aria-label="Versions">
      <h2>Versions</h2>
      <Loaded query={list.query}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="quiet">No draft was activated here yet. The policy of the installation decides.</p>
          ) : (
            <>
              <ul className="stacked">
                {items.map((version) => (
                  <li key={version.epoch}>
                    <Version version={version} draft={draft} />
                  </li>
                ))}
              </ul>
              <More list={list} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

/** Its details are read once it is opened. */
function Version({ version, draft }: Props & { version: PolicyVersion }) {
  const [isOpen, setOpen] = useState(false);
  const { epoch, state, requested_at, requested_by } = version;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Version {epoch}, <Moment at={requested_at} />, by <Who actor={requested_by} />{' '}
        {state === 'active' && <Mark tone="good">in force</Mark>}
      </summary>
      {isOpen && <VersionDetails version={version} draft={draft} />}
    </details>
  );
}

function VersionDetails({
  version: { epoch, policy_hash, receipt_id, report_id },
  draft,
}: Props & { version: PolicyVersion }) {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const details = useWorkspaceQuery(['policy', 'versions', epoch], (_, signal) =>
    policy.getPolicyVersion({ params: { id, epoch: String(epoch) }, signal }),
  );
  return (
    <div className="stacked">
      <dl className="facts">
        <dt>Hash</dt>
        <dd>
          <CopyText text={policy_hash} />
        </dd>
        <dt>Receipt</dt>
        <dd>
          <CopyText text={receipt_id} />
        </dd>
        <dt>Report</dt>
        <dd>
          <CopyText text={report_id} />
        </dd>
      </dl>
      <Loaded query={details}>
        {({ text, change }) => (
          <>
            <Changes change={change} />
            {text === null ? (
              <p className="quiet">The kernel no longer has this policy.</p>
            ) : (
              <>
                <details>
                  <summary>Whole text</summary>
                  <ShownText text={text} label={`Version ${epoch}`} />
                </details>
                <UseAsDraft epoch={epoch} text={text} draft={draft} />
              </>
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}

function Changes({ change }: { change: PolicyChange | null }) {
  if (change === null)
    return <p className="quiet">The kernel no longer has the policy before, so nothing is compared.</p>;
  const { rules, other_members } = change;
  if (rules.length === 0 && other_members.length === 0) return <p>Nothing changed.</p>;
  return (
    <>
      <h3>Changes</h3>
      {rules.length > 0 && (
        <ul className="stacked">
          {rules.map(({ rule_id, before, after }) => (
            <li key={rule_id}>
              Rule <Shown text={rule_id} /> {actOf({ before, after })}
              {before !== null && <ShownJson value={before} label={`${rule_id}, before`} />}
              {after !== null && <ShownJson value={after} label={`${rule_id}, after`} />}
            </li>
          ))}
        </ul>
      )}
      {other_members.length > 0 && <p>Also changed: {other_members.join(', ')}</p>}
    </>
  );
}

function actOf({ before, after }: Pick<PolicyChange['rules'][number], 'before' | 'after'>): string {
  if (before === null) return 'was added';
  return after === null ? 'was removed' : 'was changed';
}

function UseAsDraft({ epoch, text, draft }: Props & { epoch: number; text: string }) {
  const { role } = useWorkspace();
  const write = useWriteDraft();
  const [isConfirming, setConfirming] = useState(false);
  if (!mayDo(role, 'policy.draft')) return null;
  const says =
    draft === null
      ? 'The text becomes the draft. It changes nothing until it is activated.'
      : `The text replaces version ${draft.version} of the draft. It changes nothing until it is activated.`;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setConfirming(true)}>
        Use as draft
      </Button>
      <ConfirmDialog
        question={
          isConfirming
            ? {
                title: `Use version ${epoch} as the draft`,
                says,
                act: 'Replace the draft',
                run: () => write.mutateAsync({ text, version: draft?.version ?? 0 }),
              }
            : null
        }
        onClose={() => setConfirming(false)}
      />
    </>
  );
}
