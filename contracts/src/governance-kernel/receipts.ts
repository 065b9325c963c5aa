import { z } from 'zod';
import { AssertionRole } from '../assertion.ts';
import { page, PageQuery } from '../list.ts';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import { ActionName, Instant, PrincipalId, ReceiptId, SessionId, ToolName, Verdict } from '../scalars.ts';
import { ExportLine } from './export-line.ts';
import { ExportQuery } from './export-query.ts';
import { ReceiptKind, StoredReceipt } from './receipt.ts';

const ReceiptFilter = {
  session_id: SessionId.optional(),
  /** The principal whose calls these are. */
  agent: PrincipalId.optional(),
  verdict: Verdict.optional(),
  reason_code: ReasonCode.optional(),
  tool: ToolName.optional(),
  action: ActionName.optional(),
  kind: ReceiptKind.optional(),
  /** The start of the period, inclusive. */
  from: Instant.optional(),
  /** The end of the period, exclusive. */
  to: Instant.optional(),
};

const TenantQuery = { tenant_id: z.string().optional() };

const ReceiptsQuery = z
  .strictObject({
    ...TenantQuery,
    ...ReceiptFilter,
    /** The position in the chain of the session, from 1. */
    lamport_clock: z.coerce.number().int().min(1).optional(),
    ...PageQuery,
  })
  .superRefine(({ lamport_clock: place, session_id }, context) => {
    const message = 'is a place in a session. Name the session by session_id';
    if (place !== undefined && session_id === undefined)
      context.addIssue({ code: 'custom', path: ['lamport_clock'], message });
  });

export const listReceipts = defineRoute({
  operation: 'list-receipts',
  summary: 'List the receipts of the tenant, newest first.',
  method: 'GET',
  path: '/api/v1/receipts',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  query: ReceiptsQuery,
  reply: page(StoredReceipt),
});

export const getReceipt = defineRoute({
  operation: 'get-receipt',
  summary: 'Get a receipt.',
  method: 'GET',
  path: '/api/v1/receipts/{receipt_id}',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: AssertionRole.options,
  params: z.strictObject({ receipt_id: ReceiptId }),
  query: z.strictObject(TenantQuery),
  reply: StoredReceipt,
  errors: ['NOT_FOUND'],
});

export const tailReceipts = defineRoute({
  operation: 'tail-receipts',
  summary:
    'Stream receipts as server-sent events: `receipt` (id = cursor), `checkpoint`, `error`. To resume, send ' +
    'Last-Event-ID.',
  method: 'GET',
  path: '/api/v1/receipts/tail',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read', answer: 'stream' },
  assertedBy: AssertionRole.options,
  query: z.strictObject({
    ...TenantQuery,
    session_id: SessionId.optional(),
    agent: PrincipalId.optional(),
    since: z.string().max(64).optional(),
  }),
  reply: z.string(),
  media: 'event-stream',
});

export const exportReceipts = defineRoute({
  operation: 'export-receipts',
  summary:
    'Export the receipts of a session or a period for countersign-verify, one per line, with records and ' +
    'inclusion proofs.',
  method: 'GET',
  path: '/api/v1/receipts/export',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read', answer: 'stream' },
  assertedBy: AssertionRole.options,
  query: ExportQuery,
  reply: z.array(ExportLine),
  media: 'json-lines',
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});
