import type { Reader } from './database.ts';
import { listEvidenceKeys } from './envelope-store.ts';
import { listTrustKeys } from './trust-key-store.ts';

/** The number of newest rows that are read. If the root signed none of them, reading the keys fails. */
const documentsMax = 8;

/** The published keys, and the newest trust lists as they were stored. */
export function trustStore(reader: Reader) {
  return {
    listRows: () => listTrustKeys(reader),
    listEvidenceRows: () => listEvidenceKeys(reader),
    listDocuments: () => listTrustDocuments(reader),
  };
}

async function listTrustDocuments(reader: Reader): Promise<unknown[]> {
  const rows = await reader.trustList.findMany({ orderBy: { version: 'desc' }, take: documentsMax });
  return rows.map(({ document }) => document);
}
