import { at, stage, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import {
  getConsoleWorkspace,
  listEvidenceHandles,
  listOidcConnections,
  putConsoleWorkspace,
} from '@countersign/contracts/control-plane';
import { SettingsPage } from '../src/settings/settings-page.tsx';

const workspace = {
  ...{ workspace_id: workspaceId, name: 'Vault', org_id: null, role: 'owner', members: [] },
  ...{ public_proof: 'published', created_at: at },
};

async function atSettings(role: 'partner' | 'owner' = 'owner') {
  const here = stage();
  here.peer.answers(getConsoleWorkspace, workspace, { etag: '"read"' });
  here.peer.answers(listEvidenceHandles, { data: [], next_cursor: null });
  here.peer.answers(listOidcConnections, { data: [] });
  here.show(<SettingsPage />, { role });
  await screen.findByText(/Only what an owner published/);
  const sent = () =>
    here.peer.requests(putConsoleWorkspace).map(({ body, headers }) => [body, headers.get('if-match')]);
  return { ...here, sent };
}

describe('the settings page', () => {
  it('turns all public links off and on, and reports each change once it is made', async () => {
    const { peer, user, sent } = await atSettings();
    const off = { ...workspace, public_proof: 'off' };
    peer.answers(putConsoleWorkspace, off);
    peer.answers(getConsoleWorkspace, off, { etag: '"shut"' });
    await user.click(screen.getByRole('button', { name: 'Turn public links off' }));
    await screen.findByText(/Nothing of this workspace is public/);
    peer.answers(putConsoleWorkspace, workspace);
    peer.answers(getConsoleWorkspace, workspace, { etag: '"open"' });
    await user.click(screen.getByRole('button', { name: 'Turn public links on' }));
    await screen.findByText(/Only what an owner published/);
    expect(sent()).toEqual([
      [{ name: 'Vault', public_proof: 'off' }, '"read"'],
      [{ name: 'Vault', public_proof: 'published' }, '"shut"'],
    ]);
  });

  it('shows why public links were not turned off, and does not report them as off', async () => {
    const { peer, user } = await atSettings();
    peer.refuses(putConsoleWorkspace, 'GATEWAY_UNAVAILABLE');
    await user.click(screen.getByRole('button', { name: 'Turn public links off' }));
    await screen.findByRole('heading', { name: 'The gateway does not answer' });
    expect(screen.queryByText(/Every published link/)).toBeNull();
  });

  it('renames the workspace with the version that was read, and only when the name has changed', async () => {
    const { peer, user, sent } = await atSettings();
    const rename = screen.getByRole<HTMLButtonElement>('button', { name: 'Rename' });
    expect(rename.disabled).toBe(true);
    const renamed = { ...workspace, name: 'Vault <b>' };
    peer.answers(putConsoleWorkspace, renamed);
    await user.type(screen.getByLabelText('New name'), ' <b>');
    peer.answers(getConsoleWorkspace, renamed, { etag: '"renamed"' });
    await user.click(rename);
    await screen.findByText('Vault <b>');
    expect(sent()).toEqual([[{ name: 'Vault <b>' }, '"read"']]);
  });

  it('shows no button to a person who is not an owner', async () => {
    await atSettings('partner');
    await screen.findByText('Only owners can rename the workspace.');
    expect(screen.queryByRole('button', { name: /Rename|Shut/ })).toBeNull();
  });
});
