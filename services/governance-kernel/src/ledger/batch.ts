import type { ApprovalId, BudgetId, TenantId } from '@countersign/contracts';
import type { CompletedNode, Frontier } from '@countersign/crypto';
import type { OutgoingEvent } from '@countersign/messaging';
import type { RegistryFact } from '@countersign/policy';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import type { BudgetRow } from '../budgets/budget-row.ts';
import type { DispatchRow } from '../boundary/dispatch-row.ts';
import type { ToolAddress } from '../mcp/tool-definition.ts';
import type { PolicyHead } from '../policy/policy-head.ts';
import { appendToLog, sealStatement, type Sealer } from './seal.ts';
import type { ChainHead, ChainKey, SealedEntry, Statement } from './statement.ts';

/** Subtrees below this level are recomputed from the ledger: storing them would cost a row per receipt. */
export const storedLevelMin = 8;

export type IdempotencyRow = {
  tenant: TenantId;
  principal: string;
  route: string;
  key: string;
  fingerprint: string;
  answer: string | null;
};

export type ActivatedPolicy = PolicyHead & { text: string; keyId: string; signature: string };

/** What the registry holds of a tool: its server's state, and its pin if it has one. */
export type ToolRow = ToolAddress & { state: RegistryFact['state']; pinnedHash: string | null };

/** What the locked rows said when the transaction began. */
export type BatchView = {
  log: Frontier;
  heads: Map<string, ChainHead>;
  fences: Map<string, string>;
  policies: Map<string, PolicyHead>;
  budgets: BudgetRow[];
  approvals: ApprovalRow[];
  tools: ToolRow[];
  dispatches: DispatchRow[];
  idempotency: IdempotencyRow[];
};

/**
 * One transaction's working copy. Entries are concluded one after the other against it, so the second call of a batch sees what
 * the first one took. The store then writes what changed, all or nothing.
 */
export class LedgerBatch {
  readonly sealed: SealedEntry[] = [];
  readonly completedNodes: CompletedNode[] = [];
  readonly newApprovals: ApprovalRow[] = [];
  readonly newDispatches: DispatchRow[] = [];
  readonly newAnswers: IdempotencyRow[] = [];
  readonly newPolicies: ActivatedPolicy[] = [];
  readonly newEvents: OutgoingEvent[] = [];
  readonly confirmedPolicies: Pick<PolicyHead, 'tenant' | 'confirmedAtMs'>[] = [];
  readonly changedBudgets = new Set<BudgetRow>();
  readonly changedApprovals = new Set<ApprovalRow>();
  readonly changedDispatches = new Set<DispatchRow>();
  readonly changedHeads = new Map<string, ChainKey & ChainHead>();
  readonly #view: BatchView;
  readonly #sealer: Sealer;
  #log: Frontier;

  constructor(view: BatchView, sealer: Sealer) {
    this.#view = view;
    this.#sealer = sealer;
    this.#log = view.log;
  }

  get log(): Frontier {
    return this.#log;
  }

  get grew(): boolean {
    return this.sealed.length > 0;
  }

  append(statement: Statement): SealedEntry {
    const chain: ChainKey = { tenant: statement.receipt.tenant_id, session: statement.receipt.session_id };
    const name = chainName(chain);
    const head = this.changedHeads.get(name) ?? this.#view.heads.get(name) ?? { lamport: 0, receiptHash: null };
    const entry = sealStatement(this.#sealer, statement, head, this.#log.size);
    const { frontier, completed } = appendToLog(this.#sealer.provider, this.#log, entry.receiptHash);
    this.#log = frontier;
    this.completedNodes.push(...completed.filter((node) => node.level >= storedLevelMin));
    this.changedHeads.set(name, { ...chain, lamport: head.lamport + 1, receiptHash: entry.receiptHash });
    this.sealed.push(entry);
    return entry;
  }

  fence(scope: string): string | null {
    return this.#view.fences.get(scope) ?? null;
  }

  /** The tenant's own bundle, else the one of every tenant (`*`). */
  policy(tenant: TenantId): PolicyHead | null {
    return this.ownPolicy(tenant) ?? this.ownPolicy('*');
  }

  /** As the entries before this one leave it: what is sealed behind an activation is decided under it. */
  ownPolicy(tenant: string): PolicyHead | null {
    const sameTenant = (row: { tenant: string }) => row.tenant === tenant;
    const head = this.newPolicies.findLast(sameTenant) ?? this.#view.policies.get(tenant) ?? null;
    const confirmed = this.confirmedPolicies.findLast(sameTenant);
    return head === null || confirmed === undefined ? head : { ...head, ...confirmed };
  }

  budgets(tenant: TenantId): BudgetRow[] {
    return this.#view.budgets.filter((budget) => budget.tenant === tenant);
  }

  budget(tenant: TenantId, id: BudgetId): BudgetRow | null {
    return this.budgets(tenant).find((budget) => budget.id === id) ?? null;
  }

  approval(tenant: TenantId, id: ApprovalId): ApprovalRow | null {
    return this.#approvals(tenant).find((approval) => approval.id === id) ?? null;
  }

  approvalsFor(tenant: TenantId, intentHash: string): ApprovalRow[] {
    return this.#approvals(tenant).filter((approval) => approval.intentHash === intentHash);
  }

  tool({ serverId, toolName }: ToolAddress): ToolRow | null {
    return this.#view.tools.find((row) => row.serverId === serverId && row.toolName === toolName) ?? null;
  }

  dispatch(ulid: string): DispatchRow | null {
    return this.#view.dispatches.find((dispatch) => dispatch.ulid === ulid) ?? null;
  }

  answer(wanted: Omit<IdempotencyRow, 'fingerprint' | 'answer'>): IdempotencyRow | null {
    const same = (row: IdempotencyRow) =>
      row.tenant === wanted.tenant &&
      row.principal === wanted.principal &&
      row.route === wanted.route &&
      row.key === wanted.key;
    return this.newAnswers.find(same) ?? this.#view.idempotency.find(same) ?? null;
  }

  #approvals(tenant: TenantId): ApprovalRow[] {
    return [...this.newApprovals, ...this.#view.approvals].filter((approval) => approval.tenant === tenant);
  }
}

// No identifier holds a line feed, so the name is unambiguous.
export function chainName({ tenant, session }: { tenant: string; session: string }): string {
  return `${tenant}\n${session}`;
}
