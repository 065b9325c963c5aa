import { AppError, type Digest, type PrincipalId, type ReceiptId, type TenantId } from '@countersign/contracts';
import {
  evidencePackFormat,
  type Checkpoint,
  type EvidenceRequest,
  type EvidenceScope,
  type PackEnd,
  type PackHeader,
  type PackStatement,
} from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, NodeReader } from '@countersign/crypto';
import { PackTally } from '@countersign/receipts';
import type { CountedHeads } from '../proof/counted-heads.ts';
import { statementHash, type SealedExport } from '../proof/seal-export.ts';
import { jwksOf } from '../proof/trusted-keys.ts';
import type { CosignedHead } from '../../store/with-cosignatures.ts';
import { findWitnesses, type Witnesses } from '../proof/witnesses.ts';
import { linkedCheckpoints, provenExtended } from '../receipts/linked-checkpoints.ts';
import { canonicalLines, linkOfSealed, pageLinks, type LinkTexts } from '../receipts/proven-lines.ts';
import type { EvidenceRange, EvidenceReads } from '../../store/evidence-store.ts';
import type { TrustKeyRow } from '../../store/trust-key-store.ts';
import { packLines } from './pack-lines.ts';
import { packResource, packScope } from './pack-scope.ts';

export type PackDeps = {
  provider: CryptoProvider;
  reads: EvidenceReads;
  keys: readonly TrustKeyRow[];
  heads: CountedHeads;
  newReader(): NodeReader;
  /** SHA-256 over many texts. */
  newHash(): { update(text: string): unknown; digest(encoding: 'hex'): string };
  /** `until`: the time after which cosignatures are omitted. */
  withCosignatures<Head extends CosignedHead>(head: Head, received?: { until: string }): Promise<Head>;
  /** A valid cosigned checkpoint with at least this many leaves. `null` when there is none. */
  findCosigned(size: number): Promise<Checkpoint | null>;
  getLogSize(): Promise<number>;
  logOrigin: string;
  now: Date;
  receiptsMax: number;
  seal(statement: { kind: 'pack'; facts: PackStatement; resource: string }): Promise<SealedExport>;
};

type Caller = { tenant: TenantId; by: PrincipalId };
type Pack = { evidenceHash: Digest; statementId: ReceiptId; lines(): AsyncGenerator<string> };
type Planned = {
  scope: EvidenceScope;
  range: EvidenceRange;
  head: Checkpoint;
  witnesses: Witnesses;
  header: PackHeader;
};

/**
 * An evidence pack: first its hash, then its lines. The lines are generated twice, since the hash is in a header of
 * the answer and no copy is stored. Throws INVALID_REQUEST for more receipts than one pack may have, and the errors of
 * `packScope`.
 */
export async function makePack(
  request: EvidenceRequest,
  { tenant }: Pick<Caller, 'tenant'>,
  deps: PackDeps,
): Promise<Pack> {
  const plan = await planPack(request, tenant, deps);
  const hash = deps.newHash();
  const tally = new PackTally(deps.provider);
  for await (const text of linesOf(plan, deps, tally)) hash.update(text);
  const end = await endLine(plan, deps, tally);
  hash.update(end);
  const evidenceHash = `sha256:${hash.digest('hex')}` as Digest; // the form of a Digest
  return { evidenceHash, statementId: statementIdOf(end), lines: () => repeated({ plan, end, evidenceHash }, deps) };
}

function statementIdOf(end: string): ReceiptId {
  const line = JSON.parse(end) as PackEnd; // the kernel's own line
  return line.end.receipt.payload.receipt_id;
}

async function planPack(request: EvidenceRequest, tenant: TenantId, deps: PackDeps): Promise<Planned> {
  const { reads, keys, heads, receiptsMax, logOrigin, provider, newReader, now } = deps;
  const logSize = await deps.getLogSize();
  const scope = await packScope(request, { reads, tenant, logSize, now });
  const { receipts, first, last } = await reads.count(scope, receiptsMax + 1);
  if (receipts > receiptsMax)
    throw new AppError('INVALID_REQUEST', `The scope has more than ${receiptsMax} receipts. Export it in parts.`, {
      param: 'leaves',
    });
  const range = { ...scope, first: first ?? scope.leaves.to, last: last ?? -1 };
  const head = await heads.getFrom(scope.leaves.to);
  const before = await heads.findUpTo(range.first);
  const hasSigned = (signed: Parameters<EvidenceReads['hasSigned']>[1]) => reads.hasSigned(range, signed);
  const witnesses = await findWitnesses(keys, {
    ...{ newest: head, before, cosigned: null, hasSigned },
    findBefore: heads.findBefore,
  });
  // The statement covers the header, so the header omits later cosignatures. The same scope then keeps its statement.
  // Later cosignatures are on the last line.
  const noted = witnesses.checkpoints.map((each) => deps.withCosignatures(each, { until: head.created_at }));
  const linked = await linkedCheckpoints({ provider, newReader }, await Promise.all(noted));
  const header = { format: evidencePackFormat, scope, log_origin: logOrigin, keys: jwksOf(keys), ...linked } as const;
  return { scope, range, head, witnesses, header };
}

function linesOf({ header, range, witnesses }: Planned, deps: PackDeps, tally: PackTally): AsyncGenerator<string> {
  const { provider, newReader, reads } = deps;
  const listAfter = (after: number) => reads.list(range, { after: Math.max(after, range.first - 1), limit: pageLinks });
  return packLines({ provider, newReader, witnesses, header, listAfter, findActivation: reads.findActivation }, tally);
}

/**
 * The last line, with the sealed statement about the other lines. An earlier statement with the same content is used
 * again.
 */
async function endLine(plan: Planned, deps: PackDeps, tally: PackTally): Promise<string> {
  const { scope, head, witnesses } = plan;
  const { tree_size: log_size, root_hash: log_root } = head;
  const facts = { format: evidencePackFormat, scope, ...tally.counts(), log_size, log_root } as const;
  const sealed = await sealedStatement(facts, deps);
  const over = await deps.findCosigned(sealed.logIndex + 1);
  const seen = over ?? (await deps.heads.getFrom(sealed.logIndex + 1));
  const { note } = await deps.withCosignatures(seen);
  const [line = ''] = await canonicalLines({ ...deps, witnesses: { sizeFor: () => seen.tree_size } }, [sealed]);
  const consistency = await provenExtended(deps, { from: witnesses.checkpoints.at(-1), to: seen });
  return `{"checkpoint":${JSON.stringify(note)},"consistency":${JSON.stringify(consistency)},"end":${line}}\n`;
}

async function sealedStatement(facts: PackStatement, deps: PackDeps): Promise<LinkTexts> {
  const { tenant_id: tenant } = facts.scope;
  const stated = await deps.reads.findStatement(tenant, { args_hash: statementHash(deps.provider, facts) });
  if (stated !== null) return stated;
  return linkOfSealed(await deps.seal({ kind: 'pack', facts, resource: packResource(facts.scope) }));
}

type Made = { plan: Planned; end: string; evidenceHash: string };

/**
 * Throws before the last line if the lines no longer match the hash. This happens when a key is revoked after the hash
 * was computed.
 */
async function* repeated({ plan, end, evidenceHash }: Made, deps: PackDeps): AsyncGenerator<string> {
  const hash = deps.newHash();
  for await (const text of linesOf(plan, deps, new PackTally(deps.provider))) {
    hash.update(text);
    yield text;
  }
  hash.update(end);
  if (`sha256:${hash.digest('hex')}` !== evidenceHash) throw new Error('The lines of the pack do not match its hash');
  yield end;
}
