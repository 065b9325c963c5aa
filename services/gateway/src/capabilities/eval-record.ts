import { readFileSync } from 'node:fs';
import { EvalRecord } from '@countersign/contracts/gateway';

/**
 * The recorded run in `file`, if it is one of `commit`: what other code was seen to do proves nothing about this one. Throws for a file that holds
 * no record.
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
