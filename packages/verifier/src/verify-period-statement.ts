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

type Deps = LogTrust & {
  /** The checkpoints of the header. One of them signs the log of the statement. */
  checkpoints: ExportCheckpoints;
};

type Stated = { tenant_id: string; key_id: string; statement: PeriodStatement };

/**
 * Verifies the last line alone: a statement that was sealed and is covered by a checkpoint, about a log in the export.
 * Throws {@link VerificationError}.
 */
export function verifyPeriodStatement(line: ExportedPeriod, { checkpoints, ...segments }: Deps): Stated {
  const end = checkpoints.verifyEnd(line);
  const findCheckpoint = (size: number) => (size === end.size ? end : undefined);
  const { opened, checkpoint, earliest } = openLine(line.period, { ...segments, findCheckpoint, checkpoints });
  const { payload, key } = opened;
  if (payload.kind !== 'period' || line.period.record === undefined || checkpoint === null)
    throw new VerificationError(
      'PERIOD_MISMATCH',
      'a period statement must be a receipt of the kind period with its record and proof',
    );
  const record = assertRecordOf(payload, line.period.record, segments.provider);
  const statement = parseUntrusted(PeriodStatement, record.intent.facts, 'period statement');
  assertAsOf(statement.as_of, { opened, checkpoint, earliest });
  if (statement.to > statement.as_of)
    throw new VerificationError('TIME_MISMATCH', 'the period had not ended when it was stated');
  assertLogSigned(statement, checkpoints);
  return { tenant_id: payload.tenant_id, key_id: key.key_id, statement };
}

function assertLogSigned({ log_size, log_root }: PeriodStatement, checkpoints: ExportCheckpoints): void {
  const root = checkpoints.find(log_size)?.root;
  if (root === undefined || `sha256:${encodeHex(root)}` !== log_root)
    throw new VerificationError('PERIOD_MISMATCH', 'no checkpoint of the export signs the log of the statement');
}
