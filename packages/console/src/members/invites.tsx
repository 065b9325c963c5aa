import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useShortcuts } from '../keys/shortcuts.ts';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { InviteDialog } from './invite-dialog.tsx';
import { Issued } from './issued.tsx';

/** Pending invites, for owners. */
export function Invites() {
  const { id, client } = useWorkspace();
  const queries = useQueryClient();
  const [isOpen, form] = useDisclosure();
  useShortcuts([{ keys: 'n', says: 'Invite member', run: form.open }]);
  const list = useWorkspaceList(['invites'], (api, { signal, ...at }) =>
    api.listInvites({ params: { id }, query: at, signal }),
  );
  return (
    <>
      <Issued
        title="Invites"
        label="Open invites"
        words="invites ls"
        list={list}
        keyOf={(invite) => invite.id}
        columns={[
          { name: 'Address', show: ({ email }) => <Shown text={email} /> },
          { name: 'Role', show: ({ role }) => role },
          { name: 'State', show: ({ state }) => <Mark tone={state === 'open' ? 'wait' : 'live'}>{state}</Mark> },
          { name: 'Ends', show: ({ expiresAt }) => <Moment at={expiresAt} /> },
        ]}
        endingOf={({ id: inviteId, email }) => ({
          ...{ what: 'invite', of: email },
          says: `The link sent to ${email} stops working.`,
          run: () => client.revokeInvite({ params: { id, inviteId } }),
        })}
        empty={{
          title: 'No invitations yet',
          says: 'An invitation is for one address and lasts 7 days. With a second member, another person can approve the calls that you started.',
        }}
        make={<Button onClick={form.open}>Invite member</Button>}
      />
      <InviteDialog
        isOpen={isOpen}
        onClose={form.close}
        onInvited={() => void queries.invalidateQueries({ queryKey: [id] })}
      />
    </>
  );
}
