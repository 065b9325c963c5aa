export { recordEntry, type AuditAct } from './record-entry.ts';
export { headOf, tellEntry, type AuditFacts, type AuditRow } from './entry.ts';
export { exportLines } from './export-lines.ts';
export { listEntries, type EntriesQuery as EntriesAsked, type EntryQuery } from './list-entries.ts';
