import type { Digest } from '@countersign/contracts';
import {
  reportedDecisionsMin,
  type PolicyDraft,
  type WhatIfJob,
  type WhatIfReport,
} from '@countersign/contracts/control-plane';

/** An older report does not cover the newest calls, so it is rejected. */
const reportAgeMaxMs = 3_600_000;

type Input = {
  draft: PolicyDraft;
  job: WhatIfJob | null;
  policyHash: Digest;
  acknowledged: number | undefined;
  now: Date;
};

/** The missing conditions of an activation, by name; empty when the gate is passed. */
export function missingAtGate({ draft, job, policyHash, acknowledged, now }: Input): string[] {
  const missing: string[] = [];
  if (draft.policy_hash !== policyHash) missing.push('compiled_draft');
  if (job === null || job.report === null || job.finished_at === null) return [...missing, 'report'];
  if (job.policy_hash !== policyHash) missing.push('report_of_this_policy');
  if (now.getTime() - Date.parse(job.finished_at) > reportAgeMaxMs) missing.push('recent_report');
  return [...missing, ...missingInReport(job.report, acknowledged)];
}

function missingInReport(
  { question, decisions, is_whole, unverifiable, widened }: WhatIfReport,
  acknowledged?: number,
): string[] {
  const missing: string[] = [];
  const isOfAllTime = question.from === null && question.to === null;
  if (!isOfAllTime || !(is_whole || decisions >= reportedDecisionsMin)) missing.push('report_of_newest_decisions');
  if (unverifiable.count > 0) missing.push('verified_receipts');
  if (widened.length > 0 && acknowledged !== widened.length) missing.push('acknowledge_widened');
  return missing;
}

/** Whether the draft permits more calls, or may do so because some calls cannot be decided again. */
export function widens({ widened, missing }: WhatIfReport): boolean {
  return widened.length > 0 || missing.length > 0;
}
