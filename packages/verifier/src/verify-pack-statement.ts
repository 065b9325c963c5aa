import { packAction, PackStatement } from '@countersign/contracts/governance-kernel';
import type { PackEnd } from '@countersign/contracts/governance-kernel';
import { encodeHex } from '@countersign/crypto';
import type { ExportCheckpoints } from './export-checkpoints.ts';
import { openLine, type OpenedLine } from './open-line.ts';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';
import type { LogTrust } from './verify-log.ts';
import { assertRecordOf } from './verify-record.ts';

type Deps = LogTrust & { checkpoints: ExportCheckpoints };

type Stated = OpenedLine & { statement: PackStatement; index: number };

/** Verifies the last line: a statement in the log, about a tree in the header. Throws {@link VerificationError}. */
export function verifyPackStatement(line: PackEnd, { checkpoints, ...segments }: Deps): Stated {
  const seen = checkpoints.verifyEnd(line);
  const findCheckpoint = (size: number) => (size === seen.size ? seen : undefined);
  const { opened, checkpoint, earliest } = openLine(line.end, { ...segments, findCheckpoint, checkpoints });
  const { payload } = opened;
  if (payload.kind !== 'period' || payload.action !== packAction || line.end.record === undefined)
    throw new VerificationError('PERIOD_MISMATCH', `the last line is not the ${packAction} statement with its record`);
  const record = assertRecordOf(payload, line.end.record, segments.provider);
  const statement = parseUntrusted(PackStatement, record.intent.facts, 'end statement');
  const { log_size: size, log_root: root, scope } = statement;
  const shown = checkpoints.find(size);
  if (shown === undefined || `sha256:${encodeHex(shown.root)}` !== root)
    throw new VerificationError('PERIOD_MISMATCH', 'no checkpoint of the header signs the tree of the statement');
  if (scope.leaves.to > size)
    throw new VerificationError('PERIOD_MISMATCH', 'the range of the pack ends after the tree of the statement');
  if (line.end.proof.log_index < scope.leaves.to)
    throw new VerificationError('PERIOD_MISMATCH', 'the statement is in the log before the end of its range');
  return { opened, checkpoint, earliest, statement, index: line.end.proof.log_index };
}
