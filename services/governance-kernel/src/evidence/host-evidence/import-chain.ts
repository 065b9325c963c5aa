import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  instantOf,
  type Digest,
  HostChainId,
  HostDriftId,
  type PrincipalId,
  type ReceiptId,
  type TenantId,
} from '@countersign/contracts';
import {
  hostEvidenceNotice,
  type HostChain,
  type HostChainReport,
  type HostDrift,
  type HostReceiptReport,
  type RecorderKey,
} from '@countersign/contracts/governance-kernel';
import { canonicalBytes, parsePlainObject } from '@countersign/crypto';
import type { NewEvent } from '@countersign/messaging';
import { receiptIdOf } from '@countersign/receipts';
import { hostDriftEvent } from '../../events.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted, type Change } from '../../ledger/control.ts';
import { settingStatement, type SettingDeps } from '../../controls/policy/setting-statement.ts';
import { correlate, type Correlation, type SealedIntent } from './correlate.ts';
import { destinationText, eventDestination } from './destinations.ts';
import { hashOf, hostChainHash, hostImportHash } from './host-hashes.ts';
import {
  hostChainOf,
  hostChains,
  hostDrift,
  hostReceipts,
  hostVolumes,
  type HostChainRow,
} from '../../controls/evidence/host-rows.ts';
import { sealedIntents, type SealedLedger } from './sealed-intents.ts';
import { verifyHostReceipts, type VerifiedReceipt } from './verify-receipts.ts';

export type ImportDeps = SettingDeps & {
  newEvent: NewEvent;
  sealed: SealedLedger;
  findImport(hash: Digest): Promise<HostChainRow | null>;
  isReceiptKnown(hash: Digest): Promise<boolean>;
};

type Importing = { tenant: TenantId; by: PrincipalId; chain: HostChain; keys: readonly RecorderKey[] };

/** A receipt with its matching decision. `correlation` is `null` for a failed receipt, which is not compared. */
type Judged = VerifiedReceipt & { correlation: Correlation | null };

const comparedInOneTurn = 10;
const expectedMax = 16;

/**
 * Verifies a recorder's chain receipt by receipt, compares it with the sealed decisions of the tenant, and seals the
 * import and each drift in one commit. The same chain with the same keys gets the earlier answer, and a receipt from
 * an earlier chain is not judged again.
 */
export async function importHostChain(deps: ImportDeps, importing: Importing): Promise<HostChainReport> {
  const { provider } = deps;
  const { tenant, chain, keys } = importing;
  const chainHash = hostChainHash(provider, chain);
  const importHash = hostImportHash(provider, chainHash, keys);
  const before = await deps.findImport(importHash);
  if (before !== null) return before.report;
  const verified = await verifyHostReceipts({ provider, isKnown: deps.isReceiptKnown }, chain, keys);
  const judged = await correlateAll(deps.sealed, verified);
  const beganMs = deps.clock().getTime();
  return await deps.ledger.submit({
    chain: hostChainOf(tenant),
    wants: [
      wanted(hostChains, { tenant, importHash }),
      ...judged.map(({ hash }) => wanted(hostReceipts, { tenant, hash })),
      ...decisionsOf(judged).map((decisionReceipt) => wanted(hostVolumes, { tenant, decisionReceipt })),
    ],
    conclude: (batch) => {
      const current = batch.row(hostChains, { tenant, importHash });
      if (current !== null) return () => current.report;
      const report = sealImport(deps, { ...importing, batch, judged, chainHash, importHash, beganMs });
      return () => report;
    },
  });
}

async function correlateAll(sealed: SealedLedger, verified: readonly VerifiedReceipt[]): Promise<Judged[]> {
  const compared = verified.filter(({ state }) => state !== 'failed');
  const intents = await sealedIntents(
    sealed,
    compared.map(({ receipt }) => receipt),
  );
  const judged: Judged[] = [];
  for (const [index, one] of verified.entries()) {
    judged.push({ ...one, correlation: one.state === 'failed' ? null : correlate(one.receipt, intents) });
    if ((index + 1) % comparedInOneTurn === 0) await nextTurn();
  }
  return judged;
}

