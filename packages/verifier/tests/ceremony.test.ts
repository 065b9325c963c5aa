import { describe, expect, it } from '@jest/globals';
import { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { portableProvider, publicKeyToJwk } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyExport, type VerificationErrorCode } from '../src/index.ts';
import { assertCeremony } from '../src/verify-ceremony.ts';
import {
  clientTextOf,
  ed25519Passkey,
  encoded,
  enrolledKey,
  glassRecord,
  p256Passkey,
  passkey,
  verified,
  voteRecord,
  voucherRecord,
  type Wrongs,
} from './ceremony-fixture.ts';
import {
  chainOfRecords,
  exportOf,
  hashOf,
  idOf,
  linesOf,
  logSigner,
  recordOf,
  testKeys,
  type Members,
} from './chain-fixture.ts';

type Fault = { code: VerificationErrorCode; message: unknown };
type Kind = [name: string, recordWith: (wrongs?: Wrongs) => Members];

const kinds: Kind[] = [
  ['a vote', voteRecord],
  ['break glass', glassRecord],
  ['a voucher', voucherRecord],
];
const votes = kinds.slice(0, 2);
const another = { digest: hashOf('another'), approval: idOf('apr', 8) };

/** Expects only the words that distinguish one check from the others. */
const fault = (code: VerificationErrorCode, words: string): Fault => ({
  code,
  message: expect.stringContaining(words),
});
const otherOrigin = fault('ASSERTION_INVALID', 'a different origin');
const otherParty = fault('ASSERTION_INVALID', 'a different relying party');
const unattended = fault('ASSERTION_INVALID', 'without verifying');
const otherMember = (name: string) => fault('ASSERTION_MISMATCH', `signed differs from the ${name} in the record`);
const ranOut = fault('ASSERTION_MISMATCH', 'the challenge expired');

function refused(record: Members, wanted: Fault, provider = nodeProvider): void {
  let thrown: unknown = null;
  try {
    verified(record, provider);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ name: 'VerificationError', ...wanted });
}

describe.each(kinds)('%s with a passkey', (_, recordWith) => {
  it.each([
    ['P-256', p256Passkey()],
    ['Ed25519', ed25519Passkey()],
  ])('verifies with a key of type %s', (_name, signer) => {
    const record = recordWith({ passkey: signer });
    expect(verified(record)).toBe(record);
  });

  it.each<[string, Wrongs]>([
    ['does not state crossOrigin', { clientData: { crossOrigin: undefined } }],
    ['has additional client data', { clientData: { topOrigin: 'https://example.org', other_keys: ['a', { b: 1 }] } }],
    ['has the largest client data', { clientText: clientTextOf(recordWith(), 8_192) }],
    ['has extension data', { authenticator: { bytes: 38 } }],
    ['has additional flags', { authenticator: { flags: 0x1d } }],
    ['has only the two required flags', { authenticator: { flags: 0x05 } }],
  ])('verifies when the assertion %s', (_name, wrongs) => {
    const record = recordWith(wrongs);
    expect(verified(record)).toBe(record);
  });

  it('must be committed no later than its challenge expires', () => {
    refused(recordWith({ statement: { expires_at: '2026-02-01T00:00:00.999Z' } }), ranOut);
    for (const expires_at of ['2026-02-01T00:00:01.000Z', '2026-02-01T00:00:01.001Z'])
      expect(() => verified(recordWith({ statement: { expires_at } }))).not.toThrow();
    refused(recordWith({ record: { created_at: '2026-02-01T00:00:01.001Z' } }), ranOut);
  });

  const [p256, ed25519] = [p256Passkey(), ed25519Passkey()];
  it.each([p256, ed25519])('verifies in a browser, which refuses another key', (signer) => {
    const record = recordWith({ passkey: signer });
    expect(verified(record, portableProvider)).toBe(record);
    const wrong = recordWith({ passkey: signer, evidence: { public_key: passkey.publicKey } });
    refused(wrong, fault('ASSERTION_INVALID', 'signature that does not verify'), portableProvider);
  });
});

