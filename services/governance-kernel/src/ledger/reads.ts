import type { ApprovalId, TenantId } from '@countersign/contracts';
import type { ToolAddress } from '../mcp/tool-definition.ts';
import type { ChainKey } from './statement.ts';

/** The rows that an entry needs to see, under lock, to be concluded. */
export type LedgerReads = {
  /** Fence scopes that could stop the call. */
  fences?: string[];
  /** The tenant whose policy (or `*`) decides. */
  policyOf?: string;
  budgetsOf?: TenantId;
  approval?: { tenant: TenantId; id?: ApprovalId | undefined; intentHash?: string };
  /** A tool of an MCP server that would be judged by its server's state and its pin. */
  tool?: ToolAddress | undefined;
  dispatch?: string;
  idempotency?: { tenant: TenantId; principal: string; route: string; key: string } | undefined;
};

/** One batch's reads, as the arrays of one set-based query. */
export type BatchReads = {
  chains: ChainKey[];
  fences: string[];
  policies: string[];
  budgetTenants: string[];
  approvalIds: string[];
  approvalIntents: string[];
  tools: ToolAddress[];
  dispatches: string[];
  idempotency: NonNullable<LedgerReads['idempotency']>[];
};

export function mergeReads(entries: readonly { chain: ChainKey; reads: LedgerReads }[]): BatchReads {
  const reads = entries.map((entry) => entry.reads);
  const present = <Value>(values: (Value | undefined)[]) => [...new Set(values.filter((value) => value !== undefined))];
  const chains = new Map(entries.map(({ chain }) => [`${chain.tenant}\n${chain.session}`, chain]));
  return {
    chains: [...chains.values()],
    fences: present(reads.flatMap((read) => read.fences ?? [])),
    policies: present([...reads.map((read) => read.policyOf), '*']),
    budgetTenants: present(reads.map((read) => read.budgetsOf)),
    approvalIds: present(reads.map((read) => read.approval?.id)),
    approvalIntents: present(reads.map((read) => read.approval?.intentHash)),
    tools: reads.flatMap((read) => read.tool ?? []),
    dispatches: present(reads.map((read) => read.dispatch)),
    idempotency: reads.flatMap((read) => read.idempotency ?? []),
  };
}
