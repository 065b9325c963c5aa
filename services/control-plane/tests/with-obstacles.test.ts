import { describe, expect, it } from '@jest/globals';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { withObstacles } from '../src/approvals/with-obstacles.ts';

const caller = {
  delegation: 'proof',
  workspaceId: 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  userId: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV',
};
const approval = (session_id: string, state: Approval['state'] = 'pending') =>
  ({ session_id, state, requested_by: `of ${session_id}`, approvers: [], approved_by: [] }) as unknown as Approval; // the members that are read

/** A gateway that returns these obstacles and records its requests. */
function gatewayWith(obstacles: readonly (string | null)[]) {
  const requests: unknown[] = [];
  const checkResolver = async ({ body }: { body: unknown }) => {
    requests.push(body);
    return { body: { obstacles } };
  };
  return { asked: requests, gateway: { as: () => ({ checkResolver }) } };
}

async function shownBy({ gateway }: ReturnType<typeof gatewayWith>, approvals: readonly Approval[]) {
  const shown = await withObstacles({ gateway } as never, approvals, caller as never); // all members that are read
  return shown.map(({ may_decide, obstacle }) => [may_decide, obstacle]);
}

describe('the inbox entry of an approval', () => {
  it('has the obstacle of that approval, and none after its decision', async () => {
    const gateway = gatewayWith(['ROLE', null]);
    const approvals = [approval('a', 'approved'), approval('b'), approval('c', 'expired'), approval('d')];
    expect(await shownBy(gateway, approvals)).toEqual([
      [false, null],
      [false, 'ROLE'],
      [false, null],
      [true, null],
    ]);
    const requests = ['b', 'd'].map((sessionId) => ({ requestedBy: `of ${sessionId}`, sessionId }));
    expect(gateway.asked).toEqual([{ workspaceId: caller.workspaceId, requests }]);
  });

  it('offers no vote if the response of the gateway does not cover it', async () => {
    expect(await shownBy(gatewayWith([null]), [approval('a'), approval('b')])).toEqual([
      [true, null],
      [false, 'UNKNOWN_REQUESTER'],
    ]);
  });

  it('causes no request if no approval is pending', async () => {
    const gateway = gatewayWith([]);
    expect(await shownBy(gateway, [approval('a', 'denied')])).toEqual([[false, null]]);
    expect(gateway.asked).toEqual([]);
  });
});
