import { z } from 'zod';
import { ExportedHead, ExportedReceipt, ExportHeader } from './chain-export.ts';
import { ExportedPeriod, PeriodHeader } from './period-export.ts';

/**
 * One line of an export, each a JSON text. For a session: the header, the head statement, then receipts in the order of
 * their chain. For a period: the header, the receipts of one session after the other, then the period statement. Writer
 * and verifier hold only one line at a time.
 */
export const ExportLine = z.union([ExportHeader, ExportedHead, PeriodHeader, ExportedPeriod, ExportedReceipt]);
export type ExportLine = z.infer<typeof ExportLine>;
