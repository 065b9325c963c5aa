import { ExportVerification, type ExportOptions } from './verify-export.ts';
import type { ExportReport } from './export-report.ts';
import { lineBytesMax } from './read-lines.ts';

type Taking = Pick<ExportVerification, 'take' | 'refuseLine' | 'endWithoutLineFeed'>;

/** Verifies evidence in one text, in the form that `readLines` reads from a file. Never throws for any text. */
export function verifyText(text: string, options: ExportOptions): ExportReport {
  const verification = new ExportVerification(options);
  takeText(text, verification);
  return verification.report();
}

/** Passes the lines of the text to the verification, up to the first fault. */
export function takeText(text: string, verification: Taking): void {
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    if (end - start > lineBytesMax) return verification.refuseLine();
    if (!verification.take(text.slice(start, end))) return;
    if (found === -1) verification.endWithoutLineFeed();
    start = end + 1;
  }
}
