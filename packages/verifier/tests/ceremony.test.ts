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
  ['broken glass', glassRecord],
  ['a voucher', voucherRecord],
];
const votes = kinds.slice(0, 2);
const another = { digest: hashOf('another'), approval: idOf('apr', 8) };

/** Only the words that distinguish one guard from the others. */
const fault = (code: VerificationErrorCode, words: string): Fault => ({
  code,
  message: expect.stringContaining(words),
});
const otherMember = (name: string) => fault('ASSERTION_MISMATCH', `signed another ${name} than the record says`);
const ranOut = fault('ASSERTION_MISMATCH', 'ran out');

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
  ])('verifies by a key of %s', (_name, signer) => {
    const record = recordWith({ passkey: signer });
    expect(verified(record)).toBe(record);
  });

  it.each<[string, Wrongs]>([
    ['says nothing of other origins', { clientData: { crossOrigin: undefined } }],
    ['says more of its page', { clientData: { topOrigin: 'https://example.org', other_keys: ['a', { b: 1 }] } }],
    ['has the largest client data', { clientText: clientTextOf(recordWith(), 8_192) }],
    ['has data of extensions', { authenticator: { bytes: 38 } }],
    ['says more of the authenticator', { authenticator: { flags: 0x1d } }],
    ['has no other flags than the two', { authenticator: { flags: 0x05 } }],
  ])('verifies where the assertion %s', (_name, wrongs) => {
    const record = recordWith(wrongs);
    expect(verified(record)).toBe(record);
  });

  it('was committed before its challenge ran out, or at that very instant', () => {
    refused(recordWith({ statement: { expires_at: '2026-02-01T00:00:00.999Z' } }), ranOut);
    for (const expires_at of ['2026-02-01T00:00:01.000Z', '2026-02-01T00:00:01.001Z'])
      expect(() => verified(recordWith({ statement: { expires_at } }))).not.toThrow();
    refused(recordWith({ record: { created_at: '2026-02-01T00:00:01.001Z' } }), ranOut);
  });

  const [p256, ed25519] = [p256Passkey(), ed25519Passkey()];
  it.each([p256, ed25519])('verifies in a browser, and is refused there under the key of another', (signer) => {
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
  ])('where the passkey signed another %s: %j', (name, wrongs) => {
    refused(recordWith(wrongs), otherMember(name));
  });

  it('where it is of no approval, of no tool and of no policy only if the record says so too', () => {
    const none = { tool: null, resource: null };
    const both = { statement: { ...none, policy_hash: null }, intent: none, record: { policy_hash: null } };
    expect(() => verified(recordWith(both))).not.toThrow();
  });

  it.each(['statement', 'public_key', 'client_data_json', 'signature', 'ceremony_hash', 'approved_intent_hash'])(
    'where it has no %s',
    (name) => {
      refused(recordWith({ evidence: { [name]: undefined } }), fault('MALFORMED', `assertion: `));
    },
  );
});

describe('what a vote leaves of its approval', () => {
  const deny = { statement: { decision: 'deny' }, intent: { action: 'approval.deny' }, record: { verdict: 'DENY' } };
  const left = (state: string | undefined, wrongs: Wrongs = {}) => ({ ...wrongs, evidence: { state } });

  it('is what was signed', () => {
    for (const state of ['pending', 'approved']) expect(() => verified(voteRecord(left(state)))).not.toThrow();
    const revoke = { ...deny, statement: { decision: 'revoke' }, intent: { action: 'approval.revoke' } };
    expect(() => verified(voteRecord(left('revoked', revoke)))).not.toThrow();
    expect(() => verified(voteRecord(left('denied', deny)))).not.toThrow();
    expect(() => verified(glassRecord(left('approved')))).not.toThrow();
  });

  it.each<[string, string, Members]>([
    ['approve', 'denied', voteRecord(left('denied'))],
    ['approve', 'consumed', voteRecord(left('consumed'))],
    ['deny', 'pending', voteRecord(left('pending', deny))],
    ['deny', 'approved', voteRecord(left('approved', deny))],
    ['break_glass', 'pending', glassRecord(left('pending'))],
    ['break_glass', 'denied', glassRecord(left('denied'))],
  ])('is nothing else: %s never leaves it %s', (decision, state, record) => {
    refused(
      record,
      fault(
        'APPROVAL_CONTRADICTED',
        `approval.${decision} with ${decision === 'deny' ? 'DENY' : 'ALLOW'} leaves no approval ${state}`,
      ),
    );
  });

  it('follows from the move whatever the credential, the verdict and the name of the move', () => {
    const byKey = (state: string, action: string, verdict: string) =>
      voteRecord({ evidence: { credential: 'access_key', state }, intent: { action }, record: { verdict } });
    const others: Members[] = [
      byKey('approved', 'approval.deny', 'DENY'),
      byKey('approved', 'approval.approve', 'DENY'),
      byKey('denied', 'approval.deny', 'ALLOW'),
      byKey('approved', 'approval.expire', 'DENY'),
      byKey('approved', 'approval.bless', 'ALLOW'),
    ];
    for (const record of others) refused(record, fault('APPROVAL_CONTRADICTED', 'leaves no approval'));
    expect(() => verified(byKey('denied', 'approval.deny', 'DENY'))).not.toThrow();
    expect(() => verified(byKey('expired', 'approval.expire', 'DENY'))).not.toThrow();
  });

  it('is told', () => {
    refused(voteRecord(left(undefined)), fault('MALFORMED', 'at /state'));
  });

  it('came while the approval stood, as it was shown', () => {
    const ending = (approval_expires_at: string) => ({ statement: { approval_expires_at } });
    for (const recordWith of [voteRecord, glassRecord]) {
      refused(recordWith(ending('2026-02-01T00:00:01.000Z')), fault('ASSERTION_MISMATCH', 'the approval had expired'));
      expect(() => verified(recordWith(ending('2026-02-01T00:00:01.001Z')))).not.toThrow();
    }
  });
});

