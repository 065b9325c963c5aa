import { isAppError } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import type { ApprovalRow } from '../src/approvals/approval-row.ts';
import type { ApprovalTermsRow } from '../src/voting/approval-terms.ts';
import type { Electorate } from '../src/voting/decision-rights.ts';
import { withCeremonyHash } from '../src/approvals/ceremony.ts';

export const nowMs = Date.parse('2026-03-01T12:00:00.000Z');
export const digest = (digit: string) => `sha256:${digit.repeat(64)}`;

/** A question of the agent's, with its hash. */
export function rowWith(changes: object = {}): ApprovalRow {
  const row = {
    ...{ id: 'apr_1', tenant: 'acme', state: 'pending', requestedBy: 'agent', session: 's1', action: 'tool.call' },
    ...{
      tool: 'mail.send',
      resource: null,
      effectLevel: 'E3',
      facts: {},
      argsHash: digest('a'),
      argsEncrypted: 'AA==',
    },
    demand: { tool_calls: 1, spend_micros: null, egress_bytes: 0, writes: 1 },
    ...{ intentHash: digest('b'), judgedHash: digest('c'), policyHash: digest('d'), policyEpoch: 1, receiptId: null },
    preconditions: { tool_definition_hash: null, budgets: null },
    ...{ reason: 'Mail goes out.', quorum: 2, approvers: [], sponsor: null },
    ...{ approvedBy: [], approvedWith: [], approvedAs: [], approvedCredentials: [] },
    ...{ scope: 'once', usesRemaining: 1 },
    ...{
      rejectionReason: null,
      timelockSeconds: 0,
      brokenBy: null,
      brokenReason: null,
      brokenAtMs: null,
      timelockUntilMs: null,
      createdAtMs: nowMs - 1000,
      updatedAtMs: nowMs - 1000,
    },
    expiresAtMs: nowMs + 1000,
    ...changes,
  };
  return withCeremonyHash(nodeProvider, row as unknown as ApprovalRow); // a test writes plain names
}

/** A tenant without a list of members, where one person may break the glass. */
export const electorate = (changes: object = {}) =>
  ({ terms: termsWith(), members: null, isRevoked: () => false, ...changes }) as Electorate;
export const termsWith = (changes: object = {}) =>
  ({ breakGlass: true, signaturesOnly: false, passkeysSinceMs: null, ...changes }) as ApprovalTermsRow;

/** The error of a refusal. */
export function refusalOf(act: () => unknown): object {
  try {
    act();
  } catch (error) {
    if (isAppError(error)) return { code: error.code, param: error.param, details: error.details };
    throw error;
  }
  throw new Error('nothing was refused');
}
