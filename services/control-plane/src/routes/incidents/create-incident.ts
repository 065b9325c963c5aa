import { createIncident } from '@countersign/contracts/control-plane';
import { getReceipt } from '@countersign/contracts/governance-kernel';
import { etag } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleKeyedOnce } from '../../handle-once.ts';
import { incidentView } from '../../incidents/incident-view.ts';
import { reportIncident, type Reported } from '../../incidents/report-incident.ts';
import { answerOf } from '../../siblings/answer-of.ts';
import type { Reader } from '../../store/database.ts';

export const createIncidentRoute = (context: Context) =>
  handleKeyedOnce(context)(createIncident)(async ({ body, caller, requestId }, once) => {
    const { dedup_key: dedupKey = null, ...rest } = body;
    const asPerson = context.kernel.as(caller.assertion, { getReceipt });
    // A receipt of another workspace is not found.
    for (const receipt_id of body.receipts)
      await answerOf('kernel', () => asPerson.getReceipt({ params: { receipt_id } }));
    const { workspaceId, actor: by } = caller;
    const report = { ...rest, dedupKey, workspaceId, by, requestId };
    const show = async ({ incident, isNew }: Reported, reader: Reader) => ({
      status: isNew ? 201 : 200,
      body: await incidentView({ reader, now: context.now }, incident),
      headers: etag(String(incident.version)),
    });
    const reported = await once(show)((tx) => reportIncident(tx, context, report));
    return await show(reported, context.database.reader);
  });
