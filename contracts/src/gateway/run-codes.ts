import type { ErrorCode } from '../error-codes.ts';
import type { ReasonCode } from '../reason-codes.ts';

/** Why a run or a step ended, where neither a decision nor an answer of the kernel says it. Each with its next step. */
export const runCodes = {
  ITERATION_BUDGET_EXHAUSTED: 'Ask for less at once, or raise maxIterationBudget in the settings.',
  RUN_ENDED: 'Nothing: the run ended before a decision about this call. Run the task again.',
  RUN_ABANDONED: 'Read the log of the gateway: what this run does ends its workers.',
  INTERRUPTED: 'Nothing: another worker takes the run over.',
  GOVERNANCE_NOT_CONFIGURED: 'Set GOV_GOVERNANCE_URL and its keys; nothing runs ungoverned.',
  GOVERNANCE_UNAVAILABLE:
    'See whether the kernel runs and can be reached, and by the receipts of the run what was made. Then run the task again.',
  GOVERNANCE_TIMEOUT:
    'See by the receipts of the run what was made, then run the task again; raise GOV_GOVERNANCE_TIMEOUT when its calls really take longer.',
  GOVERNANCE_MALFORMED: 'Run gateway and kernel of one version.',
  GOVERNANCE_REFUSED: 'Read the log of the kernel: it answered what is no decision.',
  GOVERNANCE_KEYS_UNAVAILABLE: 'See whether the kernel runs, or set GOV_TRUSTED_PUBLIC_KEYS.',
  RECEIPT_UNVERIFIED: 'Find out who answers at GOV_GOVERNANCE_URL: what it signed is not what was asked.',
  SETTINGS_REFUSED:
    'Read the message: the kernel holds other settings of this workspace, or its prices are in another currency. Save the settings again.',
} as const satisfies Record<string, string>;

/** All that `error.code` of a run or a step can be. */
export type RunErrorCode = keyof typeof runCodes | ReasonCode | ErrorCode;