describe('the reason of a vote', () => {
  it('is said, and not signed', () => {
    expect(() => verified(voteRecord({ evidence: { reason: 'looks well' } }))).not.toThrow();
    refused(
      voteRecord({ statement: { reason: 'looks well' }, evidence: { reason: 'looks well' } }),
      otherMember('reason'),
    );
  });

  it('is signed where glass is broken', () => {
    refused(glassRecord({ statement: { reason: undefined } }), otherMember('reason'));
    refused(glassRecord({ evidence: { reason: 'a flood' } }), otherMember('reason'));
  });

  it('is missed where glass is broken by the rule for broken glass, and not by that for passkeys', () => {
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
  ])('where the passkey signed another %s: %j', (name, wrongs) => {
    refused(voucherRecord(wrongs), otherMember(name));
  });

  it('where another key than a passkey is said to have signed it', () => {
    const record = voucherRecord({ evidence: { credential: 'operator_bearer' } });
    refused(record, fault('MALFORMED', 'at /credential'));
  });

  it.each(['credential', 'statement', 'public_key', 'enrolled_credential_id', 'enrolled_public_key', 'principal_id'])(
    'where it has no %s',
    (name) => {
      refused(voucherRecord({ evidence: { [name]: undefined } }), fault('MALFORMED', 'assertion: '));
    },
  );

  it('unless the same key is only written in another order', () => {
    const turned = Object.fromEntries(Object.entries(enrolledKey).reverse());
    expect(() => verified(voucherRecord({ evidence: { enrolled_public_key: turned } }))).not.toThrow();
  });
});

