import { createIncident } from '@countersign/contracts/control-plane';
import { getReceipt } from '@countersign/contracts/governance-kernel';
import { answer, etag } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { incidentView } from '../incidents/incident-view.ts';
import { reportIncident } from '../incidents/report-incident.ts';
import { answerOf } from '../siblings/answer-of.ts';

export const createIncidentRoute = (context: Context) =>
  handleWorkspace(createIncident)(async ({ body, caller, requestId }) => {
    const { dedup_key: dedupKey = null, ...rest } = body;
    const asPerson = context.kernel.as(caller.assertion, { getReceipt });
    // What is not this workspace's is not found.
    for (const receipt_id of body.receipts)
      await answerOf('kernel', () => asPerson.getReceipt({ params: { receipt_id } }));
    const { workspaceId, userId: by } = caller;
    const report = { ...rest, dedupKey, workspaceId, by, requestId };
    const { incident, isNew } = await context.transaction((tx) => reportIncident(tx, context, report));
    const view = await incidentView(context, incident);
    return answer(isNew ? 201 : 200, view, etag(String(incident.version)));
  });
