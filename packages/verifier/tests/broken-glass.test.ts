import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { intentHash } from '@countersign/receipts';
import { glassRecord, verified, voteRecord, voucherRecord, type Wrongs } from './ceremony-fixture.ts';
import { hashOf, recordOf, type Members } from './chain-fixture.ts';

/** Nothing but the evidence of broken glass, so that no passkey finds the fault. */
const broken = (wrongs: Wrongs = {}) =>
  glassRecord({ ...wrongs, evidence: { credential: 'access_key', ...wrongs.evidence } });
const lying = 'does not say of itself what it is';

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

describe('broken glass', () => {
  it.each(['passkey', 'access_key', 'assertion'])(
    'verifies where the person is proven by credential %s',
    (credential) => {
      const record = glassRecord({ evidence: { credential } });
      expect(verified(record)).toBe(record);
    },
  );

  it('is refused where it names no approval', () => {
    refused(broken({ record: { approval_id: null } }), 'broken glass names no approval');
  });

  it.each<[string, Wrongs]>([
    ['no credential', { evidence: { credential: undefined } }],
    ['the key of the operators', { evidence: { credential: 'operator_bearer' } }],
    ['no reason', { evidence: { reason: undefined } }],
    ['a blank reason', { evidence: { reason: ' ' } }],
    ['no call that it lets go', { evidence: { approved_judged_hash: undefined } }],
    ['no end', { evidence: { expires_at: undefined } }],
    ['an end that is no time', { evidence: { expires_at: 'soon' } }],
  ])('is refused with %s', (_, wrongs) => {
    refused(broken(wrongs), 'broken glass: ');
  });

  it.each(['approval.approve', 'approval.deny', 'tool.call'])('is refused where it calls itself %s', (action) => {
    refused(broken({ intent: { action } }), lying);
  });
});

describe('what is no broken glass', () => {
  const action = 'approval.break_glass';

  it.each<[string, Members]>([
    ['a vote', voteRecord({ intent: { action }, evidence: { credential: 'access_key' } })],
    ['a voucher', voucherRecord({ intent: { action }, evidence: { credential: 'access_key' } })],
    ['an announcement with all of its evidence', broken({ record: { kind: 'registry' } })],
  ])('is refused where it calls itself that: %s', (_, record) => {
    refused(record, lying);
  });

  it('is left alone where a decision has the word from its caller', () => {
    const record = recordOf(1, { intent: intentOf(action) });
    expect(verified(record)).toBe(record);
  });

  it('needs neither approval nor reason', () => {
    const record = voteRecord({ record: { approval_id: null }, evidence: { credential: 'access_key' } });
    expect(verified(record)).toBe(record);
  });
});

/** The intent of a call of that name, by the agent of the fixtures. */
function intentOf(action: string): Members {
  const args_hash = hashOf('args');
  const named = { tenant: 'acme', principal: 'agent-1', session: 'session-1', tool: 'mail.send', resource: null };
  const intent_hash = intentHash(nodeProvider, { ...named, action, args_hash } as never); // args_hash is a digest
  return { action, args_hash, intent_hash };
}
