// The store returns complete rows. A row that fails one condition is not found.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UserId, WorkspaceId } from '@countersign/contracts';
import { newIncidentId, newPlanId } from '../src/ids.ts';
import * as activations from '../src/store/policy-activations.ts';
import * as devices from '../src/store/device-logins.ts';
import * as identities from '../src/store/provider-identities.ts';
import * as incidents from '../src/store/incidents.ts';
import * as logins from '../src/store/logins.ts';
import * as orgs from '../src/store/orgs.ts';
import * as passkeys from '../src/store/passkeys.ts';
import * as plans from '../src/store/plans.ts';
import * as sessions from '../src/store/sessions.ts';
import * as tickets from '../src/store/tickets.ts';
import type { Tx } from '../src/store/database.ts';
import { ada, workspaceId } from './_listed.ts';
import {
  decided,
  bob,
  sessionId,
  hash,
  session,
  program,
  tokens,
  login,
  device,
  stored,
  ticket,
  passkey,
  identity,
  org,
  otherOrg,
  incident,
} from './_sign-in-rows.ts';
import { at, now, numbered, openUndone } from './_undone.ts';

let opened: Awaited<ReturnType<typeof openUndone>>;
beforeAll(async () => {
  opened = await openUndone();
});
afterAll(() => opened?.close());

type Step = (tx: Tx) => Promise<unknown>;
type Find = { fill: Step; find(tx: Tx): Promise<unknown>; found: unknown };
const deviceStates = ['pending', 'approved', 'denied', 'used'];
const openLogin = { email: login.email, sessionId: null, statement: null, oidc: null, expiresAt: login.expiresAt };
const oidc = { step: 'asked' as const, connectionId: 'c', nonce: 'n', verifier: 'v', browserHash: 'b' };

