import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { personAt, type Person } from './_signed-in.ts';
import { dataOf, endOf, placeOf, receiptsOf, start, type Members } from './_console-runs.ts';
import { addressBook, kernelClient } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { codeOf } from './_tab.ts';

const address = addressBook();

let system: SharedSystem;
let ada: Person;

beforeAll(async () => {
  system = await sharedSystem();
  writeFileSync(join(system.filesDir, 'notes.md'), 'Answer the customer.\n');
});

let tests = 0;

beforeEach(async () => {
  ada = await personAt(system.gatewayUrl, address(`ada-${++tests}`));
});

/** The text of a task is the script of the scripted model. */
const reading = () => `call:files__read_text_file ${JSON.stringify({ path: join(system.filesDir, 'notes.md') })}`;

async function exportOf(who: Person, runId: unknown) {
  const headers = { authorization: `Bearer ${who.token}`, 'x-workspace-id': who.workspaceId };
  const place = new URL(`/api/v1/receipts/export?session_id=${String(runId)}`, system.gatewayUrl);
  const lines = (await (await fetch(place, { headers })).text()).split('\n').filter((line) => line !== '');
  const trust = parseKeySet((await kernelClient(system, who.workspaceId).listTrustKeys()).body);
  return verifyExport(lines, { trust, provider: nodeProvider, tenant: who.workspaceId, session: String(runId) });
}

describe('a run that is started in the console', () => {
  verifies('cp.run', 'is a run of the gateway, with the same task, id, worker and steps', async () => {
    const started = await start(ada, { title: 'Read', description: reading() });
    expect(started.status).toBe(202);
    expect(started.body).toMatchObject({ status: 'queued', started_by: await idOf(ada), steps: [] });
    const ended = await endOf(ada, started.body['run_id']);
    const runId = String(ended['run_id']);
    const { body: atGateway } = await ada.client.getRun({ params: { runId } });
    const { data } = (await ada.client.listRuns({ params: { id: String(ended['task_id']) } })).body;
    expect(data.map(({ id }) => id)).toEqual([runId]);
    expect(ended).toMatchObject({ status: 'completed', result: atGateway.result, cost_minor: atGateway.costMinor });
    expect(ended['steps']).toMatchObject(
      atGateway.steps.map(({ id, kind, verdict, receiptId, decisionId }) => ({
        ...{ step_id: id, kind, verdict, receipt_id: receiptId, decision_id: decisionId },
      })),
    );
    const again = await start(ada, { task_id: ended['task_id'] });
    expect(again.body).toMatchObject({ task_id: ended['task_id'] });
    await endOf(ada, again.body['run_id']);
    const listed = await ada.tab.send(`${placeOf(ada)}/runs?status=completed`);
    expect(dataOf(listed).map((run) => run['run_id'])).toEqual([again.body['run_id'], runId]);
  });

  verifies(
    'cp.run',
    'has verified kernel receipts under its id, and its export is complete, verifies offline and contains nothing else',
    async () => {
      const { body } = await start(ada, { title: 'Read', description: reading() });
      const ended = await endOf(ada, body['run_id']);
      const steps = ended['steps'] as Members[];
      expect(steps.map(({ kind }) => kind)).toEqual(['model_call', 'tool_call', 'model_call']);
      const report = await exportOf(ada, body['run_id']);
      expect(report).toMatchObject({ verdict: 'VERIFIED', completeness: 'COMPLETE', signer: 'TRUSTED' });
      // The receipts of the export itself are in the same chain, after the run.
      const receipts = (await receiptsOf(ada, body['run_id'])).filter(({ receipt }) => kindOf(receipt) !== 'head');
      expect(receipts.every(({ verified, fault }) => verified === true && fault === null)).toBe(true);
      const payloads = receipts.map(({ receipt }) => (receipt as { payload: Members }).payload);
      const decided = payloads.filter(({ kind }) => kind === 'decision').map((payload) => payload['receipt_id']);
      expect(decided).toEqual(expect.arrayContaining(steps.map((step) => step['receipt_id'])));
      expect(new Set(payloads.map((payload) => payload['session_id']))).toEqual(new Set([body['run_id']]));
      const settled = payloads.filter(({ kind }) => kind === 'outcome').map((p) => p['decision_receipt_id']);
      expect(settled).toEqual(expect.arrayContaining(steps.map((step) => step['receipt_id'])));
    },
  );

  it('is made once per Idempotency-Key together with its task, or neither is made', async () => {
    const headers = { 'idempotency-key': 'once' };
    const body = { title: 'Once', description: 'say hello' };
    const [one, two] = await Promise.all([start(ada, body, headers), start(ada, body, headers)]);
    expect([one.status, two.status, two.body['run_id']]).toEqual([202, 202, one.body['run_id']]);
    expect(codeOf(await start(ada, { title: 'Else' }, headers))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    const { data } = (await ada.client.listTasks()).body;
    expect(data.filter(({ title }) => ['Once', 'Else'].includes(title))).toHaveLength(1);
    for (const wrong of [{}, { title: 'a', task_id: 'b' }, { task_id: 'b', description: 'c' }])
      expect(codeOf(await start(ada, wrong))).toEqual([400, 'INVALID_REQUEST']);
  });

  it("is not found by a stranger, who cannot start another person's task either", async () => {
    const eve = await personAt(system.gatewayUrl, address('eve'));
    const { body } = await start(ada, { title: 'Mine', description: 'say hello' });
    const runId = String(body['run_id']);
    const requests = [
      await eve.tab.send(`${placeOf(ada)}/runs`),
      await eve.tab.send(`${placeOf(ada)}/runs/${runId}`),
      await eve.tab.send(`${placeOf(eve)}/runs/${runId}`),
      await eve.tab.send(`${placeOf(eve)}/runs/${runId}/receipts`),
      await start(eve, { task_id: body['task_id'] }),
    ];
    expect(requests.map(codeOf)).toEqual(requests.map(() => [404, 'NOT_FOUND']));
    expect(dataOf(await eve.tab.send(`${placeOf(eve)}/runs`))).toEqual([]);
    await endOf(ada, runId);
  });
});

async function idOf({ tab }: Person): Promise<unknown> {
  return (await tab.send('/api/session')).body['user_id'];
}

function kindOf(receipt: unknown): unknown {
  return (receipt as { payload: Members }).payload['kind'];
}
