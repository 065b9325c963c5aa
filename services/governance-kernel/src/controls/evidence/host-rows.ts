import type { Digest, HostChainId, HostDriftId, ReceiptId, TenantId } from '@countersign/contracts';
import type { HostChain, HostChainReport, HostDrift, HostDriftKind } from '@countersign/contracts/governance-kernel';
import { columnsOf, integer, json, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';
import { ownSession } from '../../ledger/own-sessions.ts';
import { chainName, type ChainKey } from '../../ledger/statement.ts';

/** The chain in which imports and drift of a tenant are sealed. */
export function hostChainOf(tenant: TenantId): ChainKey {
  return { tenant, session: ownSession('host-evidence') };
}

type ImportKey = { readonly tenant: TenantId; readonly importHash: Digest };
/** An imported chain as it was sent, with its results. A row never changes. */
export type HostChainRow = ImportKey & {
  readonly id: HostChainId;
  readonly document: HostChain;
  readonly report: HostChainReport;
};

const importName = ({ tenant, importHash }: ImportKey) => `${tenant}\n${importHash}`;

/** No decision reads a chain. */
export const hostChains: Control<ImportKey, HostChainRow> = {
  name: 'host_chains',
  guard: 'key',
  ...selectByKey('host_chains', ['tenant_id', 'import_hash']),
  ...columnsOf<HostChainRow>({
    tenant: text('tenant_id'),
    importHash: text('import_hash'),
    id: text('host_chain_id'),
    document: json('document'),
    report: json('report'),
  }),
  writes: { table: 'host_chains', primaryKey: ['tenant_id', 'import_hash'], put: { kind: 'insert_once' } },
  keyValues: ({ tenant, importHash }) => [tenant, importHash],
  keyText: importName,
  idOf: importName,
  setsOf: (row) => [importName(row)],
};

type ReceiptKey = { readonly tenant: TenantId; readonly hash: Digest };
/** A recorder's receipt that was compared with decisions. It is compared once, even if several chains contain it. */
type HostReceiptRow = ReceiptKey & { readonly chainId: HostChainId };

const receiptName = ({ tenant, hash }: ReceiptKey) => `${tenant}\n${hash}`;

export const hostReceipts: Control<ReceiptKey, HostReceiptRow> = {
  name: 'host_receipts',
  guard: 'key',
  ...selectByKey('host_receipts', ['tenant_id', 'receipt_hash']),
  ...columnsOf<HostReceiptRow>({
    tenant: text('tenant_id'),
    hash: text('receipt_hash'),
    chainId: text('host_chain_id'),
  }),
  writes: { table: 'host_receipts', primaryKey: ['tenant_id', 'receipt_hash'], put: { kind: 'insert_once' } },
  keyValues: ({ tenant, hash }) => [tenant, hash],
  keyText: receiptName,
  idOf: receiptName,
  setsOf: (row) => [receiptName(row)],
};

type VolumeKey = { readonly tenant: TenantId; readonly decisionReceipt: ReceiptId };
/** The bytes that all events of a decision have sent. */
type HostVolumeRow = VolumeKey & { readonly bytes: number };

const volumeName = ({ tenant, decisionReceipt }: VolumeKey) => `${chainName(hostChainOf(tenant))}\n${decisionReceipt}`;

/** Each change of a volume seals a receipt in the session of host evidence, so simultaneous imports are serialised. */
export const hostVolumes: Control<VolumeKey, HostVolumeRow> = {
  name: 'host_volumes',
  guard: 'chain',
  ...selectByKey('host_volumes', ['tenant_id', 'decision_receipt_id']),
  ...columnsOf<HostVolumeRow>({
    tenant: text('tenant_id'),
    decisionReceipt: text('decision_receipt_id'),
    bytes: integer('bytes_sent'),
  }),
  writes: { table: 'host_volumes', primaryKey: ['tenant_id', 'decision_receipt_id'], put: { kind: 'upsert' } },
  keyValues: ({ tenant, decisionReceipt }) => [tenant, decisionReceipt],
  keyText: volumeName,
  idOf: volumeName,
  setsOf: (row) => [volumeName(row)],
};

type DriftKey = { readonly tenant: TenantId; readonly id: HostDriftId };
type HostDriftRow = DriftKey & {
  readonly kind: HostDriftKind;
  readonly chainId: HostChainId;
  readonly drift: HostDrift;
};

const driftName = ({ tenant, id }: DriftKey) => `${tenant}\n${id}`;

export const hostDrift: Control<DriftKey, HostDriftRow> = {
  name: 'host_drift',
  guard: 'key',
  ...selectByKey('host_drift', ['tenant_id', 'drift_id']),
  ...columnsOf<HostDriftRow>({
    tenant: text('tenant_id'),
    id: text('drift_id'),
    kind: text('kind'),
    chainId: text('host_chain_id'),
    drift: json('drift'),
  }),
  writes: { table: 'host_drift', primaryKey: ['tenant_id', 'drift_id'], put: { kind: 'insert_once' } },
  keyValues: ({ tenant, id }) => [tenant, id],
  keyText: driftName,
  idOf: driftName,
  setsOf: (row) => [driftName(row)],
};
