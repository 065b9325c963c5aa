import { DecisionId, Digest, IncidentId, ReceiptId, SignInId, UserId } from '@countersign/contracts';
import { CredentialId, OrgId } from '@countersign/contracts/governance-kernel';
import type * as devices from '../src/store/device-logins.ts';
import type * as incidents from '../src/store/incidents.ts';
import type * as logins from '../src/store/logins.ts';
import type * as sessions from '../src/store/sessions.ts';
import { ada, workspaceId } from './_listed.ts';
import { at, now, numbered } from './_undone.ts';

export const decided = {
  decisionId: DecisionId.parse(numbered('dec', 1)),
  receiptId: ReceiptId.parse(numbered('rcp', 1)),
};
export const bob = UserId.parse(numbered('usr', 2));
export const sessionId = SignInId.parse(numbered('ses', 1));
export const hash = Digest.parse(`sha256:${'a'.repeat(64)}`);

export const session: sessions.StoredSession = {
  ...{ id: sessionId, userId: ada, client: 'Firefox', address: '192.0.2.1', within: null, methods: ['code'] },
  ...{ provenAt: at(-3), createdAt: at(-4), expiresAt: at(5), endedAt: null },
};
export const program: sessions.StoredSession = {
  ...session,
  ...{ id: SignInId.parse(numbered('ses', 2)), within: { workspaceId, role: 'partner' }, methods: ['code', 'passkey'] },
};
export const tokens = { accessHash: 'access', accessExpiresAt: at(2), refreshHash: 'refresh', issuedAt: now };
export const login: logins.NewLogin = {
  ...{ idHash: 'login', email: 'ada@example.org', userId: null, sessionId: null, statement: null, oidc: null },
  ...{ createdAt: now, expiresAt: at(5) },
};
export const device = {
  ...{ codeHash: 'code', userCode: 'USER-CODE', client: 'cli', address: '192.0.2.1', workspaceId: null },
  ...{ role: 'owner' as const, createdAt: now, expiresAt: at(5), intervalSeconds: 5 },
};
export const stored: devices.StoredDeviceLogin = { ...device, polledAt: null, state: 'pending', answeredBy: null };
export const ticket = { hash: 'ticket', sessionId, workspaceId, place: { own: 3, all: 4 }, expiresAt: at(5) };
export const passkey = { credentialId: CredentialId.parse('a'.repeat(24)), userId: ada, workspaceId, enrolledAt: now };
export const identity = {
  issuer: 'https://id.example',
  subject: 'ada',
  userId: ada,
  connectionId: 'example',
  linkedAt: now,
};
export const org = { id: OrgId.parse(numbered('org', 1)), name: 'Acme', adminId: ada };
export const otherOrg = { id: OrgId.parse(numbered('org', 2)), name: 'Bolt', adminId: bob };
export const sighting = { dedupKey: 'key', sighting: 'seen' };
export const incident: incidents.StoredIncident = {
  ...{ id: IncidentId.parse(numbered('inc', 1)), workspaceId, title: 'x', severity: 'low', category: 'other' },
  ...{ dedupKey: 'key', state: 'acked', version: 2, recurrence: 3, owner: ada, receipts: [], openedBy: bob },
  ...{ openedAt: at(-3), lastSeenAt: at(-2), updatedAt: at(-1) },
};
