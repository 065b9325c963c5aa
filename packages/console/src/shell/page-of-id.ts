import { ApprovalId, IncidentId, PrincipalId, ReceiptId, RunId, TaskId, type Client } from '@countersign/contracts';
import { getRun } from '@countersign/contracts/gateway';
import { listApprovals } from '@countersign/contracts/governance-kernel';

/** Routes that look up an object when its id alone does not give the address of its page. */
export const idRoutes = { getRun, listApprovals };
type IdClient = Client<typeof idRoutes>;

/** The page of an object. `null` when no object here has this id. */
type Place = { to: string; search?: { state: string } } | null;
type IdPage = { says: string; find(client: IdClient): Promise<Place> };

/**
 * The page of the object with an id. `null` when the text is not an id. Agent names have no fixed form, so they are
 * tried last.
 */
export function pageOfId(text: string): IdPage | null {
  const id = text.trim();
  for (const [schema, kind, page] of fixed)
    if (schema.safeParse(id).success)
      return { says: `Open the ${kind} ${id}`, find: () => Promise.resolve({ to: `/${page}/${id}` }) };
  if (RunId.safeParse(id).success) return { says: `Open the run ${id}`, find: (client) => pageOfRun(client, id) };
  const approval = ApprovalId.safeParse(id);
  if (approval.success)
    return { says: `Open the approval ${id}`, find: (client) => pageOfApproval(client, approval.data) };
  if (!PrincipalId.safeParse(id).success) return null;
  const to = `/agents/${encodeURIComponent(id)}`;
  return { says: `Open the agent ${id}`, find: () => Promise.resolve({ to }) };
}

const fixed = [
  [ReceiptId, 'receipt', 'activity'],
  [IncidentId, 'incident', 'incidents'],
  [TaskId, 'task', 'runs'],
] as const;

async function pageOfRun(client: IdClient, id: string): Promise<Place> {
  const { body } = await client.getRun({ params: { runId: id } });
  return { to: `/runs/${body.taskId}` };
}

/** The inbox lists one state at a time, so the address contains the state. */
async function pageOfApproval(client: IdClient, id: ApprovalId): Promise<Place> {
  const { body } = await client.listApprovals({ query: { approval_id: id, omit: 'args' } });
  const [approval] = body.data;
  return approval === undefined ? null : { to: `/inbox/${id}`, search: { state: approval.state } };
}
