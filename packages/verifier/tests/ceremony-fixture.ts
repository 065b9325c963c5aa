import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { canonicalBytes, encodeBase64Url, publicKeyToJwk } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { intentHash } from '@countersign/receipts';
import { verifyRecord } from '../src/index.ts';
import { chainOfRecords, hashOf, idOf, recordOf, strangeSigner, type Changes, type Members } from './chain-fixture.ts';

export type Passkey = { publicKey: Members; sign: (data: Uint8Array) => Uint8Array };

/** Changes to a valid ceremony. The passkey signs all of them except `evidence`. */
export type Wrongs = {
  passkey?: Passkey;
  statement?: Changes;
  clientData?: Changes;
  /** Replaces the client data as JSON. */
  clientText?: string;
  authenticator?: { rpId?: string; flags?: number; bytes?: number };
  /** Changes to the facts of the record. */
  evidence?: Changes;
  intent?: Members;
  record?: Members;
};

/** The private key of RFC 7515, appendix A.3. It is published, so it is used only in tests. */
const publishedKey = createPrivateKey({
  key: {
    ...{ kty: 'EC', crv: 'P-256', d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI' },
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  },
  format: 'jwk',
});

/** Signs like an authenticator with ES256. */
export function p256Passkey(privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey): Passkey {
  const { x = '', y = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { publicKey: { kty: 'EC', crv: 'P-256', x, y }, sign: (data) => sign('sha256', data, privateKey) };
}

export function ed25519Passkey(): Passkey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return { publicKey: { kty: 'OKP', crv: 'Ed25519', x }, sign: (data) => sign(null, data, privateKey) };
}

export const passkey = p256Passkey(publishedKey);
export const enrolledKey: Members = { ...publicKeyToJwk(strangeSigner.publicKey) };
/** Creation time of the records in this file, which is the last instant that their statements allow. */
const committedAt = '2026-02-01T00:00:01.000Z';
const approval_id = idOf('apr', 7);
const page = { rp_id: 'example.org', origin: 'https://console.example.org', nonce: 'bm9uY2U', expires_at: committedAt };
const [approvedIntent, approvedJudged, ceremony] = [hashOf('intent'), hashOf('judged'), hashOf('ceremony')];

/** The record of an approval by passkey. */
export function voteRecord(wrongs: Wrongs = {}): Members {
  return announcement({ kind: 'approval', approval_id }, voteIntent, {
    ...wrongs,
    evidence: { ...voteFacts(wrongs), ...wrongs.evidence },
  });
}

/** The record of break glass with a passkey, which signs the reason. */
export function glassRecord(wrongs: Wrongs = {}): Members {
  const { statement, evidence } = wrongs;
  const facts = voteFacts({ ...wrongs, statement: { decision: 'break_glass', reason: 'a fire', ...statement } });
  return announcement(
    { kind: 'break_glass', approval_id },
    { ...voteIntent, action: 'approval.break_glass' },
    { ...wrongs, evidence: { ...facts, reason: 'a fire', expires_at: '2026-02-01T00:15:01.000Z', ...evidence } },
  );
}

/** The record of a passkey that vouches for another one. */
export function voucherRecord(wrongs: Wrongs = {}): Members {
  const statement = changed(
    {
      ...{ type: 'countersign.passkey-voucher.v1', tenant_id: 'acme', vouched_by: 'ada', ...page },
      ...{ principal_id: 'grace', credential_id: 'Z3JhY2U', public_key: enrolledKey },
    },
    wrongs.statement,
  );
  const enrolled = { enrolled_credential_id: 'Z3JhY2U', principal_id: 'grace', enrolled_public_key: enrolledKey };
  return announcement({ kind: 'trust', policy_hash: null }, voucherIntent, {
    ...wrongs,
    evidence: { ...assertionOver(statement, wrongs), ...enrolled, ...wrongs.evidence },
  });
}

/** Verifies the record with a receipt that seals it, like any reader of an export. */
export function verified(record: Members, provider = nodeProvider): unknown {
  return verifyRecord(record, chainOfRecords([record]).receipts[0], provider);
}

/** Base64url of a text, or of members as JSON. */
export function encoded(value: string | Members): string {
  return encodeBase64Url(new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value)));
}

/** The client data of a browser as text, padded to a length in bytes. */
export function clientTextOf(record: Members, bytes = 0): string {
  const { facts } = record['intent'] as { facts: { client_data_json: string } }; // a function above made it
  const text = Buffer.from(facts.client_data_json, 'base64url').toString();
  return text.padEnd(bytes, ' ');
}

const voteIntent = { action: 'approval.approve', tool: 'mail.send', resource: 'mailbox', effect_level: 'E3' };
const voucherIntent = { action: 'passkey.vouch', tool: null, resource: 'passkey:Z3JhY2U', effect_level: 'E3' };

function voteFacts(wrongs: Wrongs): Members {
  const statement = changed(
    {
      ...{ type: 'countersign.approval-ceremony.v1', approval_id, tenant_id: 'acme', approver_id: 'ada', ...page },
      ...{ decision: 'approve', action: 'tool.call', tool: 'mail.send', resource: 'mailbox', effect_level: 'E3' },
      ...{ intent_hash: approvedIntent, judged_hash: approvedJudged, policy_hash: hashOf('policy') },
      ...{ ceremony_hash: ceremony, approval_expires_at: '2026-02-01T01:00:00.000Z' },
    },
    wrongs.statement,
  );
  const approved = { approved_intent_hash: approvedIntent, approved_judged_hash: approvedJudged, state: 'approved' };
  return { ...assertionOver(statement, wrongs), ...approved, ceremony_hash: ceremony };
}

/**
 * The response of an authenticator to the challenge of the statement, with the client data of the browser (Web
 * Authentication §5.8.1, §6.1).
 */
function assertionOver(statement: Members, wrongs: Wrongs): Members {
  const { clientData, clientText, authenticator = {}, passkey: signer = passkey } = wrongs;
  const { rpId = 'example.org', flags = 0x05, bytes = 37 } = authenticator;
  const challenge = encodeBase64Url(nodeProvider.sha256(canonicalBytes(statement)));
  const stated = { type: 'webauthn.get', challenge, origin: page.origin, crossOrigin: false };
  const client = Buffer.from(clientText ?? JSON.stringify(changed(stated, clientData)));
  const data = Buffer.alloc(bytes);
  data.set(nodeProvider.sha256(Buffer.from(rpId)));
  data.set([flags], 32);
  return {
    ...{ credential: 'passkey', credential_id: 'YWRh', public_key: signer.publicKey, statement },
    ...{ client_data_json: encodeBase64Url(client), authenticator_data: encodeBase64Url(data) },
    signature: encodeBase64Url(signer.sign(Buffer.concat([data, nodeProvider.sha256(client)]))),
  };
}

function announcement(members: Members, named: Members, { evidence, intent, record }: Wrongs): Members {
  const call = { ...named, args_hash: hashOf('args'), ...intent };
  const { principal_id: principal = 'ada' } = record ?? {};
  const announced = { tenant: 'acme', principal, session: 'session-1', ...call };
  const intent_hash = intentHash(nodeProvider, announced as never); // args_hash is a digest
  return recordOf(1, {
    ...{ verdict: 'ALLOW', reason_code: 'ALLOWED', gates: [], matched_rules: [], principal_id: 'ada' },
    ...{ ...members, ...record },
    intent: { ...call, intent_hash, facts: changed({}, evidence) },
  });
}

function changed(members: Members, changes: Changes = {}): Members {
  const all = Object.entries({ ...members, ...changes });
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}
