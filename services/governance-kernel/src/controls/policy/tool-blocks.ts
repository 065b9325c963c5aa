import type { TenantId } from '@countersign/contracts';
import { columnsOf, instantMs, integer, selectByKey, text, texts } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

/** The tools that a workspace blocks, by their canonical names. */
export type ToolBlocksRow = {
  readonly tenant: TenantId;
  readonly version: number;
  readonly tools: readonly string[];
  readonly updatedAtMs: number;
};

export const toolBlocks: Control<TenantId, ToolBlocksRow> = {
  name: 'tool_blocks',
  guard: 'epoch',
  ...selectByKey('tool_blocks', ['tenant_id']),
  ...columnsOf<ToolBlocksRow>({
    tenant: text('tenant_id'),
    version: integer('version'),
    tools: texts('tools'),
    updatedAtMs: instantMs('updated_at'),
  }),
  writes: { table: 'tool_blocks', primaryKey: ['tenant_id'], put: { kind: 'upsert' } },
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};
