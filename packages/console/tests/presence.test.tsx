import { at, session, stage } from './_dom.tsx';
import { afterEach, describe, expect, it } from '@jest/globals';
import { act, screen, within } from '@testing-library/react';
import { beginReauth, endCredential, finishReauth, getSession } from '@countersign/contracts/control-plane';
import { PresenceDialog } from '../src/presence/presence-dialog.tsx';
import { YouPage } from '../src/you/you-page.tsx';

const second = 'ses_01ARZ3NDEKTSV4RRFFQ69G5FAW';
const [here] = session.sessions;
const two = { ...session, sessions: [here, { ...here, session_id: second, address: '192.0.2.7', current: false }] };
const { sessions: _sessions, devices: _devices, passkeys: _passkeys, identities: _identities, ...proven } = session;

/** Signs out the other browser, which needs a proof of presence. */
async function asking() {
  const shown = stage();
  const { peer, user } = shown;
  peer.answers(getSession, two);
  peer.refuses(endCredential, 'REAUTHENTICATION_REQUIRED');
  const begun = { login_id: `lgn_${'A'.repeat(22)}`, method: 'code', expires_at: at };
  peer.answers(beginReauth, { ...begun, code: '123456' });
  shown.show(
    <>
      <YouPage />
      <PresenceDialog isOpen />
    </>,
  );
  await user.click(await screen.findByRole('button', { name: 'Sign out' }));
  await user.click(await screen.findByRole('button', { name: 'Sign out browser' }));
  const send = await screen.findByRole('button', { name: 'Send me a code' });
  return { ...shown, send, begun };
}

describe('an act that needs a fresh proof of presence', () => {
  // The request for a proof is global, so an open one would appear in the next test.
  afterEach(() =>
    act(async () => {
      for (const giveUp of screen.queryAllByRole('button', { name: 'Cancel' })) giveUp.click();
      await Promise.resolve();
    }),
  );

  it('is sent again after the right code, but not after a wrong code, which is refused with the reason', async () => {
    const { peer, user, send } = await asking();
    peer.refuses(finishReauth, 'CODE_INVALID', 'That is not the code');
    await user.click(send);
    await user.type(await screen.findByLabelText('Code'), '000000{Enter}');
    await screen.findByText('That is not the code');
    expect(peer.requests(endCredential)).toHaveLength(1);
    peer.answers(finishReauth, proven);
    peer.answers(endCredential, { ended: true });
    peer.answers(getSession, session);
    await user.clear(screen.getByLabelText('Code'));
    await user.type(screen.getByLabelText('Code'), '123 - 456 {Enter}');
    await screen.findByText('this browser');
    expect(peer.requests(endCredential)).toHaveLength(2);
    expect(peer.requests(finishReauth).map(({ body }) => body)).toMatchObject([{ code: '000000' }, { code: '123456' }]);
  });

  it('is not executed when the person cancels, who sees the reason and can try again', async () => {
    const { peer, user } = await asking();
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    await screen.findByText(/REAUTHENTICATION_REQUIRED/);
    expect(peer.requests(endCredential)).toHaveLength(1);
    expect(screen.getAllByRole('dialog')).toHaveLength(1);
    await user.click(screen.getByRole('button', { name: 'Sign out browser' }));
    await screen.findByRole('button', { name: 'Send me a code' });
  });

  it('leads to a dialog that shows a code that is not mailed, without stating that it was sent', async () => {
    const { user, send } = await asking();
    await user.click(send);
    expect((await screen.findByLabelText('Code for development')).textContent).toBe('123456');
    expect(screen.queryByText(/It was sent/)).toBeNull();
  });

  it('leads to a dialog that states that a mailed code was sent', async () => {
    const { peer, user, send, begun } = await asking();
    peer.answers(beginReauth, begun);
    await user.click(send);
    await screen.findByText('It was sent to your address.');
    expect(screen.queryByLabelText('Code for development')).toBeNull();
  });

  it('leads to a dialog that shows why no code can be sent', async () => {
    const { peer, user, send } = await asking();
    peer.refuses(beginReauth, 'MAIL_UNAVAILABLE', 'No mail goes out');
    await user.click(send);
    const note = within(await screen.findByRole('alert'));
    expect(note.getByText('No mail goes out')).toBeTruthy();
  });
});
