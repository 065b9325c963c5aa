import { at, stage, userId, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import {
  createConsoleMember,
  deleteConsoleMember,
  getConsoleWorkspace,
  putConsoleMember,
} from '@countersign/contracts/control-plane';
import { createApiKey, listApiKeys, listInvites } from '@countersign/contracts/gateway';
import { createAccessKey, listAccessKeys } from '@countersign/contracts/governance-kernel';
import { MembersPage } from '../src/members/members-page.tsx';

const email = 'ada@example.org';
const later = '2126-11-27T12:00:00.000Z';
const key = {
  ...{ id: 'hpk_01ARZ3NDEKTSV4RRFFQ69G5FAV', workspaceId, name: 'crawler', prefix: 'csk_abc', role: 'member' },
  ...{
    scopes: ['agent'],
    environment: null,
    createdBy: userId,
    createdAt: at,
    expiresAt: later,
    lastUsedAt: null,
    revokedAt: null,
  },
};

async function atMembers(role: 'partner' | 'owner' = 'owner') {
  const here = stage();
  const members = [{ user_id: userId, name: 'Ada', email, role: 'owner', joined_at: at }];
  const workspace = { workspace_id: workspaceId, name: 'Vault', org_id: null, role, created_at: at };
  here.peer.answers(getConsoleWorkspace, { ...workspace, members, public_proof: 'published' });
  here.peer.answers(listInvites, { data: [], nextCursor: null });
  here.peer.answers(listApiKeys, { data: [], nextCursor: null });
  here.peer.answers(listAccessKeys, { data: [], next_cursor: null });
  here.show(<MembersPage />, { role });
  const row = await screen.findByRole('row', { name: new RegExp(email) });
  return { ...here, row: within(row) };
}

describe('a member', () => {
  async function removing() {
    const here = await atMembers();
    await here.user.click(here.row.getByRole('button', { name: 'Remove' }));
    const dialog = within(await screen.findByRole('dialog'));
    const typed = dialog.getByLabelText(`Type ${email} to go on`);
    return { ...here, typed, remove: dialog.getByRole<HTMLButtonElement>('button', { name: 'Remove' }) };
  }

  it('is not removed by the button or by Enter before the name is typed', async () => {
    const { peer, user, typed, remove } = await removing();
    expect(remove.disabled).toBe(true);
    await user.type(typed, 'somebody else{Enter}');
    expect(remove.disabled).toBe(true);
    expect(peer.requests(deleteConsoleMember)).toEqual([]);
  });

  it('who is the last owner is not removed, and the dialog shows why and what to do', async () => {
    const { peer, user, typed } = await removing();
    peer.refuses(deleteConsoleMember, 'LAST_OWNER', 'This member is the last owner');
    await user.type(typed, `${email}{Enter}`);
    const note = within(await screen.findByRole('alert'));
    expect(note.getByText('This member is the last owner')).toBeTruthy();
    expect(note.getByText(/LAST_OWNER/)).toBeTruthy();
    expect(note.getByText('Make another member an owner first.')).toBeTruthy();
    expect(peer.requests(deleteConsoleMember).map(({ params }) => params['user_id'])).toEqual([userId]);
  });

  it('gets another role only after the name is typed, and is shown with the current role until then', async () => {
    const { peer, user, row } = await atMembers();
    const role = row.getByRole<HTMLSelectElement>('combobox');
    await user.selectOptions(role, 'partner');
    expect(role.value).toBe('owner');
    expect(peer.requests(putConsoleMember)).toEqual([]);
    peer.answers(putConsoleMember, { user_id: userId, role: 'partner' });
    await user.type(await screen.findByLabelText(`Type ${email} to go on`), `${email}{Enter}`);
    await screen.findByRole('row', { name: new RegExp(email) });
    expect(peer.requests(putConsoleMember).map(({ body }) => body)).toEqual([{ role: 'partner' }]);
  });

  it('who is not an owner sees who makes changes, and no button without effect', async () => {
    const { peer } = await atMembers('partner');
    await screen.findByText(/Owners invite people, change roles/);
    expect(screen.queryByRole('button', { name: /Remove|Invite|agent/ })).toBeNull();
    expect(screen.queryByRole('combobox')).toBeNull();
    expect([...peer.requests(listInvites), ...peer.requests(listAccessKeys)]).toEqual([]);
  });
});

describe('an invite', () => {
  it('to an existing member is refused with the reason, and returns no link', async () => {
    const { peer, user } = await atMembers();
    peer.refuses(createConsoleMember, 'ALREADY_EXISTS', 'They are a member');
    await user.click(screen.getByRole('button', { name: 'Invite member' }));
    await user.type(await screen.findByLabelText('E-mail address'), `${email}{Enter}`);
    await screen.findByText('They are a member');
    expect(screen.queryByRole('region', { name: 'Invite link' })).toBeNull();
  });
});

describe('a key', () => {
  it('is shown once, and nothing of it is left after the dialog closes', async () => {
    const { peer, user } = await atMembers();
    peer.answers(createApiKey, { ...key, key: 'csk_abc_secret' });
    await user.click(screen.getByRole('button', { name: 'Make a key' }));
    await user.type(await screen.findByLabelText(/^Name/), 'crawler');
    await user.click(screen.getByLabelText('Read the workspace'));
    await user.click(screen.getByRole('button', { name: 'Make the key' }));
    expect((await screen.findByRole('region', { name: 'The key' })).textContent).toBe('csk_abc_secret');
    const scopes = { workspaceId, name: 'crawler', role: 'member', scopes: ['agent', 'read'], expiresInDays: 90 };
    expect(peer.requests(createApiKey).map(({ body }) => body)).toEqual([scopes]);
    await user.keyboard('{Escape}');
    expect(document.body.innerHTML).not.toContain('csk_abc_secret');
  });

  it('without any permission is not created', async () => {
    const { peer, user } = await atMembers();
    await user.click(screen.getByRole('button', { name: 'Make a key' }));
    await user.type(await screen.findByLabelText(/^Name/), 'crawler');
    await user.click(screen.getByLabelText('Agent: make calls that are decided'));
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Make the key' }).disabled).toBe(true);
    expect(peer.requests(createApiKey)).toEqual([]);
  });

  it('of an agent with the name of a person is refused with the reason, and the typed text stays', async () => {
    const { peer, user } = await atMembers();
    peer.refuses(
      createAccessKey,
      'PERMISSION_DENIED',
      'principal_id is a name of a workspace key or a workspace agent. Choose a different name for the agent',
    );
    await user.click(screen.getByRole('button', { name: 'Make an agent’s key' }));
    await user.type(await screen.findByLabelText(/^Principal/), `${userId}{Enter}`);
    await screen.findByText(
      'principal_id is a name of a workspace key or a workspace agent. Choose a different name for the agent',
    );
    expect(screen.getByLabelText<HTMLInputElement>(/^Principal/).value).toBe(userId);
  });
});