describe.each(votes)('%s with a passkey is refused', (kind, recordWith) => {
  it.each<[string, Wrongs]>([
    ['approval_id', { statement: { approval_id: another.approval } }],
    ['tenant_id', { statement: { tenant_id: 'other' } }],
    ['approver_id', { statement: { approver_id: 'grace' } }],
    ['decision', { statement: { decision: 'deny' } }],
    ['tool', { statement: { tool: 'mail.read' } }],
    ['tool', { statement: { tool: null } }],
    ['tool', { intent: { tool: null } }],
    ['resource', { statement: { resource: 'safe' } }],
    ['resource', { statement: { resource: null } }],
    ['resource', { intent: { resource: null } }],
    ['effect_level', { statement: { effect_level: 'E4' } }],
    ['intent_hash', { statement: { intent_hash: another.digest } }],
    ['intent_hash', { evidence: { approved_intent_hash: another.digest } }],
    ['judged_hash', { statement: { judged_hash: another.digest } }],
    ['judged_hash', { evidence: { approved_judged_hash: another.digest } }],
    ['policy_hash', { statement: { policy_hash: another.digest } }],
    ['policy_hash', { statement: { policy_hash: null } }],
    ['policy_hash', { record: { policy_hash: null } }],
    ['ceremony_hash', { statement: { ceremony_hash: another.digest } }],
    ['ceremony_hash', { evidence: { ceremony_hash: another.digest } }],
    ['reason', { statement: { reason: kind === 'a vote' ? 'a fire' : 'a flood' } }],
    ['reason', { statement: { reason: '' } }],
  ])('when the passkey signed another %s: %j', (name, wrongs) => {
    refused(recordWith(wrongs), otherMember(name));
  });

  it('without a tool, resource or policy, unless the record has none either', () => {
    const none = { tool: null, resource: null };
    const both = { statement: { ...none, policy_hash: null }, intent: none, record: { policy_hash: null } };
    expect(() => verified(recordWith(both))).not.toThrow();
  });

  it.each(['statement', 'public_key', 'client_data_json', 'signature', 'ceremony_hash', 'approved_intent_hash'])(
    'without the member %s',
    (name) => {
      refused(recordWith({ evidence: { [name]: undefined } }), fault('MALFORMED', `assertion: `));
    },
  );
});

describe('the state of an approval after a vote', () => {
  const deny = { statement: { decision: 'deny' }, intent: { action: 'approval.deny' }, record: { verdict: 'DENY' } };
  const after = (state: string | undefined, wrongs: Wrongs = {}) => ({ ...wrongs, evidence: { state } });

  it('is the state that the vote leads to', () => {
    for (const state of ['pending', 'approved']) expect(() => verified(voteRecord(after(state)))).not.toThrow();
    const revoke = { ...deny, statement: { decision: 'revoke' }, intent: { action: 'approval.revoke' } };
    expect(() => verified(voteRecord(after('revoked', revoke)))).not.toThrow();
    expect(() => verified(voteRecord(after('denied', deny)))).not.toThrow();
    expect(() => verified(glassRecord(after('approved')))).not.toThrow();
  });

  it.each<[string, string, Members]>([
    ['approve', 'denied', voteRecord(after('denied'))],
    ['approve', 'consumed', voteRecord(after('consumed'))],
    ['deny', 'pending', voteRecord(after('pending', deny))],
    ['deny', 'approved', voteRecord(after('approved', deny))],
    ['break_glass', 'pending', glassRecord(after('pending'))],
    ['break_glass', 'denied', glassRecord(after('denied'))],
  ])('cannot be another one: %s cannot lead to %s', (decision, state, record) => {
    refused(
      record,
      fault(
        'APPROVAL_CONTRADICTED',
        `approval.${decision} with ${decision === 'deny' ? 'DENY' : 'ALLOW'} cannot leave an approval ${state}`,
      ),
    );
  });

  it('must match the vote for any credential, verdict and action', () => {
    const byKey = (state: string, action: string, verdict: string) =>
      voteRecord({ evidence: { credential: 'access_key', state }, intent: { action }, record: { verdict } });
    const others: Members[] = [
      byKey('approved', 'approval.deny', 'DENY'),
      byKey('approved', 'approval.approve', 'DENY'),
      byKey('denied', 'approval.deny', 'ALLOW'),
      byKey('approved', 'approval.expire', 'DENY'),
      byKey('approved', 'approval.bless', 'ALLOW'),
    ];
    for (const record of others) refused(record, fault('APPROVAL_CONTRADICTED', 'cannot leave an approval'));
    expect(() => verified(byKey('denied', 'approval.deny', 'DENY'))).not.toThrow();
    expect(() => verified(byKey('expired', 'approval.expire', 'DENY'))).not.toThrow();
  });

  it('must be recorded', () => {
    refused(voteRecord(after(undefined)), fault('MALFORMED', 'at /state'));
  });

  it('must be reached by a vote before the expiry that the approver saw', () => {
    const ending = (approval_expires_at: string) => ({ statement: { approval_expires_at } });
    for (const recordWith of [voteRecord, glassRecord]) {
      refused(recordWith(ending('2026-02-01T00:00:01.000Z')), fault('ASSERTION_MISMATCH', 'the approval had expired'));
      expect(() => verified(recordWith(ending('2026-02-01T00:00:01.001Z')))).not.toThrow();
    }
  });
});

