import { ExportVerification, type ExportOptions } from './verify-export.ts';
import type { ExportReport } from './export-report.ts';
import { lineBytesMax } from './read-lines.ts';

/** Evidence as one text, as `readLines` would read it from a file. Never throws for what the text holds. */
export function verifyText(text: string, options: ExportOptions): ExportReport {
  const verification = new ExportVerification(options);
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    if (end - start > lineBytesMax) {
      verification.refuseLine();
      break;
    }
    if (!verification.take(text.slice(start, end))) break;
    if (found === -1) verification.endWithoutLineFeed();
    start = end + 1;
  }
  return verification.report();
}
