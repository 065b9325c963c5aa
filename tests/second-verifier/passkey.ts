import { createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import { Fault, need, present } from './fault.ts';
import { fromBase64Url, sha256 } from './forms.ts';
import type { Schemas } from './schema.ts';
import type { Sealed } from './statements.ts';
import { canonical, isObject, type JsonObject } from './strict-json.ts';

const signed = ['client_data_json', 'authenticator_data', 'signature'] as const;

/** Throws unless a passkey vote or voucher agrees with its record, and the passkey signed it (6). */
export function assertPasskey(record: Sealed, schemas: Schemas): void {
  const { facts, action } = record.intent;
  const isVoucher = record.kind === 'trust' && action === 'passkey.vouch'; // 6.6
  const isVote = ['approval', 'break_glass'].includes(record.kind) && facts['credential'] === 'passkey'; // 6.1
  if (!isVoucher && !isVote) return;
  const [clientData, authenticatorData, signature] = signed.map((name) =>
    present(fromBase64Url(facts[name]), 'MALFORMED', '6.1'),
  ) as [Buffer, Buffer, Buffer]; // one for each name
  schemas.assertForm(facts['public_key'], 'PasskeyPublicKey');
  const { statement } = facts;
  schemas.assertForm(statement, isVoucher ? 'VoucherStatement' : 'CeremonyStatement');
  if (isVoucher) assertVoucher(statement, record);
  else assertCeremony(statement, record);
  assertClient(statement, clientData);
  assertAuthenticator(statement, authenticatorData);
  const bytes = Buffer.concat([authenticatorData, sha256(clientData)]);
  need(isSignedBy(facts['public_key'], bytes, signature), 'ASSERTION_INVALID', '6.5');
}

function assertCeremony(statement: JsonObject, record: Sealed): void {
  const { action, facts, tool, resource, effect_level } = record.intent;
  const { approval_id, tenant_id, principal_id, policy_hash, kind, created_at } = record;
  const expected: [string, unknown][] = [
    ...Object.entries({ approval_id, tenant_id, approver_id: principal_id, tool, resource, effect_level, policy_hash }),
    ['intent_hash', facts['approved_intent_hash']],
    ['judged_hash', facts['approved_judged_hash']],
    ['ceremony_hash', facts['ceremony_hash']],
    ['reason', kind === 'break_glass' ? facts['reason'] : undefined],
  ];
  const code = 'ASSERTION_MISMATCH';
  for (const [name, value] of expected) need(statement[name] === value, code, `6.2 ${name}`);
  need(`approval.${String(statement['decision'])}` === action, code, '6.2');
  need(created_at <= String(statement['expires_at']), code, '6.3');
  need(created_at < String(statement['approval_expires_at']), code, '6.3');
  const until = facts['approved_expires_at'];
  need(typeof until !== 'string' || until <= String(statement['approval_expires_at']), code, '6.3');
}

function assertVoucher(statement: JsonObject, { tenant_id, principal_id, intent: { facts } }: Sealed): void {
  const expected: JsonObject = { tenant_id, vouched_by: principal_id };
  for (const [name, value] of Object.entries(expected))
    need(statement[name] === value, 'ASSERTION_MISMATCH', `6.6 ${name}`);
  need(statement['principal_id'] === facts['principal_id'], 'ASSERTION_MISMATCH', '6.6');
  need(statement['credential_id'] === facts['enrolled_credential_id'], 'ASSERTION_MISMATCH', '6.6');
  const isSameKey = canonical(statement['public_key']) === canonical(facts['enrolled_public_key']);
  need(isSameKey, 'ASSERTION_MISMATCH', '6.6');
}

function assertClient(statement: JsonObject, bytes: Buffer): void {
  const code = 'ASSERTION_INVALID'; // 6.4
  const data = parsedLoosely(utf8(bytes, code));
  need(isObject(data) && data['type'] === 'webauthn.get', code, '6.4');
  need(data['origin'] === statement['origin'] && data['crossOrigin'] !== true, code, '6.4');
  need(data['challenge'] === sha256(canonical(statement)).toString('base64url'), code, '6.4');
}

function assertAuthenticator({ rp_id }: JsonObject, data: Buffer): void {
  const code = 'ASSERTION_INVALID'; // 6.4
  need(data.length >= 37 && data.subarray(0, 32).equals(sha256(String(rp_id))), code, '6.4');
  const flags = data[32] ?? 0;
  need((flags & 0x05) === 0x05, code, '6.4');
}

/** Parses JSON that a browser wrote. It need not be I-JSON. */
function parsedLoosely(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject; // the caller checks isObject
  } catch {
    throw new Fault('ASSERTION_INVALID', '6.4');
  }
}

function utf8(bytes: Buffer, code: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Fault(code, '1.1');
  }
}

function isSignedBy(jwk: JsonObject, bytes: Buffer, signature: Buffer): boolean {
  if (!isSound(jwk)) return false;
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }); // the schema was checked
    if (jwk['kty'] === 'EC') return verify('sha256', bytes, { key, dsaEncoding: 'der' }, signature);
    return verify(jwk['kty'] === 'OKP' ? null : 'sha256', bytes, key, signature);
  } catch {
    return false;
  }
}

function isSound({ kty, x, y, n, e }: JsonObject): boolean {
  const has32Bytes = (text: typeof x) => fromBase64Url(text)?.length === 32; // 6.5
  if (kty === 'EC') return has32Bytes(x) && has32Bytes(y);
  if (kty === 'OKP') return has32Bytes(x);
  const [modulus, exponent] = [fromBase64Url(n), fromBase64Url(e)];
  if (!modulus?.[0] || !exponent?.[0]) return false;
  const bits = modulus.length * 8 - (Math.clz32(modulus[0]) - 24);
  const isOne = exponent.length === 1 && exponent[0] === 1;
  return bits >= 2048 && bits <= 8192 && ((exponent.at(-1) ?? 0) & 1) === 1 && !isOne;
}