describe('the reason of a vote', () => {
  it('is recorded and not signed', () => {
    expect(() => verified(voteRecord({ evidence: { reason: 'looks well' } }))).not.toThrow();
    refused(
      voteRecord({ statement: { reason: 'looks well' }, evidence: { reason: 'looks well' } }),
      otherMember('reason'),
    );
  });

  it('is signed for break glass', () => {
    refused(glassRecord({ statement: { reason: undefined } }), otherMember('reason'));
    refused(glassRecord({ evidence: { reason: 'a flood' } }), otherMember('reason'));
  });

  it('is required by the rule for break glass, but not by the rule for passkeys', () => {
    const record = glassRecord({ statement: { reason: undefined }, evidence: { reason: undefined } });
    refused(record, fault('MALFORMED', 'broken glass: '));
    expect(() => assertCeremony(BoundaryRecord.parse(record), nodeProvider)).not.toThrow();
  });
});

describe('a voucher is refused', () => {
  const strange = { ...publicKeyToJwk(logSigner.publicKey) };

  it.each<[string, Wrongs]>([
    ['action', { intent: { action: 'passkey.enrol' } }],
    ['tenant_id', { statement: { tenant_id: 'other' } }],
    ['vouched_by', { statement: { vouched_by: 'grace' } }],
    ['principal_id', { statement: { principal_id: 'ada' } }],
    ['principal_id', { evidence: { principal_id: 'eve' } }],
    ['credential_id', { statement: { credential_id: 'YWRh' } }],
    ['credential_id', { evidence: { enrolled_credential_id: 'YWRh' } }],
    ['public_key', { statement: { public_key: strange } }],
    ['public_key', { evidence: { enrolled_public_key: strange } }],
    ['public_key', { evidence: { enrolled_public_key: passkey.publicKey } }],
  ])('when the passkey signed another %s: %j', (name, wrongs) => {
    refused(voucherRecord(wrongs), otherMember(name));
  });

  it('when its credential is not a passkey', () => {
    const record = voucherRecord({ evidence: { credential: 'operator_bearer' } });
    refused(record, fault('MALFORMED', 'at /credential'));
  });

  it.each(['credential', 'statement', 'public_key', 'enrolled_credential_id', 'enrolled_public_key', 'principal_id'])(
    'without the member %s',
    (name) => {
      refused(voucherRecord({ evidence: { [name]: undefined } }), fault('MALFORMED', 'assertion: '));
    },
  );

  it("but not when only the order of the key's members differs", () => {
    const turned = Object.fromEntries(Object.entries(enrolledKey).reverse());
    expect(() => verified(voucherRecord({ evidence: { enrolled_public_key: turned } }))).not.toThrow();
  });
});

