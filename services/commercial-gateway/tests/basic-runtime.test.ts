import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { UserId, WorkspaceId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { Lane, LaneState } from '@countersign/contracts/gateway';
import { until } from '@countersign/testkit/until';
import { findRuntime, writeRequest } from '../src/store/runtimes.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';
import { Peer, refusalOf, type PeerCall } from './_peer.ts';

const userId = UserId.parse(`usr_${'1'.repeat(26)}`);
const orgId = OrgId.parse(`org_${'1'.repeat(26)}`);

/** Fake of a gateway that accepts lanes only with rising versions, like the real one. */
const lanes = new Map<string, Lane>();
const puts: unknown[] = [];
const peer = new Peer();

function answerOfGateway({ method, path, body }: PeerCall) {
  const workspaceId = path.split('/')[3] ?? '';
  const existing = lanes.get(workspaceId) ?? { lane: 'run' as const, version: 0, running: 0, queued: 0 };
  if (method === 'GET') return { status: 200, body: existing };
  const request = body as { version: number; lane: LaneState }; // sent by this service
  puts.push(body);
  if (request.version > existing.version) Object.assign(existing, { version: request.version, lane: request.lane });
  lanes.set(workspaceId, existing);
  return { status: 200, body: existing };
}

let site: CommercialSite;
let owner: CommercialClient;
let workspaceId: WorkspaceId;
let made = 0;

beforeAll(async () => {
  site = await startCommercialSite({ env: { GOV_GATEWAY_URL: await peer.listen() } });
});
beforeEach(async () => {
  peer.answer = answerOfGateway;
  puts.length = 0;
  made += 1;
  workspaceId = WorkspaceId.parse(`wsp_${String(made).padStart(26, '0')}`);
  await site.gateway.context.transaction((tx) =>
    tx.orgWorkspace.create({ data: { workspaceId, orgId, addedAt: new Date() } }),
  );
  owner = await site.asBasic({ sub: userId, workspace_id: workspaceId, role: 'owner' });
});
afterAll(async () => {
  await site?.stop();
  await peer.close();
});

const stateNow = async () => (await owner.getRuntimeStatus()).body.state;
const setRunning = (running: number) => {
  const lane = lanes.get(workspaceId);
  if (lane !== undefined) lane.running = running;
};
const auditOf = async () =>
  (await site.gateway.context.database.reader.auditEntry.findMany({ where: { subject: workspaceId } }))
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ action, actor }) => [action, actor]);

describe('the runtime of a workspace', () => {
  it('is running until it is stopped, stopping while a step runs, and then stopped', async () => {
    const { body: first } = await owner.getRuntimeStatus();
    expect(first).toMatchObject({ state: 'running', changed_by: null, changed_at: null, running_runs: 0 });
    lanes.set(workspaceId, { lane: 'run', version: 0, running: 1, queued: 2 });
    const { status, body } = await owner.stopRuntime();
    expect([status, body]).toMatchObject([202, { state: 'stopping', running_runs: 1, queued_runs: 2 }]);
    setRunning(0);
    expect((await owner.getRuntimeStatus()).body).toMatchObject({ state: 'stopped', changed_by: userId });
    expect((await owner.startRuntime()).body).toMatchObject({ state: 'running' });
    expect(await auditOf()).toEqual([
      ['runtime.stop', userId],
      ['runtime.start', userId],
    ]);
  });

  it('does not change when it is stopped again', async () => {
    await owner.stopRuntime();
    expect((await owner.stopRuntime()).body.state).toBe('stopped');
    expect([lanes.get(workspaceId)?.version, (await auditOf()).length]).toEqual([1, 1]);
  });

  it('is stopping while the gateway is down, and becomes stopped without another request when the gateway is back', async () => {
    peer.answer = () => ({ status: 503, body: {} });
    expect((await owner.stopRuntime()).body).toMatchObject({ state: 'stopping', running_runs: null });
    expect(await stateNow()).toBe('stopping');
    peer.answer = answerOfGateway;
    await until(async () => (await stateNow()) === 'stopped');
    expect(lanes.get(workspaceId)).toMatchObject({ lane: 'hold' });
  });

  it('recovers from a crash between the request and its delivery', async () => {
    const request = { workspaceId, orgId, lane: 'hold', changedBy: userId } as const;
    await site.gateway.context.database.transaction((tx) => writeRequest(tx, request, new Date()));
    await until(async () => (await stateNow()) === 'stopped');
    expect(puts).toEqual([{ lane: 'hold', version: 1, by: userId }]);
  });

  it('recovers from a crash between the delivery and its confirmation', async () => {
    let isFirst = true;
    peer.answer = async (call) => {
      const answer = answerOfGateway(call);
      if (!isFirst) return answer;
      isFirst = false;
      return { status: 500, body: {} };
    };
    expect((await owner.stopRuntime()).body.state).toBe('stopping');
    expect((await owner.stopRuntime()).body.state).toBe('stopped');
    expect([puts.length, lanes.get(workspaceId)?.version]).toEqual([2, 1]);
  });

  it('has failed when the gateway refuses the request, and the next start sends a new request', async () => {
    peer.answer = () =>
      refusalOf(
        404,
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    expect((await owner.stopRuntime()).body).toMatchObject({ state: 'failed', failure: 'NOT_FOUND' });
    peer.answer = answerOfGateway;
    expect((await owner.startRuntime()).body).toMatchObject({ state: 'running', failure: null });
  });

  it('ends in the state of the last of many concurrent starts and stops', async () => {
    const calls = Array.from({ length: 20 }, (_, nth) => (nth % 2 === 0 ? owner.stopRuntime() : owner.startRuntime()));
    await Promise.all(calls);
    const { reader } = site.gateway.context.database;
    await until(async () => {
      const request = await findRuntime(reader, workspaceId);
      return request !== null && request.confirmedVersion === request.version;
    });
    expect(await findRuntime(reader, workspaceId)).toMatchObject({
      lane: lanes.get(workspaceId)?.lane,
      version: lanes.get(workspaceId)?.version,
    });
  });

  it('has its last request delivered even when the database of this service or of the gateway was restored alone', async () => {
    await owner.stopRuntime();
    lanes.delete(workspaceId);
    expect(await stateNow()).toBe('stopping');
    await until(async () => (await stateNow()) === 'stopped');
    lanes.set(workspaceId, { lane: 'hold', version: 40, running: 0, queued: 0 });
    expect((await owner.startRuntime()).body.state).toBe('running');
    expect(lanes.get(workspaceId)).toMatchObject({ lane: 'run', version: 41 });
  });
});
