import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Invite } from '@countersign/contracts/gateway';
import { useShortcuts } from '../keys/shortcuts.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { InviteDialog } from './invite-dialog.tsx';

/** Who was asked to join and has not yet. For owners. */
export function Invites() {
  const { id, client } = useWorkspace();
  const queries = useQueryClient();
  const [isOpen, form] = useDisclosure();
  const [ending, setEnding] = useState<Invite | null>(null);
  useShortcuts([{ keys: 'n', says: 'Invite somebody', run: form.open }]);
  const list = useWorkspaceList(['invites'], (asked, { cursor, signal }) =>
    asked.listInvites({ params: { id }, query: { cursor }, signal }),
  );
  const renew = () => void queries.invalidateQueries({ queryKey: [id] });
  const invite = <Button onClick={form.open}>Invite somebody</Button>;
  return (
    <section aria-label="Invites">
      <h2>Invites</h2>
      <Loaded query={list}>
        {(invites) =>
          invites.length === 0 ? (
            <EmptyState title="Nobody is invited" action={invite}>
              An invite is for one address, for seven days, and makes a member once that address is proven. With a
              second person, no one approves alone what they asked for.
            </EmptyState>
          ) : (
            <>
              <Table invites={invites} onEnd={setEnding} />
              <p className="after-table">{invite}</p>
            </>
          )
        }
      </Loaded>
      <More list={list} />
      <InviteDialog isOpen={isOpen} onClose={form.close} onInvited={renew} />
      <ConfirmDialog
        question={
          ending && {
            title: 'End this invite',
            says: `The link that ${ending.email} has leads nowhere any more.`,
            act: 'End it',
            run: () => client.revokeInvite({ params: { id, inviteId: ending.id } }),
          }
        }
        onClose={() => setEnding(null)}
        onDone={renew}
      />
    </section>
  );
}

function Table({ invites, onEnd }: { invites: Invite[]; onEnd: (invite: Invite) => void }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Open invites">
      <table>
        <thead>
          <tr>
            <th>Address</th>
            <th>As</th>
            <th>State</th>
            <th className="wide">Ends</th>
            <th>
              <span className="hidden">Act</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {invites.map((invite) => (
            <tr key={invite.id}>
              <td>
                <Shown text={invite.email} />
              </td>
              <td>{invite.role}</td>
              <td className="tight">
                <Mark tone={invite.state === 'open' ? 'wait' : 'live'}>{invite.state}</Mark>
              </td>
              <td className="wide">
                <Moment at={invite.expiresAt} />
              </td>
              <td className="tight number">
                <Button size="compact-xs" variant="default" onClick={() => onEnd(invite)}>
                  End
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
