import { instantOf, DecisionId, ReceiptId, RunId, StepId, TaskId, WorkspaceId } from '@countersign/contracts';
import { Violation } from '@countersign/contracts/gateway';
import type { ViolationModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';

export type NewViolation = Omit<ViolationModel, 'id' | 'createdAt' | 'source'> & { source: Violation['source'] };

/** Resolves to the id of the violation. */
export async function insertViolation(tx: Tx, violation: NewViolation, now: Date): Promise<string> {
  const { workspaceId, taskId, runId, stepId, source, tool, reasonCode, reason, decisionId, receiptId } = violation;
  const place = { workspaceId, taskId, runId, stepId };
  const refusal = { source, tool, reasonCode, reason, decisionId, receiptId };
  const id = newId('vio');
  await tx.violation.create({ data: { id, ...place, ...refusal, createdAt: now } });
  return id;
}

export async function listViolationsOf(
  reader: Reader,
  workspaceId: string,
  request: PageRequest,
): Promise<Page<Violation>> {
  const rows = await reader.violation.findMany({
    where: { workspaceId, id: olderThan(request) },
    orderBy: { id: 'desc' },
    take: request.limit + 1,
  });
  return pageOf(rows, request, { item: violationOf, key: (row) => row.id });
}

function violationOf(row: ViolationModel): Violation {
  return {
    id: row.id,
    workspaceId: WorkspaceId.parse(row.workspaceId),
    taskId: TaskId.nullable().parse(row.taskId),
    runId: RunId.nullable().parse(row.runId),
    stepId: StepId.nullable().parse(row.stepId),
    source: Violation.shape.source.parse(row.source),
    tool: row.tool,
    reasonCode: row.reasonCode,
    reason: row.reason,
    decisionId: DecisionId.nullable().parse(row.decisionId),
    receiptId: ReceiptId.nullable().parse(row.receiptId),
    createdAt: instantOf(row.createdAt),
  };
}
