import { z } from 'zod';
import { ExportedHead, ExportedReceipt, ExportHeader } from './chain-export.ts';
import { ExportedPeriod, PeriodHeader } from './period-export.ts';

/**
 * One line of an export, as JSON text. A session has the header, the head statement, and the receipts in the order of
 * their chain. A period has the header, the receipts of each session, and the period statement. Writer and verifier
 * keep only one line in memory.
 */
export const ExportLine = z.union([ExportHeader, ExportedHead, PeriodHeader, ExportedPeriod, ExportedReceipt]);
export type ExportLine = z.infer<typeof ExportLine>;
