import { isAppError } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import type { ApprovalRow } from '../src/controls/approvals/approval-row.ts';
import type { ApprovalTermsRow } from '../src/controls/voting/approval-terms.ts';
import type { Electorate } from '../src/controls/voting/decision-rights.ts';
import { withCeremonyHash } from '../src/controls/approvals/ceremony.ts';

export const nowMs = Date.parse('2026-03-01T12:00:00.000Z');
export const digest = (digit: string) => `sha256:${digit.repeat(64)}`;

/** A pending approval that an agent requested, with its ceremony hash. */
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
  return withCeremonyHash(nodeProvider, row as unknown as ApprovalRow); // plain strings instead of branded ones
}

/** The electorate of a tenant without a member list, where one person may break the glass. */
export const electorate = (changes: object = {}) =>
  ({ terms: termsWith(), members: null, isRevoked: () => false, ...changes }) as Electorate;
export const termsWith = (changes: object = {}) =>
  ({ breakGlass: true, signaturesOnly: false, passkeysSinceMs: null, ...changes }) as ApprovalTermsRow;

/** Code, parameter and details of the error that `act` throws. */
export function refusalOf(act: () => unknown): object {
  try {
    act();
  } catch (error) {
    if (isAppError(error)) return { code: error.code, param: error.param, details: error.details };
    throw error;
  }
  throw new Error('nothing was refused');
}
