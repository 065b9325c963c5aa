import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { untilReachable } from '@countersign/testkit/until';
import { mcpClient } from './_added-servers.ts';
import { newSession } from './_caller.ts';
import { approve, receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let patient: Upstreams;
let brief: Upstreams;
beforeAll(async () => {
  patient = await startUpstreams({ GOV_MCP_APPROVAL_WAIT: '60s' });
  brief = await startUpstreams({ GOV_MCP_APPROVAL_WAIT: '200ms' });
});
afterAll(() => Promise.all([patient.close(), brief.close()]));

const pay = { name: 'notes.pay', arguments: { amount: 500 } };

/** An escalated call of a client that cannot open a page. */
async function paying({ test }: Upstreams, revision?: '2025-11-25') {
  const session = newSession();
  const client = await mcpClient(test.kernel, 'acme', { 'x-gov-session-id': session }, revision);
  const result = client.callTool(pay).finally(() => client.close());
  return { session, result };
}

async function pendingOf({ test }: Upstreams, session: string): Promise<string> {
  let id = '';
  await untilReachable(async () => {
    const { body } = await test.as('acme', 'approver').listApprovals({ query: { state: 'pending' } });
    id = body.data.find(({ session_id: of }) => of === session)?.approval_id ?? '';
    return id !== '';
  });
  return id;
}

describe('an escalated call of a client that cannot open a page', () => {
  it.each([undefined, '2025-11-25'] as const)('is executed once when it is approved in time (%s)', async (revision) => {
    const calls = patient.notes.calls.length;
    const { session, result } = await paying(patient, revision);
    await approve(patient.test, await pendingOf(patient, session));
    expect(await result).toMatchObject({ _meta: { 'countersign/outcome': 'completed' } });
    expect(patient.notes.calls).toHaveLength(calls + 1);
    const sealed = await receiptsOf(patient.test, session);
    expect(sealed.filter(({ kind }) => kind === 'decision').map(({ verdict }) => verdict)).toEqual([
      'ESCALATE',
      'ALLOW',
    ]);
  });

  it('is refused as soon as its approval is denied', async () => {
    const { session, result } = await paying(patient);
    const id = await pendingOf(patient, session);
    const approver = patient.test.as('acme', 'approver');
    const { body } = await approver.listApprovals({ query: { state: 'pending' } });
    const approval = body.data.find(({ approval_id: of }) => of === id);
    if (approval === undefined) throw new Error(`${id} is not pending`);
    await approver.transitionApproval({
      params: { approval_id: approval.approval_id, action: 'deny' },
      body: { expected_ceremony_hash: approval.ceremony_hash },
    });
    expect(await result).toMatchObject({ isError: true });
  });

  it('gets the URL of its approval when the approval takes too long, and is not executed', async () => {
    const { session, result } = await paying(brief);
    const { isError, _meta: meta, content } = await result;
    const id = await pendingOf(brief, session);
    expect([isError, meta?.['countersign/approval_id']]).toEqual([true, id]);
    expect(JSON.stringify(content)).toContain(String(meta?.['countersign/approve_url']));
    expect(brief.notes.calls).toEqual([]);
  });
});