describe.each(kinds)('the assertion of %s is refused', (_, recordWith) => {
  const made = recordWith();
  const { facts } = made['intent'] as { facts: Record<string, string> & { statement: Members } }; // made by the fixture
  const stray = { client: encoded('{}x').slice(0, -1), data: facts['authenticator_data']?.replace(/.$/, 'B') ?? '' };

  it.each<[string, Wrongs, Fault]>([
    ['is no assertion', { clientData: { type: 'webauthn.create' } }, fault('ASSERTION_INVALID', 'is no assertion')],
    [
      'answers another challenge',
      { clientData: { challenge: 'b3RoZXI' } },
      fault('ASSERTION_INVALID', 'another challenge'),
    ],
    [
      'is of another origin',
      { clientData: { origin: 'https://evil.example' } },
      fault('ASSERTION_INVALID', 'another origin'),
    ],
    [
      'is of an origin that is not signed',
      { statement: { origin: 'https://evil.example' } },
      fault('ASSERTION_INVALID', 'another origin'),
    ],
    ['is of a page in a frame', { clientData: { crossOrigin: true } }, fault('ASSERTION_INVALID', 'another origin')],
    [
      'is a byte too short',
      { authenticator: { bytes: 36 } },
      fault('ASSERTION_INVALID', 'no data of an authenticator'),
    ],
    [
      'is of another party',
      { authenticator: { rpId: 'evil.example' } },
      fault('ASSERTION_INVALID', 'another relying party'),
    ],
    [
      'is of a party that is not signed',
      { statement: { rp_id: 'evil.example' } },
      fault('ASSERTION_INVALID', 'another relying party'),
    ],
    ['says all but presence', { authenticator: { flags: 0xfe } }, fault('ASSERTION_INVALID', 'without verifying')],
    ['says all but verification', { authenticator: { flags: 0xfb } }, fault('ASSERTION_INVALID', 'without verifying')],
    ['says nothing of a person', { authenticator: { flags: 0x00 } }, fault('ASSERTION_INVALID', 'without verifying')],
  ])('that %s, however well it is signed', (_name, wrongs, wanted) => {
    refused(recordWith(wrongs), wanted);
  });

  it.each<[string, Wrongs]>([
    ['of another passkey', { evidence: { signature: recordSignature(recordWith({ passkey: p256Passkey() })) } }],
    ['under another key', { evidence: { public_key: p256Passkey().publicKey } }],
    ['under a key of another kind', { evidence: { public_key: enrolledKey } }],
    ['under a key that is no point', { evidence: { public_key: { ...passkey.publicKey, x: 'AA' } } }],
    ['of other client data', { evidence: { client_data_json: encoded(`${clientTextOf(made)} `) } }],
    ['of another counter', { evidence: { authenticator_data: counted(facts['authenticator_data']) } }],
    ['that is none', { evidence: { signature: 'AA' } }],
  ])('for a signature %s', (_name, wrongs) => {
    refused(recordWith(wrongs), fault('ASSERTION_INVALID', 'signature that does not verify'));
  });

  it.each(['nonce', 'expires_at'])('where the statement says another %s than was signed', (name) => {
    const told = { nonce: 'YW5vdGhlcg', expires_at: '2027-01-01T00:00:00.000Z' }[name] ?? '';
    const evidence = { statement: { ...facts.statement, [name]: told } };
    refused(recordWith({ evidence }), fault('ASSERTION_INVALID', 'another challenge'));
  });

  it.each([
    ['client_data_json', stray.client],
    ['client_data_json', 'A'],
    ['authenticator_data', stray.data],
    ['signature', 'AB'],
    ['signature', 'A'],
  ])('where its %s is %s, which no kernel writes', (name, text) => {
    refused(recordWith({ evidence: { [name]: text } }), fault('MALFORMED', 'not canonical base64url'));
  });

  it.each([
    ['no JSON', '{'],
    ['nothing', ' '],
    ['one byte too large', clientTextOf(made, 8_193)],
    ['nested too deep', clientTextOf(made).replace(/}$/, `,"x":${'['.repeat(8)}${']'.repeat(8)}}`)],
    ['telling a member twice', clientTextOf(made).replace(/}$/, ',"type":"webauthn.get"}')],
  ])('where its client data is %s', (_name, clientText) => {
    refused(recordWith({ clientText }), fault('MALFORMED', 'is no JSON'));
  });

  it('unless its client data is nested no deeper than may be', () => {
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
  ])('where its client data %s', (_name, wrongs) => {
    refused(recordWith(wrongs), fault('MALFORMED', 'client data: '));
  });
});

describe('a record that no passkey signed', () => {
  const evil = { clientData: { type: 'webauthn.create' } };

  it.each<[string, Members]>([
    ['a vote with an access key', voteRecord({ ...evil, evidence: { credential: 'access_key' } })],
    ['a vote that says of no credential', voteRecord({ ...evil, evidence: { credential: undefined } })],
    ['broken glass with an access key', glassRecord({ ...evil, evidence: { credential: 'access_key' } })],
    [
      'a passkey that an operator key accepted',
      voucherRecord({ ...evil, intent: { action: 'passkey.accept' }, evidence: { credential: 'operator_bearer' } }),
    ],
    ['a decision whose caller calls itself that', recordOf(1, { intent: { facts: { credential: 'passkey' } } })],
    ['an announcement of another kind', voucherRecord({ ...evil, record: { kind: 'registry' } })],
  ])('is left alone: %s', (_, record) => {
    expect(verified(record)).toBe(record);
  });
});

describe('an export with a vote by passkey', () => {
  const reportOn = async (record: Members, provider = nodeProvider) => {
    const lines = linesOf(await exportOf([chainOfRecords([record])]));
    return verifyExport(lines, { trust: parseKeySet(testKeys()), provider });
  };

  it('is verified with its assertion and refused without, with one report on every platform', async () => {
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
  const { facts } = record['intent'] as { facts: { signature: string } }; // made by the fixture
  return facts.signature;
}

/** The same authenticator data with its last byte, which is of the counter, at one. */
function counted(data = ''): string {
  const bytes = Buffer.from(data, 'base64url');
  bytes.set([1], bytes.length - 1);
  return bytes.toString('base64url');
}