function decisionsOf(judged: readonly Judged[]): ReceiptId[] {
  const covered = judged.flatMap(({ correlation }) => (correlation?.kind === null ? (correlation.intent ?? []) : []));
  return [...new Set(covered.map(({ receiptId }) => receiptId))];
}

type Sealing = Importing & {
  batch: LedgerBatch;
  judged: readonly Judged[];
  chainHash: Digest;
  importHash: Digest;
  beganMs: number;
};

function sealImport(deps: ImportDeps, sealing: Sealing): HostChainReport {
  const { batch, tenant, by, chain, keys, chainHash, importHash, judged } = sealing;
  const ledgerChain = hostChainOf(tenant);
  const nowMs = batch.issuedMs(ledgerChain, sealing.beganMs);
  const id = HostChainId.parse(`hch_${deps.newUlid(nowMs)}`);
  const at = instantOf(nowMs);
  const stated = { ...ledgerChain, by, nowMs } as const;
  const counted = new Map<ReceiptId, number>();
  const found: HostDrift[] = [];
  const changes: Change[] = [];
  const reports = new Map<number, HostReceiptReport>();
  for (const one of byTime(judged)) {
    const isNew = batch.row(hostReceipts, { tenant, hash: one.hash }) === null;
    const drift = one.correlation === null || !isNew ? null : driftOf(one, { batch, tenant, counted });
    if (isNew && one.correlation !== null) changes.push(put(hostReceipts, { tenant, hash: one.hash, chainId: id }));
    if (drift === null) {
      reports.set(one.position, reportOf(one, { isNew, drift: null }));
      continue;
    }
    const driftId = HostDriftId.parse(`hdr_${deps.newUlid(nowMs)}`);
    const facts = { drift_id: driftId, host_chain_id: id, chain_hash: chainHash, detected_at: at, ...drift };
    const statement = settingStatement(deps, {
      ...{ ...stated, kind: 'drift', action: 'evidence.host.drift', resource: `host_drift:${driftId}` },
      setting: parsePlainObject(facts),
    });
    const row: HostDrift = { ...facts, receipt_id: receiptIdOf(statement.ulid) };
    batch.seal(statement, () => ({
      changes: [put(hostDrift, { tenant, id: driftId, kind: row.kind, chainId: id, drift: row })],
    }));
    found.push(row);
    reports.set(one.position, reportOf(one, { isNew, drift: row }));
  }
  for (const [decisionReceipt, bytes] of counted) changes.push(put(hostVolumes, { tenant, decisionReceipt, bytes }));
  const receipts = judged.flatMap(({ position }) => reports.get(position) ?? []);
  const results = {
    ...{ host_chain_id: id, chain_id: chain.chain_id, chain_hash: chainHash, source: chain.source },
    key_ids: keys.map(({ key_id: key }) => key),
    counts: countsOf(judged, found.length),
  };
  const statement = settingStatement(deps, {
    ...{ ...stated, kind: 'trust', action: 'evidence.host.import', resource: `host_chain:${id}` },
    setting: parsePlainObject({
      ...results,
      keys,
      results_hash: hashOf(deps.provider, canonicalBytes(parsePlainObject({ receipts }))),
    }),
  });
  const report: HostChainReport = {
    ...{ ...results, tenant_id: tenant, key_source: 'pinned_by_importer', receipts, imported_by: by, imported_at: at },
    ...{ receipt_id: receiptIdOf(statement.ulid), enforcement: false, notice: hostEvidenceNotice },
  };
  const event = hostDriftEvent(deps, { tenant, by, chainId: chain.chain_id, found, at });
  batch.seal(statement, () => ({
    changes: [put(hostChains, { tenant, importHash, id, document: chain, report }), ...changes],
    events: event === null ? [] : [event],
  }));
  return report;
}

