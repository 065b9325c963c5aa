import { at, session, stage } from './_dom.tsx';
import { afterEach, describe, expect, it } from '@jest/globals';
import { act, screen, within } from '@testing-library/react';
import { beginReauth, endCredential, finishReauth, getSession } from '@countersign/contracts/control-plane';
import { PresenceDialog } from '../src/presence/presence-dialog.tsx';
import { YouPage } from '../src/you/you-page.tsx';

const other = 'ses_01ARZ3NDEKTSV4RRFFQ69G5FAW';
const [here] = session.sessions;
const two = { ...session, sessions: [here, { ...here, session_id: other, address: '192.0.2.7', current: false }] };
const { sessions: _sessions, devices: _devices, passkeys: _passkeys, identities: _identities, ...proven } = session;

/** Signing the other browser out needs a proof, which the page asks for. */
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
  // The question is the page's: one that is left open would be shown to the next test.
  afterEach(() =>
    act(async () => {
      for (const giveUp of screen.queryAllByRole('button', { name: 'Cancel' })) giveUp.click();
      await Promise.resolve();
    }),
  );

  it('is not sent again by a wrong code, which is refused with the reason, and is by the right one', async () => {
    const { peer, user, send } = await asking();
    peer.refuses(finishReauth, 'CODE_INVALID', 'That is not the code');
    await user.click(send);
    await user.type(await screen.findByLabelText('Code'), '000000{Enter}');
    await screen.findByText('That is not the code');
    expect(peer.asked(endCredential)).toHaveLength(1);
    peer.answers(finishReauth, proven);
    peer.answers(endCredential, { ended: true });
    peer.answers(getSession, session);
    await user.clear(screen.getByLabelText('Code'));
    await user.type(screen.getByLabelText('Code'), '123 - 456 {Enter}');
    await screen.findByText('this browser');
    expect(peer.asked(endCredential)).toHaveLength(2);
    expect(peer.asked(finishReauth).map(({ body }) => body)).toMatchObject([{ code: '000000' }, { code: '123456' }]);
  });

  it('is not done by a person without a fresh proof, who gets the reason and can go on', async () => {
    const { peer, user } = await asking();
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    await screen.findByText(/REAUTHENTICATION_REQUIRED/);
    expect(peer.asked(endCredential)).toHaveLength(1);
    expect(screen.getAllByRole('dialog')).toHaveLength(1);
    await user.click(screen.getByRole('button', { name: 'Sign out browser' }));
    await screen.findByRole('button', { name: 'Send me a code' });
  });

  it('shows a code that is not mailed, and does not say that it was sent', async () => {
    const { user, send } = await asking();
    await user.click(send);
    expect((await screen.findByLabelText('Code for development')).textContent).toBe('123456');
    expect(screen.queryByText(/It was sent/)).toBeNull();
  });

  it('says that a code which was mailed was sent', async () => {
    const { peer, user, send, begun } = await asking();
    peer.answers(beginReauth, begun);
    await user.click(send);
    await screen.findByText('It was sent to your address.');
    expect(screen.queryByLabelText('Code for development')).toBeNull();
  });

  it('says why no code can be sent', async () => {
    const { peer, user, send } = await asking();
    peer.refuses(beginReauth, 'MAIL_UNAVAILABLE', 'No mail goes out');
    await user.click(send);
    const note = within(await screen.findByRole('alert'));
    expect(note.getByText('No mail goes out')).toBeTruthy();
  });
});