describe.each(kinds)('the assertion of %s is refused', (_, recordWith) => {
  const made = recordWith();
  const { facts } = made['intent'] as { facts: Record<string, string> & { statement: Members } }; // the fixture made it
  const stray = { client: encoded('{}x').slice(0, -1), data: facts['authenticator_data']?.replace(/.$/, 'B') ?? '' };

  it.each<[string, Wrongs, Fault]>([
    ['is a registration', { clientData: { type: 'webauthn.create' } }, fault('ASSERTION_INVALID', 'webauthn.get')],
    [
      'answers a challenge other than',
      { clientData: { challenge: 'b3RoZXI' } },
      fault('ASSERTION_INVALID', 'a challenge other than'),
    ],
    ['is from another origin', { clientData: { origin: 'https://evil.example' } }, otherOrigin],
    ['belongs to a statement for another origin', { statement: { origin: 'https://evil.example' } }, otherOrigin],
    ['is from a cross-origin frame', { clientData: { crossOrigin: true } }, otherOrigin],
    [
      'has authenticator data that is one byte too short',
      { authenticator: { bytes: 36 } },
      fault('ASSERTION_INVALID', 'too little authenticator data'),
    ],
    ['is for another relying party', { authenticator: { rpId: 'evil.example' } }, otherParty],
    ['belongs to a statement for another relying party', { statement: { rp_id: 'evil.example' } }, otherParty],
    ['lacks only the presence flag', { authenticator: { flags: 0xfe } }, unattended],
    ['lacks only the verification flag', { authenticator: { flags: 0xfb } }, unattended],
    ['has no flags', { authenticator: { flags: 0x00 } }, unattended],
  ])('when it %s, even with a valid signature', (_name, wrongs, wanted) => {
    refused(recordWith(wrongs), wanted);
  });

  it.each<[string, Wrongs]>([
    ['of another passkey', { evidence: { signature: recordSignature(recordWith({ passkey: p256Passkey() })) } }],
    ['under another key', { evidence: { public_key: p256Passkey().publicKey } }],
    ['under a key of another kind', { evidence: { public_key: enrolledKey } }],
    ['under a key that is not a point of the curve', { evidence: { public_key: { ...passkey.publicKey, x: 'AA' } } }],
    ['over other client data', { evidence: { client_data_json: encoded(`${clientTextOf(made)} `) } }],
    ['over another counter', { evidence: { authenticator_data: counted(facts['authenticator_data']) } }],
    ['that is malformed', { evidence: { signature: 'AA' } }],
  ])('with a signature %s', (_name, wrongs) => {
    refused(recordWith(wrongs), fault('ASSERTION_INVALID', 'signature that does not verify'));
  });

  it.each(['nonce', 'expires_at'])('when the %s in the statement differs from the signed one', (name) => {
    const message = { nonce: 'YW5vdGhlcg', expires_at: '2027-01-01T00:00:00.000Z' }[name] ?? '';
    const evidence = { statement: { ...facts.statement, [name]: message } };
    refused(recordWith({ evidence }), fault('ASSERTION_INVALID', 'a challenge other than'));
  });

  it.each([
    ['client_data_json', stray.client],
    ['client_data_json', 'A'],
    ['authenticator_data', stray.data],
    ['signature', 'AB'],
    ['signature', 'A'],
  ])('when its %s is %s, which no kernel writes', (name, text) => {
    refused(recordWith({ evidence: { [name]: text } }), fault('MALFORMED', 'not canonical base64url'));
  });

  it.each([
    ['not JSON', '{'],
    ['blank', ' '],
    ['one byte too large', clientTextOf(made, 8_193)],
    ['nested too deeply', clientTextOf(made).replace(/}$/, `,"x":${'['.repeat(8)}${']'.repeat(8)}}`)],
    ['JSON with a duplicate member', clientTextOf(made).replace(/}$/, ',"type":"webauthn.get"}')],
  ])('when its client data is %s', (_name, clientText) => {
    refused(recordWith({ clientText }), fault('MALFORMED', 'is not JSON'));
  });

  it('but not for client data with the maximum nesting', () => {
    const clientText = clientTextOf(made).replace(/}$/, `,"x":${'['.repeat(7)}${']'.repeat(7)}}`);
    expect(() => verified(recordWith({ clientText }))).not.toThrow();
  });

  it.each<[string, Wrongs]>([
    ['is a list', { clientText: '[]' }],
    ['is null', { clientText: 'null' }],
    ['has no type', { clientData: { type: undefined } }],
    ['has no challenge', { clientData: { challenge: undefined } }],
    ['has no origin', { clientData: { origin: undefined } }],
    ['has a text for crossOrigin', { clientData: { crossOrigin: 'true' } }],
  ])('when its client data %s', (_name, wrongs) => {
    refused(recordWith(wrongs), fault('MALFORMED', 'client data: '));
  });
});

describe('a record that no passkey signed', () => {
  const evil = { clientData: { type: 'webauthn.create' } };

  it.each<[string, Members]>([
    ['a vote with an access key', voteRecord({ ...evil, evidence: { credential: 'access_key' } })],
    ['a vote without a credential', voteRecord({ ...evil, evidence: { credential: undefined } })],
    ['break glass with an access key', glassRecord({ ...evil, evidence: { credential: 'access_key' } })],
    [
      'a passkey that an operator key accepted',
      voucherRecord({ ...evil, intent: { action: 'passkey.accept' }, evidence: { credential: 'operator_bearer' } }),
    ],
    ['a decision with a fact named credential', recordOf(1, { intent: { facts: { credential: 'passkey' } } })],
    ['a registry record in the form of a voucher', voucherRecord({ ...evil, record: { kind: 'registry' } })],
  ])('needs no assertion: %s', (_, record) => {
    expect(verified(record)).toBe(record);
  });
});

describe('an export with a vote by passkey', () => {
  const reportOn = async (record: Members, provider = nodeProvider) => {
    const lines = linesOf(await exportOf([chainOfRecords([record])]));
    return verifyExport(lines, { trust: parseKeySet(testKeys()), provider });
  };

  it('verifies only with its assertion, with the same report on every platform', async () => {
    const [whole, without] = [voteRecord(), voteRecord({ evidence: { signature: 'AA' } })];
    expect(await reportOn(whole)).toMatchObject({ verdict: 'VERIFIED', fault: null });
    expect(await reportOn(without)).toMatchObject({
      ...{ verdict: 'NOT_VERIFIED', fault: { code: 'ASSERTION_INVALID', line: 3 } },
    });
    for (const record of [whole, without])
      expect(await reportOn(record, portableProvider)).toEqual(await reportOn(record));
  });
});

function recordSignature(record: Members): string {
  const { facts } = record['intent'] as { facts: { signature: string } }; // the fixture made it
  return facts.signature;
}

/** The same authenticator data with 1 as its last byte, which is part of the counter. */
function counted(data = ''): string {
  const bytes = Buffer.from(data, 'base64url');
  bytes.set([1], bytes.length - 1);
  return bytes.toString('base64url');
}
