import { PeriodStatement } from '@countersign/contracts/governance-kernel';
import type { ExportedPeriod } from '@countersign/contracts/governance-kernel';
import { encodeHex } from '@countersign/crypto';
import { assertAsOf } from './assert-as-of.ts';
import type { ExportCheckpoints } from './export-checkpoints.ts';
import { openLine } from './open-line.ts';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';
import type { LogTrust } from './verify-log.ts';
import { assertRecordOf } from './verify-record.ts';

type Parts = LogTrust & {
  /** Those of the header: one of them signs the log that the statement is about. */
  checkpoints: ExportCheckpoints;
};

type Stated = { tenant_id: string; key_id: string; statement: PeriodStatement };

/** The last line by itself: a statement that was sealed and seen, about a log that the export shows. Throws {@link VerificationError}. */
export function verifyPeriodStatement(line: ExportedPeriod, { checkpoints, ...parts }: Parts): Stated {
  const end = checkpoints.verifyEnd(line);
  const findCheckpoint = (size: number) => (size === end.size ? end : undefined);
  const { opened, checkpoint } = openLine(line.period, { ...parts, findCheckpoint, checkpoints });
  const { payload, key } = opened;
  if (payload.kind !== 'period' || line.period.record === undefined || checkpoint === null)
    throw new VerificationError(
      'PERIOD_MISMATCH',
      'a period statement is a receipt of that kind with record and proof',
    );
  const record = assertRecordOf(payload, line.period.record, parts.provider);
  const statement = parseUntrusted(PeriodStatement, record.intent.facts, 'period statement');
  assertAsOf(statement.as_of, { opened, checkpoint });
  if (statement.to > statement.as_of) throw new VerificationError('TIME_MISMATCH', 'the period had not ended yet');
  assertLogSigned(statement, checkpoints);
  return { tenant_id: payload.tenant_id, key_id: key.key_id, statement };
}

function assertLogSigned({ log_size, log_root }: PeriodStatement, checkpoints: ExportCheckpoints): void {
  const root = checkpoints.find(log_size)?.root;
  if (root === undefined || `sha256:${encodeHex(root)}` !== log_root)
    throw new VerificationError('PERIOD_MISMATCH', 'no checkpoint of the export signs the log of the statement');
}