/** Volumes add up in the order of events, whatever the order of the chain. */
function byTime(judged: readonly Judged[]): Judged[] {
  const atOf = ({ receipt: { event } }: Judged) => Date.parse(event.observed_at);
  return judged.toSorted((a, b) => atOf(a) - atOf(b) || a.position - b.position);
}

type Counting = { batch: LedgerBatch; tenant: TenantId; counted: Map<ReceiptId, number> };
type Found = Omit<HostDrift, 'drift_id' | 'host_chain_id' | 'chain_hash' | 'detected_at' | 'receipt_id'>;

/**
 * The drift of a receipt that is judged for the first time. The bytes of a covered event are counted for its decision.
 */
function driftOf({ receipt, hash, state, correlation }: Judged, counting: Counting): Found | null {
  if (correlation === null || state === 'failed') return null;
  const { intent, matchedBy } = correlation;
  const excess = correlation.kind === null ? excessOf(intent, receipt.event.bytes_sent, counting) : null;
  const kind = correlation.kind ?? (excess === null ? null : 'volume_exceeded');
  if (kind === null) return null;
  return {
    kind,
    ...{ host_receipt_id: receipt.receipt_id, host_receipt_hash: hash, host_receipt_state: state },
    ...{ observed_at: receipt.event.observed_at, destination: eventDestination(receipt.event) },
    bytes_sent: receipt.event.bytes_sent,
    ...namedOf(intent),
    matched_by: matchedBy,
    bytes_allowed: excess?.allowed ?? null,
    bytes_counted: excess?.counted ?? null,
  };
}

function namedOf(intent: SealedIntent | null) {
  if (intent === null)
    return { decision_id: null, decision_receipt_id: null, verdict: null, expected_destinations: [] };
  const { decisionId, receiptId, verdict, destinations } = intent;
  return {
    ...{ decision_id: decisionId, decision_receipt_id: receiptId, verdict },
    expected_destinations: destinations.slice(0, expectedMax).map(destinationText),
  };
}

/** Counts the bytes for the decision. `null` while they are within its limit, or no limit is recorded. */
function excessOf(intent: SealedIntent | null, sent: number, counting: Counting) {
  if (intent === null) return null;
  const counted = volumeOf(intent.receiptId, sent, counting);
  const allowed = intent.bytesAllowed;
  return allowed === null || counted <= allowed ? null : { allowed, counted };
}

function volumeOf(decisionReceipt: ReceiptId, sent: number, { batch, tenant, counted }: Counting): number {
  const before = counted.get(decisionReceipt) ?? batch.row(hostVolumes, { tenant, decisionReceipt })?.bytes ?? 0;
  const volume = Math.min(before + sent, Number.MAX_SAFE_INTEGER);
  counted.set(decisionReceipt, volume);
  return volume;
}

function reportOf(one: Judged, { isNew, drift }: { isNew: boolean; drift: HostDrift | null }): HostReceiptReport {
  const { position, receipt, hash, state, reasons, correlation } = one;
  const found = { position, host_receipt_id: receipt.receipt_id, host_receipt_hash: hash, state, reasons };
  if (correlation === null || !isNew) {
    const without = { decision_receipt_id: null, matched_by: [], drift: null };
    return { ...found, correlation: correlation === null ? 'not_judged' : 'known', ...without };
  }
  return {
    ...found,
    correlation: drift === null ? 'correlated' : 'drift',
    decision_receipt_id: correlation.intent?.receiptId ?? null,
    matched_by: correlation.matchedBy,
    drift: drift === null ? null : { drift_id: drift.drift_id, kind: drift.kind },
  };
}

function countsOf(judged: readonly Judged[], drift: number): HostChainReport['counts'] {
  const of = (state: Judged['state']) => judged.filter((one) => one.state === state).length;
  return {
    receipts: judged.length,
    verified: of('verified'),
    not_verified: of('not_verified'),
    failed: of('failed'),
    drift,
  };
}
