import type { Reader } from './database.ts';
import { listTrustKeys } from './trust-key-store.ts';

/** Rows that the root did not sign do not count. More of them in front of the newest list than this stop the kernel. */
const documentsMax = 8;

/** The published keys, and the newest trust lists as they were stored. */
export function trustStore(reader: Reader) {
  return { listRows: () => listTrustKeys(reader), listDocuments: () => listTrustDocuments(reader) };
}

async function listTrustDocuments(reader: Reader): Promise<unknown[]> {
  const rows = await reader.trustList.findMany({ orderBy: { version: 'desc' }, take: documentsMax });
  return rows.map(({ document }) => document);
}
