import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { intentHash } from '@countersign/receipts';
import { glassRecord, verified, voteRecord, voucherRecord, type Wrongs } from './ceremony-fixture.ts';
import { hashOf, recordOf, type Members } from './chain-fixture.ts';

/** Evidence of break glass without a passkey, so that the check of passkeys cannot find the fault. */
const broken = (wrongs: Wrongs = {}) =>
  glassRecord({ ...wrongs, evidence: { credential: 'access_key', ...wrongs.evidence } });
const lying = 'must occur together';

function refused(record: Members, words: string): void {
  let thrown: unknown = null;
  try {
    verified(record);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({
    ...{ name: 'VerificationError', code: 'MALFORMED' },
    message: expect.stringContaining(words),
  });
}

describe('break glass', () => {
  it.each(['passkey', 'access_key', 'assertion'])(
    'verifies when the person is proven by the credential %s',
    (credential) => {
      const record = glassRecord({ evidence: { credential } });
      expect(verified(record)).toBe(record);
    },
  );

  it('is refused without an approval', () => {
    refused(broken({ record: { approval_id: null } }), 'the break_glass record names no approval');
  });

  it.each<[string, Wrongs]>([
    ['no credential', { evidence: { credential: undefined } }],
    ['an operator key', { evidence: { credential: 'operator_bearer' } }],
    ['no reason', { evidence: { reason: undefined } }],
    ['a blank reason', { evidence: { reason: ' ' } }],
    ['no hash of the approved call', { evidence: { approved_judged_hash: undefined } }],
    ['no expiry', { evidence: { expires_at: undefined } }],
    ['an expiry that is not a time', { evidence: { expires_at: 'soon' } }],
  ])('is refused with %s', (_, wrongs) => {
    refused(broken(wrongs), 'broken glass: ');
  });

  it.each(['approval.approve', 'approval.deny', 'tool.call'])('is refused under the action %s', (action) => {
    refused(broken({ intent: { action } }), lying);
  });
});

describe('a record without break glass', () => {
  const action = 'approval.break_glass';

  it.each<[string, Members]>([
    ['a vote', voteRecord({ intent: { action }, evidence: { credential: 'access_key' } })],
    ['a voucher', voucherRecord({ intent: { action }, evidence: { credential: 'access_key' } })],
    ['a registry record with the evidence of break glass', broken({ record: { kind: 'registry' } })],
  ])('is refused when its action claims break glass: %s', (_, record) => {
    refused(record, lying);
  });

  it('is accepted when the caller of a decision chose this name for its action', () => {
    const record = recordOf(1, { intent: intentOf(action) });
    expect(verified(record)).toBe(record);
  });

  it('needs neither approval nor reason', () => {
    const record = voteRecord({ record: { approval_id: null }, evidence: { credential: 'access_key' } });
    expect(verified(record)).toBe(record);
  });
});

/** The intent of a call with this action, by the agent of the fixtures. */
function intentOf(action: string): Members {
  const args_hash = hashOf('args');
  const named = { tenant: 'acme', principal: 'agent-1', session: 'session-1', tool: 'mail.send', resource: null };
  const intent_hash = intentHash(nodeProvider, { ...named, action, args_hash } as never); // args_hash is a digest
  return { action, args_hash, intent_hash };
}
