import { at, stage, userId, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, waitFor } from '@testing-library/react';
import { listOidcConnections, refreshSession } from '@countersign/contracts/control-plane';
import { acceptInvite, getMe, joinByInvite, listInvitesToMe } from '@countersign/contracts/gateway';
import { InvitePage } from '../src/invites/invite-page.tsx';
import { OpenInvites } from '../src/invites/open-invites.tsx';

const email = 'grace@example.org';
const token = `csi_${'x'.repeat(43)}`;
const me = { user: { id: userId, name: 'Grace', email }, workspaces: [] };
const joined = { workspace: { id: workspaceId, name: 'Vault' }, role: 'member' };
const invite = {
  ...{ id: 'inv_01ARZ3NDEKTSV4RRFFQ69G5FAV', workspace: 'Vault', from: 'ada@example.org', role: 'member' },
  ...{ createdAt: at, expiresAt: '2126-11-27T12:00:00.000Z' },
};

describe('the page of an invite', () => {
  function atInvite() {
    const here = stage();
    here.peer.answers(getMe, me);
    here.peer.answers(listInvitesToMe, { data: [] });
    here.show(<InvitePage />, { path: `/invite/${token}` });
    return here;
  }

  it('names the address that joins, and joins only after the person accepts', async () => {
    const { peer, user } = atInvite();
    await screen.findByText(email);
    expect(peer.requests(acceptInvite)).toEqual([]);
    peer.answers(acceptInvite, { accepted: true, verificationRequired: false, ...joined });
    await user.click(screen.getByRole('button', { name: 'Accept invite' }));
    expect(peer.requests(acceptInvite).map(({ params, body }) => [params, body])).toEqual([[{ token }, { email }]]);
    expect(peer.requests(getMe).length).toBeGreaterThan(1);
  });

  it('shows for which address an invite does not work, and what to do', async () => {
    const { peer, user } = atInvite();
    peer.refuses(acceptInvite, 'NOT_FOUND');
    await user.click(await screen.findByRole('button', { name: 'Accept invite' }));
    const note = await screen.findByRole('alert');
    expect(note.textContent).toContain(`does not work for ${email}`);
    expect(note.textContent).toContain('Sign in with the invited address, or ask for a new invite.');
  });
});

describe('the link of an invite', () => {
  it('opens the page of the invite, even for a person without a workspace', async () => {
    const { peer, user, openConsole } = stage();
    peer.answers(getMe, me);
    openConsole(`/invite/${token}`);
    peer.refuses(acceptInvite, 'NOT_FOUND');
    await user.click(await screen.findByRole('button', { name: 'Accept invite' }));
    await screen.findByRole('alert');
    expect(peer.requests(acceptInvite).map(({ params }) => params)).toEqual([{ token }]);
  });

  it('leads a signed-out person to the sign-in, and back', async () => {
    const { peer, openConsole } = stage();
    for (const route of [getMe, refreshSession]) peer.refuses(route, 'CREDENTIALS_REQUIRED');
    peer.answers(listOidcConnections, { data: [] });
    openConsole(`/invite/${token}`);
    await screen.findByRole('heading', { name: 'Sign in' });
    expect(location.pathname).toBe('/console/sign-in');
    expect(new URLSearchParams(location.search).get('back')).toBe(`/invite/${token}`);
    expect(peer.requests(acceptInvite)).toEqual([]);
  });
});

describe('open invites', () => {
  it('show who invites to which workspace, and are accepted with one button', async () => {
    const { peer, user, show } = stage();
    peer.answers(getMe, me);
    peer.answers(listInvitesToMe, { data: [invite] });
    peer.answers(joinByInvite, joined);
    show(<OpenInvites />);
    const list = await screen.findByRole('region', { name: 'Invites to you' });
    expect(list.textContent).toContain('ada@example.org invites you to Vault as member.');
    await user.click(screen.getByRole('button', { name: 'Join workspace' }));
    expect(peer.requests(joinByInvite).map(({ params }) => params['inviteId'])).toEqual([invite.id]);
  });

  it('are hidden when there are none', async () => {
    const { peer, show } = stage();
    peer.answers(listInvitesToMe, { data: [] });
    show(<OpenInvites />);
    await waitFor(() => expect(peer.requests(listInvitesToMe)).toHaveLength(1));
    expect(screen.queryByRole('region', { name: 'Invites to you' })).toBeNull();
  });
});
