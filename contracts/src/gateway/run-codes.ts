import type { ErrorCode } from '../error-codes.ts';
import type { ReasonCode } from '../reason-codes.ts';

/** The codes of a run or a step that ended without a decision or an answer of the kernel, each with its next step. */
export const runCodes = {
  ITERATION_BUDGET_EXHAUSTED: 'Ask for less at once, or raise maxIterationBudget in the settings.',
  RUN_ENDED: 'Run the task again. The run ended before this call was decided.',
  RUN_ABANDONED: 'Read the log of the gateway. This run ended its workers repeatedly.',
  INTERRUPTED: 'Wait. Another worker continues the run.',
  GOVERNANCE_NOT_CONFIGURED: 'Set GOV_GOVERNANCE_URL and its keys. Without a kernel no run starts.',
  GOVERNANCE_UNAVAILABLE:
    'Check that the kernel runs and is reachable. Read in the receipts of the run which calls were made. Then run the task again.',
  GOVERNANCE_TIMEOUT:
    'Read in the receipts of the run which calls were made, then run the task again. Raise GOV_GOVERNANCE_TIMEOUT if its calls take longer.',
  GOVERNANCE_MALFORMED: 'Run the gateway and the kernel at the same version.',
  GOVERNANCE_REFUSED: 'Read the log of the kernel. Its answer was not a decision.',
  GOVERNANCE_KEYS_UNAVAILABLE: 'Check that the kernel runs, or set GOV_TRUSTED_PUBLIC_KEYS.',
  RECEIPT_UNVERIFIED: 'Check which server answers at GOV_GOVERNANCE_URL. Its receipt is not about the requested call.',
  SETTINGS_REFUSED:
    'Read the message. The kernel has other settings of this workspace, or its prices are in another currency. Save the settings again.',
} as const satisfies Record<string, string>;

/** All values of `error.code` of a run or a step. */
export type RunErrorCode = keyof typeof runCodes | ReasonCode | ErrorCode;
