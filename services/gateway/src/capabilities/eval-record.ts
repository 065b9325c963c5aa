import { readFileSync } from 'node:fs';
import { EvalRecord } from '@countersign/contracts/gateway';

/**
 * The recorded run in `file`, if it is a run of `commit`. A run of other code proves nothing about this code. Throws
 * when the file contains no record.
 */
export function readEvalRecord(file: string | undefined, commit: string | undefined): EvalRecord | null {
  if (file === undefined) return null;
  const record = parsed(file);
  return record.commit === commit ? record : null;
}

function parsed(file: string): EvalRecord {
  try {
    return EvalRecord.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new Error(`${file} holds no record of a test run`, { cause });
  }
}
