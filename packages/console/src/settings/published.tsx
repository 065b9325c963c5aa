import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { mayDo } from '@countersign/contracts';
import type { HandleSummary } from '@countersign/contracts/control-plane';
import { CopyCommand } from '../parts/copy-command.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useHandles } from '../activity/use-handles.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';

/** Every public address of the workspace, each with a button to close it. */
export function Published() {
  const proofs = useHandles();
  const list = useWorkspaceList(['handles'], (_, { signal, ...at }) =>
    proofs.listEvidenceHandles({ query: at, signal }),
  );
  return (
    <>
      <Loaded query={list.query}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="quiet">
              No public links. <Link to="/activity">Choose a receipt</Link> to publish a proof of it.
            </p>
          ) : (
            <Handles handles={items} />
          )
        }
      </Loaded>
      <More list={list} />
      <CopyCommand words="handles ls" filters={{ cursor: list.cursor }} count={list.count} />
    </>
  );
}

function Handles({ handles }: { handles: readonly HandleSummary[] }) {
  const { id, role } = useWorkspace();
  const proofs = useHandles();
  const queries = useQueryClient();
  const mayRevoke = mayDo(role, 'evidence.unpublish');
  // Closing a proof must not be harder than leaving it open, so revoking needs no confirmation.
  const revoke = useMutation({
    mutationFn: (handle: HandleSummary['handle']) => proofs.revokeEvidenceHandle({ params: { handle } }),
    onSettled: () => queries.invalidateQueries({ queryKey: [id, 'handles'] }),
  });
  return (
    <>
      <div className="table-box" tabIndex={0} role="region" aria-label="Published">
        <table className="cards">
          <thead>
            <tr>
              <th>What</th>
              <th>Address</th>
              <th>Until</th>
              {mayRevoke && (
                <th>
                  <span className="hidden">Act</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {handles.map(({ handle, kind, object_id, url, expires_at }) => (
              <tr key={handle} data-id={handle}>
                <td data-name="What">
                  {kind} <CopyText text={object_id} />
                </td>
                <td data-name="Address">{url === null ? 'members only' : <CopyText text={url} />}</td>
                <td className="tight" data-name="Until">
                  <Moment at={expires_at} />
                </td>
                {mayRevoke && (
                  <td className="tight">
                    <Button
                      size="compact-xs"
                      variant="default"
                      aria-label={`Revoke link: ${kind} ${object_id}`}
                      loading={revoke.isPending && revoke.variables === handle}
                      onClick={() => revoke.mutate(handle)}
                    >
                      Revoke link
                    </Button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {revoke.error !== null && <ProblemNote error={revoke.error} />}
    </>
  );
}
