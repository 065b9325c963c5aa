import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, ReceiptId } from '@countersign/contracts';
import {
  getReceipt,
  listRecords,
  type BoundaryRecord,
  type PolicyInForce,
  type PolicyTest,
} from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { failedTests, PolicyError, testOfRecord, withTest, type CompiledPolicy } from '@countersign/policy';
import { VerificationError, verifyLedgerEntry, verifyRecord } from '@countersign/verifier';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { knownId } from '../siblings/known-id.ts';
import { trustedKeys } from '../trust/trusted-keys.ts';
import { witnessed } from '../trust/witnessed.ts';
import { ceilingTexts, compileUntested } from './compile-draft.ts';
import { findRecordedPolicy } from './recorded-policy.ts';

type Kept = { text: string; record: BoundaryRecord; name: string; expect: PolicyTest['expect'] };
type Made = {
  /** The draft including the test. */
  text: string;
  test: PolicyTest;
  passes: boolean;
};

/**
 * Adds a decision to the draft as a test. Throws ILLEGAL_TRANSITION when the draft or the record does not permit that.
 */
export async function keepAsTest(
  context: Pick<Context, 'kernel'>,
  { text, record, name, expect }: Kept,
  { inForce, caller, signal }: { inForce: PolicyInForce; caller: WorkspaceCaller; signal: AbortSignal },
): Promise<Made> {
  const draft = await compileUntested(text, signal).catch(refuseDraft);
  const recorded = await recordedPolicyOf(context, record, caller);
  const under = { draft, recorded, ceilings: ceilingTexts(inForce) };
  const made = testOfRecord(record, under, { name, expect });
  if (made.kind === 'UNREPLAYABLE')
    throw new AppError(
      'ILLEGAL_TRANSITION',
      'The record of this call lacks facts that the draft reads, so it cannot become a test',
      {
        param: 'receipt_id',
        details: { missing: made.missing },
      },
    );
  if (made.kind === 'not_by_rules')
    throw new AppError('ILLEGAL_TRANSITION', 'The draft decides this call without a rule, so it cannot become a test', {
      param: 'receipt_id',
      details: { reason_code: made.reason_code },
    });
  await nextTurn();
  const { test } = made;
  return { text: textWith(text, test), test, passes: failedTests(draft, [test]).length === 0 };
}

/** A decision of the caller's workspace with its record, both verified. Throws NOT_FOUND and ILLEGAL_TRANSITION. */
export async function getDecision(
  context: Pick<Context, 'kernel' | 'keyRing'>,
  text: string,
  caller: WorkspaceCaller,
): Promise<BoundaryRecord> {
  const receipt_id = knownId(ReceiptId, text);
  const client = context.kernel.as(caller.assertion, { getReceipt, listRecords });
  const receipt = await answerOf('kernel', () => client.getReceipt({ params: { receipt_id } }));
  const { data } = await answerOf('kernel', () => client.listRecords({ query: { receipt_id, limit: 1 } }));
  const keys = await trustedKeys(context);
  const shown = await witnessed(context, receipt, { keys, ...caller });
  try {
    const { payload } = verifyLedgerEntry(shown, keys, nodeProvider);
    if (payload.receipt_id !== receipt_id || payload.tenant_id !== String(caller.workspaceId)) throw notKept('FOREIGN');
    if (payload.kind !== 'decision' || payload.shadow) throw notKept('NO_DECISION');
    return verifyRecord(data[0], receipt, nodeProvider);
  } catch (error) {
    if (error instanceof VerificationError) throw notKept(error.code);
    throw error;
  }
}

function notKept(fault: string): AppError {
  return new AppError('ILLEGAL_TRANSITION', 'The receipt is not of a decision, or does not verify', {
    param: 'receipt_id',
    details: { fault },
  });
}

async function recordedPolicyOf(
  context: Pick<Context, 'kernel'>,
  { policy_hash: hash }: BoundaryRecord,
  { workspaceId }: WorkspaceCaller,
): Promise<CompiledPolicy | 'none' | 'unknown'> {
  if (hash === null) return 'none';
  return (await findRecordedPolicy(context, workspaceId, hash)) ?? 'unknown';
}

function textWith(text: string, test: PolicyTest): string {
  try {
    return withTest(text, test);
  } catch (error) {
    return refuseDraft(error);
  }
}

function refuseDraft(error: unknown): never {
  if (!(error instanceof PolicyError)) throw error;
  throw new AppError('ILLEGAL_TRANSITION', `The test cannot be added to the draft: ${error.message}`, {
    details: { code: error.code, path: error.path },
  });
}
