import { ExportVerification, type ExportOptions } from './verify-export.ts';
import type { ExportReport } from './export-report.ts';
import { lineBytesMax } from './read-lines.ts';

type Taking = Pick<ExportVerification, 'take' | 'refuseLine' | 'endWithoutLineFeed'>;

/** Evidence as one text, as `readLines` would read it from a file. Never throws for what the text holds. */
export function verifyText(text: string, options: ExportOptions): ExportReport {
  const verification = new ExportVerification(options);
  takeText(text, verification);
  return verification.report();
}

/** Its lines, up to the first fault. */
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
