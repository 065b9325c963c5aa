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

/** A gateway that answers with these obstacles, and what it was asked. */
function gatewayWith(obstacles: readonly (string | null)[]) {
  const asked: unknown[] = [];
  const checkResolver = async ({ body }: { body: unknown }) => {
    asked.push(body);
    return { body: { obstacles } };
  };
  return { asked, gateway: { as: () => ({ checkResolver }) } };
}

async function shownBy({ gateway }: ReturnType<typeof gatewayWith>, approvals: readonly Approval[]) {
  const shown = await withObstacles({ gateway } as never, approvals, caller as never); // all of both that is read
  return shown.map(({ may_decide, obstacle }) => [may_decide, obstacle]);
}

describe('what an inbox states of each approval', () => {
  it('is the obstacle of that approval, and none of one that was decided', async () => {
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

  it('offers no vote on an approval that the gateway left out of its answer', async () => {
    expect(await shownBy(gatewayWith([null]), [approval('a'), approval('b')])).toEqual([
      [true, null],
      [false, 'UNKNOWN_REQUESTER'],
    ]);
  });

  it('asks nothing where no approval is pending', async () => {
    const gateway = gatewayWith([]);
    expect(await shownBy(gateway, [approval('a', 'denied')])).toEqual([[false, null]]);
    expect(gateway.asked).toEqual([]);
  });
});
