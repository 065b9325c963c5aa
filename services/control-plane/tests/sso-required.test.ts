import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { AppError } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../src/context.ts';
import { configuredConnections } from '../src/oidc/connections.ts';
import { ssoReadiness } from '../src/oidc/sso-readiness.ts';
import { signInByPasskey } from '../src/passkeys/sign-in-by-passkey.ts';
import { endAccess } from '../src/sessions/end-access.ts';
import { signInByCode } from '../src/sessions/sign-in-by-code.ts';
import { insertLogin } from '../src/store/logins.ts';
import { insertOrg } from '../src/store/orgs.ts';
import { insertPasskey, recordPasskeyUse } from '../src/store/passkeys.ts';
import { insertSession, listOpenedBefore } from '../src/store/sessions.ts';
import { openStoreContext } from './_store-context.ts';
import { bob, login, org, otherOrg, passkey, program, session } from './_sign-in-rows.ts';

let opened: Awaited<ReturnType<typeof openStoreContext>>;
let logins = 0;

beforeAll(async () => {
  opened = await openStoreContext();
  await opened.context.transaction((tx) => insertPasskey(tx, { ...passkey, userId: bob }));
});
afterAll(() => opened?.close());

const refusal = new AppError('SSO_REQUIRED', 'The organisation of this address requires single sign-on');
const later = new Date(Date.now() + 60_000);

/** Signs in with the passkey of Bob. The kernel accepts it, and the gateway gives each of these answers in turn. */
async function signIn(...answers: ('allowed' | 'refused')[]) {
  const authorizeSignIn = () =>
    answers.shift() === 'refused' ? Promise.reject(refusal) : Promise.resolve({ body: {} });
  const kernel = { own: () => ({ assertSignIn: () => Promise.resolve({ body: {} }) }) };
  const context = { ...opened.context, directory: { authorizeSignIn }, kernel } as never as Context; // only these are called
  const idHash = `login-${(logins += 1)}`;
  await context.transaction((tx) => insertLogin(tx, { ...login, idHash, expiresAt: later }));
  const answered = { idHash, statement: {} as never, assertion: { id: passkey.credentialId } as never }; // the kernel reads them
  return signInByPasskey(context, answered, { client: 'x', address: 'x', requestId: 'req_1' });
}
const openSessions = () => listOpenedBefore(opened.context.database.reader, { userId: bob, before: later });

it('readiness knows the domains of the connection, and counts only a passkey that has signed the administrator in', async () => {
  const { context } = opened;
  const connections = configuredConnections([
    {
      connectionId: 'acme',
      name: 'Acme',
      issuer: 'x',
      clientId: 'x',
      clientSecret: null,
      linkDomains: ['acme.example'],
    },
  ]);
  const readiness = (orgId: OrgId, connectionId: string) =>
    ssoReadiness({ ...context, connections }, { orgId, connectionId });
  await context.transaction((tx) => insertOrg(tx, otherOrg, new Date()));
  const ofBob = { link_domains: ['acme.example'], admin_has_passkey: false };
  expect(await readiness(otherOrg.id, 'acme')).toEqual(ofBob);
  expect(await readiness(otherOrg.id, 'absent')).toEqual({ ...ofBob, link_domains: null });
  await context.transaction((tx) => recordPasskeyUse(tx, { ...passkey, userId: bob, signedInAt: null }, new Date()));
  expect(await readiness(otherOrg.id, 'acme')).toEqual({ ...ofBob, admin_has_passkey: true });
  await expect(readiness(org.id, 'acme')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('a passkey opens no session when the gateway refuses the sign-in', async () => {
  await expect(signIn('refused')).rejects.toBe(refusal);
  expect(await openSessions()).toEqual([]);
});

it('a session ends at once when single sign-on becomes required while it opens', async () => {
  await expect(signIn('allowed', 'refused')).rejects.toBe(refusal);
  expect(await openSessions()).toEqual([]);
  await signIn('allowed', 'allowed');
  expect(await openSessions()).toHaveLength(1);
});

it('a session that a code opened ends too when single sign-on became required in the meantime', async () => {
  const before = (await openSessions()).length;
  const { context } = opened;
  const directory = {
    proveAddress: () => Promise.resolve({ body: { user: { id: bob } } }),
    authorizeSignIn: () => Promise.reject(refusal),
  };
  const idHash = `login-${(logins += 1)}`;
  await context.transaction((tx) => insertLogin(tx, { ...login, idHash, expiresAt: later }));
  const proof = { idHash, email: 'bob@acme.example', code: '123456' };
  const opener = { client: 'x', address: 'x', requestId: 'req_1' };
  await expect(signInByCode({ ...context, directory } as never, proof, opener)).rejects.toBe(refusal); // only these are called
  expect(await openSessions()).toHaveLength(before);
});

it('the end of access ends programs that an ended session authorized, even if they got their tokens later', async () => {
  const { context } = opened;
  const endedAt = new Date(session.createdAt.getTime() + 1_000);
  const createdAt = new Date(endedAt.getTime() + 5_000);
  await context.transaction(async (tx) => {
    await insertSession(tx, { ...session, provenAt: session.createdAt, expiresAt: later });
    await insertSession(tx, { ...program, provenAt: session.createdAt, createdAt, expiresAt: later });
    await endAccess(tx, context, { userId: session.userId, endedAt });
  });
  const { userId } = session;
  expect(await listOpenedBefore(context.database.reader, { userId, before: later })).toEqual([]);
});
