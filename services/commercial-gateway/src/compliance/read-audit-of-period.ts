import { isAppError, type WorkspaceId } from '@countersign/contracts';
import type { AuditedService } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { auditHash } from '@countersign/verifier';
import type { Context } from '../context.ts';
import { findAuditHead, listAuditContents } from '../store/audit-contents.ts';
import type { Reader } from '../store/database.ts';
import type { EvidenceTally } from './evidence-tally.ts';
import type { Period } from './read-receipts-of-period.ts';

export type CountedChain = { entries: number; verified: boolean };
export type WorkspaceChain = { service: AuditedService; workspace_id: WorkspaceId };

type Counting = { tally: EvidenceTally; period: Period };

/**
 * An entry of an audit chain with the same member names for all services. `content` is the part that the hash covers.
 */
type ChainEntry = {
  content: Parameters<typeof auditHash>[1];
  seq: number;
  previous: string | null;
  hash: string;
  action: string;
  createdAt: string;
};

type Chain = { end: { seq: number; hash: string | null }; pageAfter(seq: number): Promise<ChainEntry[]> };

/** Verifies and counts the chain of the organisation, which this service stores. */
export async function countOwnChain(reader: Reader, orgId: OrgId, counting: Counting): Promise<CountedChain> {
  const { seq, hash } = await findAuditHead(reader, orgId);
  const pageAfter = async (after: number) =>
    (await listAuditContents(reader, orgId, { after })).map(({ content, hash: own }) => ({
      ...{ content, seq: content.seq, previous: content.prev_hash, hash: own },
      ...{ action: content.action, createdAt: content.created_at },
    }));
  return countChain({ end: { seq, hash: seq === 0 ? null : hash }, pageAfter }, null, counting);
}

type Siblings = Pick<Context, 'gatewayAudit' | 'directory'>;

/** Verifies and counts the chain of a workspace at another service. Throws when the service does not answer. */
export async function countWorkspaceChain(
  siblings: Siblings,
  chain: WorkspaceChain,
  counting: Counting,
): Promise<CountedChain> {
  const read = readers[chain.service];
  const first = await read(siblings, chain.workspace_id, 1);
  if (first === null) return { entries: 0, verified: false };
  const pageAfter = async (seq: number) =>
    seq === 0 ? first.entries : ((await read(siblings, chain.workspace_id, seq + 1))?.entries ?? []);
  return countChain({ end: first.end, pageAfter }, chain, counting);
}

/**
 * Verifies a whole chain and counts its entries of the period. When `verified` is false, an entry was changed or
 * removed, and the caller must discard the tally.
 */
async function countChain(
  { end, pageAfter }: Chain,
  chain: WorkspaceChain | null,
  { tally, period }: Counting,
): Promise<CountedChain> {
  const broken = { entries: 0, verified: false };
  let entries = 0;
  let [seq, previous]: [number, string | null] = [0, null];
  while (seq < end.seq) {
    const page = await pageAfter(seq);
    for (const entry of page) {
      const isNext = entry.seq === seq + 1 && entry.previous === previous;
      if (!isNext || auditHash(nodeProvider, entry.content) !== entry.hash) return broken;
      [seq, previous] = [entry.seq, entry.hash];
      if (entry.createdAt >= period.from && entry.createdAt < period.to) {
        entries += 1;
        tally.addAuditEntry({ action: entry.action, seq, hash: entry.hash, chain });
      }
      if (seq === end.seq) break;
    }
    if (page.length === 0) return broken;
  }
  return previous === end.hash ? { entries, verified: true } : broken;
}

type ReadPage = (
  siblings: Siblings,
  workspaceId: WorkspaceId,
  from: number,
) => Promise<{ end: Chain['end']; entries: ChainEntry[] } | null>;

const readers: Readonly<Record<AuditedService, ReadPage>> = {
  gateway: async ({ gatewayAudit }, workspace_id, from) => {
    const body = await knownOrNull(() => gatewayAudit.readAuditChain({ params: { workspace_id }, query: { from } }));
    const entries = body?.data.map(({ hash, ...content }) => ({
      ...{ content, seq: content.seq, previous: content.prevHash, hash },
      ...{ action: content.action, createdAt: content.createdAt },
    }));
    return body === null || entries === undefined ? null : { end: body.end, entries };
  },
  'control-plane': async ({ directory }, workspace_id, from) => {
    const body = await knownOrNull(() => directory.readScopedAuditChain({ params: { workspace_id }, query: { from } }));
    const entries = body?.data.map(({ hash, ...content }) => ({
      ...{ content, seq: content.seq, previous: content.prev_hash, hash },
      ...{ action: content.action, createdAt: content.created_at },
    }));
    return body === null || entries === undefined ? null : { end: body.end, entries };
  },
};

/** `null` when the service does not have the workspace. */
async function knownOrNull<Body>(call: () => Promise<{ body: Body }>): Promise<Body | null> {
  try {
    return (await call()).body;
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}