/** The result of each find: all members, or nothing when one condition fails. */
const finds: Record<string, Find> = {
  'a session': {
    fill: (tx) => sessions.insertSession(tx, session),
    find: async (tx) => [await sessions.findSession(tx, session.id), await sessions.findSession(tx, program.id)],
    found: [session, null],
  },
  'the session of a program': {
    fill: (tx) => sessions.insertSession(tx, program),
    find: (tx) => sessions.findSession(tx, program.id),
    found: program,
  },
  'the session of an access token until it expires': {
    fill: async (tx) => {
      await sessions.insertSession(tx, session);
      await sessions.insertTokens(tx, { ...tokens, sessionId });
    },
    find: async (tx) => [
      await sessions.findByAccessToken(tx, 'access', at(1)),
      await sessions.findByAccessToken(tx, 'access', at(2)),
      await sessions.findByAccessToken(tx, 'unknown', at(1)),
      await sessions.findBrowserSession(tx, 'access'),
      await sessions.findBrowserSession(tx, 'unknown'),
    ],
    found: [session, null, null, session, null],
  },
  'no browser session for the token of a program': {
    fill: async (tx) => {
      await sessions.insertSession(tx, program);
      await sessions.insertTokens(tx, { ...tokens, sessionId: program.id });
    },
    find: async (tx) => [
      await sessions.findByAccessToken(tx, 'access', at(1)),
      await sessions.findBrowserSession(tx, 'access'),
    ],
    found: [program, null],
  },
  'a spent refresh token': {
    fill: async (tx) => {
      await sessions.insertSession(tx, session);
      await sessions.insertTokens(tx, { ...tokens, sessionId });
      await sessions.spendRefreshToken(tx, { hash: 'refresh', spentAt: null, session }, at(1));
      await sessions.extendSession(tx, session, at(9));
    },
    find: async (tx) => [
      await sessions.lockRefreshToken(tx, 'refresh'),
      await sessions.lockRefreshToken(tx, 'unknown'),
    ],
    found: [{ hash: 'refresh', spentAt: at(1), session: { ...session, expiresAt: at(9) } }, null],
  },
  'the unexpired access tokens': {
    fill: async (tx) => {
      await sessions.insertSession(tx, session);
      await sessions.insertSession(tx, program);
      await sessions.insertTokens(tx, { ...tokens, sessionId: program.id, accessHash: 'other', refreshHash: 'other' });
      await sessions.insertTokens(tx, { ...tokens, sessionId });
      for (const [name, seconds] of Object.entries({ second: 2, third: 3 })) {
        const next = { accessHash: name, refreshHash: name, issuedAt: at(seconds), accessExpiresAt: at(9) };
        await tx.refreshToken.updateMany({ data: { spentAt: now } });
        await sessions.insertTokens(tx, { ...next, sessionId });
      }
    },
    find: async (tx) => (await tx.accessToken.findMany({ orderBy: { hash: 'asc' } })).map((token) => token.hash),
    found: ['other', 'second', 'third'],
  },
  'an open login': {
    fill: async (tx) => {
      await logins.insertLogin(tx, login);
      await logins.insertLogin(tx, { ...login, idHash: 'oidc', oidc });
      await logins.insertLogin(tx, { ...login, idHash: 'ended', expiresAt: now });
      await logins.insertLogin(tx, { ...login, idHash: 'finished' });
      await logins.finishLogin(tx, { idHash: 'finished', userId: null }, now);
    },
    find: async (tx) => [
      await logins.findOpenLogin(tx, 'login', now),
      await logins.findOpenLogin(tx, 'oidc', now),
      await logins.findOpenLogin(tx, 'ended', now),
      await logins.findOpenLogin(tx, 'finished', now),
    ],
    found: [openLogin, { ...openLogin, oidc }, null, null],
  },
  'the person only of an open login': {
    fill: async (tx) => {
      await logins.insertLogin(tx, login);
      await logins.insertLogin(tx, { ...login, idHash: 'finished' });
      await logins.finishLogin(tx, { idHash: 'finished', userId: bob }, at(1));
      for (const idHash of ['login', 'finished']) await logins.nameLogin(tx, { idHash, userId: ada });
    },
    find: async (tx) =>
      (await tx.login.findMany({ orderBy: { idHash: 'asc' } })).map((row) => [row.userId, row.finishedAt]),
    found: [
      [bob, at(1)],
      [ada, null],
    ],
  },
  'a ticket of its session until it expires': {
    fill: (tx) => tickets.insertTicket(tx, ticket),
    find: async (tx) => [
      await tickets.findTicket(tx, ticket, at(4)),
      await tickets.findTicket(tx, ticket, at(5)),
      await tickets.findTicket(tx, { ...ticket, sessionId: program.id }, at(4)),
    ],
    found: [{ workspaceId, place: { own: 3, all: 4 } }, null, null],
  },
  'a device login that can be answered': {
    fill: async (tx) => {
      await devices.insertDeviceLogin(tx, device);
      await devices.insertDeviceLogin(tx, { ...device, codeHash: 'ended', userCode: 'ended', expiresAt: now });
      await devices.insertDeviceLogin(tx, { ...device, codeHash: 'denied', userCode: 'denied' });
      const denied = { state: 'denied', userId: ada, sessionId, now } as const;
      await devices.answerDeviceLogin(tx, { ...stored, codeHash: 'denied' }, denied);
    },
    find: async (tx) => [
      await devices.findPendingByUserCode(tx, device.userCode, now),
      await devices.findPendingByUserCode(tx, 'ended', now),
      await devices.findPendingByUserCode(tx, 'denied', now),
    ],
    found: [stored, null, null],
  },
  'a device login with its poll, answer and use': {
    fill: async (tx) => {
      await devices.insertDeviceLogin(tx, device);
      await devices.recordPoll(tx, stored, { polledAt: at(1), intervalSeconds: 10 });
      const approved = { state: 'approved', userId: ada, sessionId, workspaceId, role: 'member', now } as const;
      await devices.answerDeviceLogin(tx, stored, approved);
      await devices.useDeviceLogin(tx, stored);
    },
    find: async (tx) => [await devices.lockDeviceLogin(tx, 'code'), await devices.lockDeviceLogin(tx, 'unknown')],
    found: [
      {
        ...stored,
        ...{ polledAt: at(1), intervalSeconds: 10, state: 'used', workspaceId, role: 'member' },
        answeredBy: { userId: ada, sessionId },
      },
      null,
    ],
  },
  'a device login in each of its states': {
    fill: async (tx) => {
      for (const state of deviceStates) {
        await devices.insertDeviceLogin(tx, { ...device, codeHash: state, userCode: state });
        await tx.deviceLogin.update({
          where: { codeHash: state },
          data: { state, ...(state === 'pending' ? {} : { userId: ada, sessionId, workspaceId }) },
        });
      }
    },
    find: async (tx) => {
      const found: unknown[] = [];
      for (const state of deviceStates) found.push((await devices.lockDeviceLogin(tx, state))?.state);
      return found;
    },
    found: ['pending', 'approved', 'denied', 'used'],
  },
  'a passkey with its last use': {
    fill: async (tx) => {
      await passkeys.insertPasskey(tx, passkey);
      await passkeys.recordPasskeyUse(tx, { ...passkey, signedInAt: null }, at(1));
    },
    find: async (tx) => [await passkeys.findPasskey(tx, passkey.credentialId), await passkeys.findPasskey(tx, 'none')],
    found: [{ ...passkey, signedInAt: at(1) }, null],
  },
  'an identity by issuer and subject, with its last use': {
    fill: async (tx) => {
      await identities.insertProviderIdentity(tx, identity);
      await identities.insertProviderIdentity(tx, { ...identity, subject: 'bob', userId: bob });
      await identities.recordProviderIdentityUse(tx, identity, at(1));
    },
    find: async (tx) => [
      await identities.findProviderIdentity(tx, { issuer: identity.issuer, subject: 'bob' }),
      await identities.findProviderIdentity(tx, { issuer: identity.issuer, subject: 'eve' }),
      (await tx.providerIdentity.findMany({ orderBy: { subject: 'asc' } })).map((row) => row.signedInAt),
    ],
    found: [{ userId: bob }, null, [at(1), null]],
  },
  'the organisation of an administrator and of a workspace': {
    fill: async (tx) => {
      await orgs.insertOrg(tx, org, now);
      await orgs.insertOrg(tx, otherOrg, now);
      await orgs.insertOrgWorkspace(tx, { workspaceId, orgId: org.id }, now);
      await orgs.markPlaced(tx, workspaceId, at(1));
      await orgs.markPlaced(tx, workspaceId, at(2));
    },
    find: async (tx) => [
      await orgs.findOrgOfAdmin(tx, bob),
      await orgs.findOrgOfAdmin(tx, UserId.parse(numbered('usr', 3))),
      await orgs.findOrgOfWorkspace(tx, workspaceId),
      await orgs.findOrgOfWorkspace(tx, WorkspaceId.parse(numbered('wsp', 3))),
      (await tx.orgWorkspace.findUniqueOrThrow({ where: { workspaceId } })).placedAt,
    ],
    found: [{ id: otherOrg.id, name: 'Bolt' }, null, { id: org.id, name: 'Acme' }, null, at(1)],
  },
  'an incident with all of its members': {
    fill: (tx) => incidents.insertIncident(tx, incident),
    find: async (tx) => [
      await incidents.findIncident(tx, workspaceId, incident.id),
      await incidents.findIncident(tx, workspaceId, newIncidentId()),
    ],
    found: [incident, null],
  },
  'no unknown plan': {
    fill: async () => undefined,
    find: (tx) => plans.findPlan(tx, workspaceId, newPlanId()),
    found: null,
  },
  'an activation after its decision and after a new proposal': {
    fill: async (tx) => {
      const ofPolicy = { workspaceId, policyHash: hash, reportId: numbered('wif', 1) as never, reportHash: hash };
      const begun = { ...ofPolicy, baseHash: hash, epoch: 1, askedBy: ada, createdAt: now };
      await activations.beginActivation(tx, { ...begun, id: 'pac_1' });
      await activations.beginActivation(tx, { ...begun, id: 'pac_2' });
      await activations.beginActivation(tx, { ...begun, id: 'pac_3', epoch: 2 });
      await activations.noteAllowed(tx, { id: 'pac_1' }, decided);
      await activations.noteAllowed(tx, { id: 'pac_3' }, decided);
      await activations.proposeAnew(tx, { id: 'pac_3', attempt: 1 });
      await activations.proposeAnew(tx, { id: 'pac_3', attempt: 1 });
    },
    find: async (tx) =>
      (await tx.policyActivation.findMany({ orderBy: { id: 'asc' } })).map((row) => [
        ...[row.id, row.state, row.attempt, row.decisionId, row.decisionReceiptId],
      ]),
    found: [
      ['pac_1', 'decided', 1, numbered('dec', 1), numbered('rcp', 1)],
      ['pac_3', 'deciding', 2, null, null],
    ],
  },
};

describe('the store', () => {
  it.each(Object.entries(finds))('finds %s', async (_name, { fill, find, found }) => {
    const returned = await opened.undone(async (tx) => {
      await fill(tx);
      return await find(tx);
    });
    expect(returned).toEqual(found);
  });
});
