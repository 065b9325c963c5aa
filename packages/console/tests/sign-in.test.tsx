import { at, session, stage } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { beginLogin, finishLogin, listOidcConnections } from '@countersign/contracts/control-plane';
import { SignInPage } from '../src/sign-in/sign-in-page.tsx';

const email = 'ada@example.org';
const begun = { login_id: `lgn_${'A'.repeat(22)}`, method: 'code', expires_at: at };

const { session_id, user_id, methods, proven_at, signed_in_at, expires_at, csrf_token } = session;
const signedIn = { session_id, user_id, methods, proven_at, signed_in_at, expires_at, csrf_token };

async function atSignIn(path = '/sign-in', connections: object[] = []) {
  const here = stage();
  here.peer.answers(listOidcConnections, { data: connections });
  here.show(<SignInPage />, { path });
  await screen.findByRole('heading', { name: 'Sign in' });
  expect(screen.queryByRole('alert')).toBeNull();
  const press = (name: string) => here.user.click(screen.getByRole('button', { name }));
  const sent = () => here.peer.requests(beginLogin).map(({ body }) => body);
  return { ...here, press, sent };
}

describe('the sign-in page', () => {
  it('sends a code to the address, and finishes with the digits of the code', async () => {
    const { peer, user, press, sent } = await atSignIn();
    await user.type(screen.getByLabelText('E-mail address'), email);
    peer.refuses(beginLogin, 'RATE_LIMITED');
    await press('Continue');
    await screen.findByRole('heading', { name: 'Too many requests' });
    peer.answers(beginLogin, begun);
    await press('Continue');
    await screen.findByText(`It was sent to ${email}.`);
    expect(screen.queryByRole('alert')).toBeNull();
    expect(screen.queryByLabelText('Code for development')).toBeNull();
    expect(sent()).toEqual(Array.from({ length: 2 }, () => ({ method: 'code', email })));
    await user.type(screen.getByLabelText('Code'), '12 3-456');
    peer.refuses(finishLogin, 'CREDENTIALS_INVALID');
    await press('Sign in');
    await screen.findByRole('alert');
    peer.answers(finishLogin, signedIn);
    await press('Sign in');
    expect(peer.requests(finishLogin).map(({ body }) => body)).toEqual(
      Array.from({ length: 2 }, () => ({ login_id: begun.login_id, code: '123456' })),
    );
  });

  it('shows the code when the server sends no mail, and goes back to the address', async () => {
    const { peer, user, press } = await atSignIn();
    peer.answers(beginLogin, { ...begun, code: '654321' });
    await user.type(screen.getByLabelText('E-mail address'), email);
    await press('Continue');
    expect((await screen.findByLabelText('Code for development')).textContent).toBe('654321');
    await press('Use another address');
    await screen.findByLabelText('E-mail address');
    expect(screen.queryByLabelText('Code')).toBeNull();
  });

  it('starts a sign-in at the selected provider', async () => {
    const { peer, press, sent } = await atSignIn('/sign-in', [{ connection_id: 'acme', name: 'Acme' }]);
    await screen.findByRole('button', { name: 'Continue with Acme' });
    expect(screen.queryByRole('alert')).toBeNull();
    peer.refuses(beginLogin, 'CONTROL_PLANE_UNAVAILABLE');
    await press('Continue with Acme');
    await screen.findByRole('heading', { name: 'The control plane does not answer' });
    expect(sent()).toEqual([{ method: 'oidc', connection_id: 'acme' }]);
  });

  it('shows why a passkey did not sign in', async () => {
    const { peer, press, sent } = await atSignIn();
    peer.refuses(beginLogin, 'RATE_LIMITED');
    await press('Use a passkey');
    await screen.findByRole('heading', { name: 'Too many requests' });
    expect(sent()).toEqual([{ method: 'passkey' }]);
  });

  it('sends a code for a new identity to the address that its provider names', async () => {
    const { peer, press, sent } = await atSignIn(`/sign-in?link=${begun.login_id}`);
    expect(screen.queryByLabelText('E-mail address')).toBeNull();
    peer.refuses(beginLogin, 'RATE_LIMITED');
    await press('Send the code');
    await screen.findByRole('alert');
    peer.answers(beginLogin, { ...begun, email });
    await press('Send the code');
    await screen.findByText(`It was sent to ${email}.`);
    expect(sent().at(-1)).toEqual({ method: 'link', login_id: begun.login_id });
    await press('Use another address');
    await screen.findByLabelText('E-mail address');
  });
});
