import { stage, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { answerDeviceLogin, getDeviceLogin } from '@countersign/contracts/control-plane';
import { DevicePage } from '../src/device/device-page.tsx';

const code = 'BCDF-GHJK';
const request = {
  ...{ user_code: code, client: 'reporter on laptop-7', address: '127.0.0.1', workspace_id: null, role: 'partner' },
  expires_at: '2126-11-27T12:00:00.000Z',
};

function atDevice(login: object) {
  const here = stage();
  here.peer.answers(getDeviceLogin, { ...request, ...login });
  here.show(<DevicePage />, { path: `/device?user_code=${code}` });
  return here;
}

describe('the page that gives a program access', () => {
  it('reports that no program uses the code, and accepts another code', async () => {
    const { peer, user, show } = stage();
    peer.refuses(getDeviceLogin, 'NOT_FOUND');
    show(<DevicePage />, { path: '/device' });
    await user.type(await screen.findByLabelText('Code shown by the program'), 'BBBB-BBBB{Enter}');
    await screen.findByRole('heading', { name: 'No program uses this code' });
    peer.answers(getDeviceLogin, request);
    await user.click(screen.getByRole('button', { name: 'Enter another code' }));
    await user.type(await screen.findByLabelText('Code shown by the program'), `${code.toLowerCase()}{Enter}`);
    await screen.findByText('reporter on laptop-7');
    expect(peer.requests(getDeviceLogin).map(({ params }) => params['user_code'])).toEqual([
      'BBBB-BBBB',
      code.toLowerCase(),
    ]);
  });

  it('reads a code only once, because each read counts as a try', async () => {
    const { peer, show } = stage();
    peer.refuses(getDeviceLogin, 'STORE_UNAVAILABLE');
    show(<DevicePage />, { path: `/device?user_code=${code}` });
    await screen.findByRole('heading', { name: 'The database does not answer' });
    expect(peer.requests(getDeviceLogin)).toHaveLength(1);
  });

  it('shows who requests which access, and gives at most the requested access', async () => {
    const { peer, user } = atDevice({});
    const roles = await screen.findByLabelText('It may act as');
    expect([...roles.children].map(({ textContent }) => textContent)).toEqual(['member', 'partner']);
    for (const fact of ['reporter on laptop-7', '127.0.0.1', code]) expect(screen.getByText(fact)).toBeTruthy();
    peer.answers(answerDeviceLogin, {
      ...{ decision: 'approve', client: request.client, workspace_id: workspaceId, role: 'member' },
    });
    await user.selectOptions(roles, 'member');
    await user.click(screen.getByRole('button', { name: 'Give access' }));
    const answered = await screen.findByRole('status');
    expect(answered.textContent).toContain('reporter on laptop-7 may act in Vault as member.');
    expect(peer.requests(answerDeviceLogin).map(({ body }) => body)).toEqual([
      { decision: 'approve', workspace_id: workspaceId, role: 'member' },
    ]);
  });

  it('refuses a program when the person denies it, and reports the refusal', async () => {
    const { peer, user } = atDevice({});
    peer.answers(answerDeviceLogin, { decision: 'deny', client: request.client, workspace_id: null, role: null });
    await user.click(await screen.findByRole('button', { name: 'Refuse' }));
    expect((await screen.findByRole('status')).textContent).toContain('reporter on laptop-7 was refused.');
    expect(peer.requests(answerDeviceLogin).map(({ body }) => body)).toEqual([{ decision: 'deny' }]);
  });

  it('gives no access to a workspace that its visitor is not a member of', async () => {
    const { peer, user } = atDevice({ workspace_id: 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAW' });
    await screen.findByText(/a workspace that you are not a member of/);
    expect(screen.queryByRole('button', { name: 'Give access' })).toBeNull();
    await user.keyboard('{Enter}');
    expect(peer.requests(answerDeviceLogin)).toEqual([]);
  });
});
