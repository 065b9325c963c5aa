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
  const sent = () => here.peer.asked(putConsoleWorkspace).map(({ body, headers }) => [body, headers.get('if-match')]);
  return { ...here, sent };
}

describe('the page of settings', () => {
  it('shuts all that is published, says so once it is, and opens it again', async () => {
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

  it('does not say that it shut what was not shut, but why', async () => {
    const { peer, user } = await atSettings();
    peer.refuses(putConsoleWorkspace, 'GATEWAY_UNAVAILABLE');
    await user.click(screen.getByRole('button', { name: 'Turn public links off' }));
    await screen.findByRole('heading', { name: 'The gateway does not answer' });
    expect(screen.queryByText(/Every published link/)).toBeNull();
  });

  it('renames the workspace as it was read, and offers it when there is something to rename', async () => {
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

  it('has no button for those who own nothing', async () => {
    await atSettings('partner');
    await screen.findByText('Owners rename it.');
    expect(screen.queryByRole('button', { name: /Rename|Shut/ })).toBeNull();
  });
});
