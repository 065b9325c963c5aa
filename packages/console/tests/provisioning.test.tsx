import { at, stage, userId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, waitFor, within } from '@testing-library/react';
import { createScimToken, getIdentity, putIdentity, revokeScimToken } from '@countersign/contracts/commercial-gateway';
import { listOidcConnections } from '@countersign/contracts/control-plane';
import { ProvisioningPage } from '../src/provisioning/provisioning-page.tsx';
import { answersOrg, orgId } from './_commercial.ts';

const token = {
  ...{ token_id: 'stk_01ARZ3NDEKTSV4RRFFQ69G5FAV', name: 'Okta', created_by: userId, created_at: at },
  ...{ expires_at: '2126-11-27T12:00:00.000Z', last_used_at: null },
};
const challenge = { name: '_countersign.example.com', value: 'countersign-domain=4f1a' };
const domain = { domain: 'example.com', status: 'pending', challenge, claimed_at: at, verified_at: null };
const settings = {
  ...{ org_id: orgId, version: 3, sso_required: false, oidc_connection_id: null, break_glass_user_id: userId },
  ...{ role_mappings: [{ group: 'Pilots', role: 'partner' }], domains: [domain], scim_tokens: [token] },
};

async function atProvisioning(current: object = settings) {
  const here = stage();
  answersOrg(here.peer);
  here.peer.answers(getIdentity, current, { etag: '"3"' });
  here.peer.answers(putIdentity, settings, { etag: '"4"' });
  here.peer.answers(listOidcConnections, { data: [{ connection_id: 'okta', name: 'Okta' }] });
  here.show(<ProvisioningPage />, { path: '/provisioning' });
  await screen.findByRole('heading', { name: 'SCIM' });
  const sent = () => here.peer.requests(putIdentity).map(({ body, headers }) => [headers.get('if-match'), body]);
  return { ...here, sent };
}

describe('provisioning', () => {
  it('shows the DNS record to copy, and changes one part with the ETag that was read', async () => {
    const { user, sent } = await atProvisioning();
    expect(screen.getByRole('button', { name: challenge.value }).title).toBe(`Copy ${challenge.value}`);
    await user.type(screen.getByLabelText('Domain'), 'Other.Example{Enter}');
    await waitFor(() => expect(sent()).toHaveLength(1));
    const { sso_required, oidc_connection_id, role_mappings } = settings;
    const rest = { sso_required, oidc_connection_id, role_mappings };
    expect(sent()).toEqual([['"3"', { ...rest, domains: ['example.com', 'other.example'] }]]);
  });

  it('does not overwrite a change by another person', async () => {
    const { peer, user } = await atProvisioning();
    peer.refuses(putIdentity, 'PRECONDITION_FAILED');
    await user.click(screen.getByRole('button', { name: 'Check DNS of example.com' }));
    await screen.findByRole('heading', { name: 'It changed in the meantime' });
  });

  it('requires single sign-on only with a connection and a verified domain, and names who can always sign in', async () => {
    await atProvisioning();
    await screen.findByText('To require it: choose an OIDC connection, and verify a domain.');
    const require = screen.getByRole<HTMLButtonElement>('button', { name: 'Require single sign-on' });
    expect(require.disabled).toBe(true);
    expect(screen.getByText(/can always sign in with a\s+passkey/).textContent).toMatch(/^Ada /);
  });

  it('asks for confirmation before single sign-on is required', async () => {
    const verified = { ...domain, status: 'verified', verified_at: at };
    const { user, sent } = await atProvisioning({ ...settings, oidc_connection_id: 'okta', domains: [verified] });
    await user.click(screen.getByRole('button', { name: 'Require single sign-on' }));
    expect(sent()).toEqual([]);
    const dialog = within(await screen.findByRole('dialog'));
    await user.click(dialog.getByRole('button', { name: 'Require single sign-on' }));
    await waitFor(() => expect(sent()[0]?.[1]).toMatchObject({ sso_required: true, oidc_connection_id: 'okta' }));
  });

  it('shows the secret of a token once, with the address for the identity provider', async () => {
    const { peer, user } = await atProvisioning();
    peer.answers(createScimToken, { token, secret: 'scim_secret' });
    expect(screen.getByRole('button', { name: 'https://console.example/scim/v2' })).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Create SCIM token' }));
    await user.type(await screen.findByLabelText('Name'), 'Entra{Enter}');
    const secret = await screen.findByRole('region', { name: 'The token' });
    expect(secret.textContent).toBe('scim_secret');
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByText('scim_secret')).toBeNull());
    expect(peer.requests(createScimToken).map(({ body }) => body)).toEqual([{ name: 'Entra', expires_in_days: 365 }]);
  });

  it('revokes a token only after confirmation', async () => {
    const { peer, user } = await atProvisioning();
    peer.answers(revokeScimToken, { revoked: true });
    await user.click(screen.getByRole('button', { name: 'Revoke token Okta' }));
    await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Revoke token' }));
    await waitFor(() => expect(peer.requests(revokeScimToken)).toHaveLength(1));
    expect(peer.requests(revokeScimToken)[0]?.query).toEqual({ org_id: orgId });
  });
});
