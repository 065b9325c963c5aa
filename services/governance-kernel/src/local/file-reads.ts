import type { ApprovalId, ReceiptId, SessionId, TenantId } from '@countersign/contracts';
import type { BoundaryRecord, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { ulidOf } from '@countersign/receipts';
import type { ApprovalRow } from '../controls/approvals/approval-row.ts';
import { approvals } from '../controls/approvals/approvals.ts';
import type { StoredBudget } from '../controls/budgets/budget-row.ts';
import { budgetTerms } from '../controls/budgets/budget-terms.ts';
import { evidenceEnvelopes, type EnvelopeRow } from '../controls/evidence/evidence-envelopes.ts';
import type { Control } from '../ledger/control.ts';
import { policyBundles } from '../controls/policy/policy-bundles.ts';
import { policyHeads, type PolicyHead } from '../controls/policy/policy-heads.ts';
import type { StoredPolicies } from '../controls/policy/policies.ts';
import type { RegistryFile } from './registry-file/registry-file.ts';
import { readAll, type LogEntry, type RegistryState } from './registry-file/registry-state.ts';
import { sealedRecord } from '../ledger/sealed-text.ts';

/** The members of a receipt that lists can be filtered by. An absent member matches all receipts. */
export type ReceiptFilter = Readonly<Record<string, unknown>>;
type Page = { limit: number; before: number | null };
type Placed<Item> = { readonly logIndex: number; readonly item: Item };

/** Reads of one tenant from the last committed state. */
export function fileReads(file: RegistryFile) {
  const entries = async (tenant: TenantId) =>
    (await file.read()).log.flatMap((entry, logIndex) =>
      entry.content.tenant_id === tenant ? [{ logIndex, item: entry }] : [],
    );
  const list = async (tenant: TenantId, filter: ReceiptFilter, { limit, before }: Page) =>
    (await entries(tenant))
      .filter(({ logIndex, item }) => logIndex < (before ?? Infinity) && fits(item, filter))
      .toReversed()
      .slice(0, limit);
  return {
    listReceipts: async (tenant: TenantId, filter: ReceiptFilter, page: Page): Promise<StoredReceipt[]> =>
      (await list(tenant, filter, page)).map(receiptOf),
    findReceipt: async (tenant: TenantId, id: ReceiptId): Promise<StoredReceipt | null> => {
      const found = (await entries(tenant)).find(({ item }) => item.ulid === ulidOf(id));
      return found === undefined ? null : receiptOf(found);
    },
    listRecords: async (tenant: TenantId, filter: ReceiptFilter, page: Page): Promise<Placed<BoundaryRecord>[]> =>
      (await list(tenant, { ...filter, hasRecord: true }, page)).flatMap(({ logIndex, item: { record } }) =>
        record === null ? [] : [{ logIndex, item: sealedRecord(record) }],
      ),
    listApprovals: async (tenant: TenantId, filter: ApprovalFilter = {}): Promise<ApprovalRow[]> =>
      rowsIn(await file.read(), approvals)
        .filter((row) => row.tenant === tenant && fitsApproval(row, filter))
        .toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1)),
    listBudgets: async (tenant: TenantId): Promise<StoredBudget[]> =>
      rowsIn(await file.read(), budgetTerms).filter(({ row }) => row.tenant === tenant),
    listEnvelopes: async (tenant: TenantId): Promise<EnvelopeRow[]> =>
      rowsIn(await file.read(), evidenceEnvelopes)
        .filter((row) => row.tenant === tenant)
        .toReversed(),
    loadPolicies: async (tenants: readonly string[]): Promise<StoredPolicies> => policiesIn(await file.read(), tenants),
  };
}

type ApprovalFilter = {
  readonly state?: ApprovalRow['state'] | undefined;
  readonly session?: SessionId | undefined;
  readonly id?: ApprovalId | undefined;
};

export function receiptOf({ logIndex, item }: Placed<LogEntry>): StoredReceipt {
  const { content, signature, key_id, receipt_hash } = item;
  return {
    payload: content,
    signature: { alg: 'Ed25519', key_id, value: signature },
    receipt_hash,
    log_index: logIndex,
  };
}

function fits({ content, record }: LogEntry, { from, to, hasRecord, ...equal }: ReceiptFilter): boolean {
  const { issued_at: at } = content;
  if (hasRecord === true && record === null) return false;
  if (typeof from === 'string' && at < from) return false;
  if (typeof to === 'string' && at >= to) return false;
  return Object.entries(equal).every(([name, value]) => value === undefined || Reflect.get(content, name) === value);
}

function fitsApproval(row: ApprovalRow, { state, session, id }: ApprovalFilter): boolean {
  return [
    [state, row.state],
    [session, row.session],
    [id, row.id],
  ].every(([wanted, value]) => wanted === undefined || wanted === value);
}

function policiesIn(state: RegistryState, tenants: readonly string[]): StoredPolicies {
  const heads = rowsIn(state, policyHeads).filter(({ tenant }) => tenants.includes(tenant));
  const bundles = rowsIn(state, policyBundles);
  const active = heads.flatMap((head) => {
    const named = bundles.find(({ tenant, epoch }) => tenant === head.tenant && epoch === head.epoch);
    return named === undefined ? [] : [{ head, bundle: named.bundle }];
  });
  const activated = tenants.flatMap((owner): PolicyHead[] => {
    const own = bundles.filter(({ tenant }) => tenant === owner);
    const last = own.toSorted((a, b) => a.epoch - b.epoch).at(-1);
    if (last === undefined) return [];
    const { bundle: _, activatedAtMs: confirmedAtMs, ...signed } = last;
    return [{ ...signed, confirmedAtMs }];
  });
  return { active, activated };
}

function rowsIn<Key, Row>(state: RegistryState, control: Control<Key, Row>): Row[] {
  return readAll(control, state) as Row[]; // the rows of this control
}
